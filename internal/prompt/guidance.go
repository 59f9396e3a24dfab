package prompt

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
)

// maxGuidance bounds the bytes of the guidelines, and of the instructions, that a
// turn shows. They stand in every file's request.
const maxGuidance = 8 << 10

// guidance holds what the repository and its configuration say about the code.
func guidance(b guard.Boundary, in Input) []string {
	var blocks []string
	rules := make([]Document, len(in.Guidelines))
	for i, text := range in.Guidelines {
		rules[i].Text = text
	}
	for _, kind := range []struct {
		label string
		docs  []Document
	}{{"guidelines", rules}, {"instructions", in.Instructions}} {
		if shown := within(kind.docs, maxGuidance); shown != "" {
			blocks = append(blocks, b.Wrap(kind.label, shown))
		}
	}
	return blocks
}

// within joins documents up to max bytes of their text, cut at a line, with a
// count of the lines that are left out.
func within(docs []Document, max int) string {
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

// notes is what to look for in the language of a file, in our own constant
// words, with an empty line before; "" for files of another kind.
func notes(name string) string {
	ext := strings.ToLower(path.Ext(name))
	base := strings.ToLower(path.Base(name))
	switch {
	case strings.HasPrefix(base, "dockerfile") || strings.HasPrefix(base, "containerfile"):
		ext = ".dockerfile"
	case base == "rakefile" || base == "gemfile":
		ext = ".rb"
	}
	if file := noteOf(ext); file != "" {
		return "\n" + text("notes/"+file+".md")
	}
	return ""
}

func noteOf(ext string) string {
	switch ext {
	case ".go":
		return "go"
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte":
		return "javascript"
	case ".py", ".pyi":
		return "python"
	case ".java":
		return "java"
	case ".kt", ".kts":
		return "kotlin"
	case ".rs":
		return "rust"
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx":
		return "c"
	case ".cs":
		return "csharp"
	case ".rb", ".rake":
		return "ruby"
	case ".php":
		return "php"
	case ".sh", ".bash", ".zsh", ".ksh":
		return "shell"
	case ".sql":
		return "sql"
	case ".tf", ".hcl", ".tofu":
		return "terraform"
	case ".dockerfile":
		return "dockerfile"
	case ".yml", ".yaml":
		return "yaml"
	}
	return ""
}
