package prompt

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/lang"
)

// maxGuidance is the limit in bytes for each of guidelines, instructions and pages in a turn. They
// are part of every file's request.
const maxGuidance = 8 << 10

// guidanceBlocks returns what repository, configuration and wiki say about the code.
func guidanceBlocks(b guard.Boundary, in Input) []string {
	rules := make([]Document, len(in.Guidelines))
	for i, text := range in.Guidelines {
		rules[i].Text = text
	}
	told := slices.Clone(in.Instructions)
	for i, d := range told {
		if strings.HasPrefix(strings.ToUpper(path.Base(d.Path)), "CONTRIBUTING") {
			told[i].Text = aboutCode(d.Text)
		}
	}
	return slices.Concat(wrapDocuments(b, "guidelines", maxGuidance, rules...),
		wrapDocuments(b, "instructions", maxGuidance, told...), wrapDocuments(b, "pages", maxGuidance, in.Pages...))
}

// wrapDocuments returns what fits of some documents as one block, or none if they are empty.
func wrapDocuments(b guard.Boundary, name string, most int, docs ...Document) []string {
	if shown := joinDocuments(docs, most); shown != "" {
		return []string{b.Wrap(name, shown)}
	}
	return nil
}

// joinDocuments joins documents up to max bytes of text, cut at a line, and adds the number of omitted
// lines.
func joinDocuments(docs []Document, max int) string {
	var out strings.Builder
	left := 0
	for _, d := range docs {
		lines := strings.Split(strings.TrimRight(d.Text, "\r\n"), "\n")
		if strings.TrimSpace(d.Text) == "" {
			continue
		}
		head := shorten(d.Path)
		if head != "" {
			head += ":\n"
		}
		for i, line := range lines {
			line = head + shorten(line) + "\n"
			if left > 0 || out.Len()+len(line) > max {
				left += len(lines) - i
				break
			}
			out.WriteString(line)
			head = ""
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "… %d more lines are not shown\n", left)
	}
	return out.String()
}

// languageNotes returns constant advice for a test, or for the language of a file or one that it resembles, after an
// empty line; "" for other files.
func languageNotes(name string) string {
	l := lang.Of(name)
	names := []string{l.Name, l.Like}
	if lang.IsTest(name) && l.Kind == lang.Code && l.Name != "" {
		names = []string{"test"}
	}
	for _, name := range names {
		if note, err := fs.ReadFile(files, "text/notes/"+name+".md"); err == nil {
			return "\n" + string(note)
		}
	}
	return ""
}
