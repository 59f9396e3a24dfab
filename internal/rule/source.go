package rule

import (
	"sort"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/lang"
)

// language is a file's language as far as rules distinguish languages.
type language = string

const (
	golang      language = "go"
	typescript  language = "typescript" // and JavaScript
	python      language = "python"
	java        language = "java"
	shell       language = "shell" // and Dockerfiles
	anyLanguage language = "any"   // for rules that read every file
)

// languages maps package lang's names to the languages that rules read.
var languages = map[string]language{
	"go": golang, "python": python, "java": java, "typescript": typescript, "javascript": typescript,
	"shell": shell, "dockerfile": shell,
}

func languageOf(name string) language { return languages[lang.Of(name).Name] }

// maxLine is the length in bytes beyond which a line counts as data.
const maxLine = 2000

// Overlong reports whether a patch adds a line that no rule reads.
func Overlong(patch string) bool {
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "+") && len(strings.TrimRight(line, "\r\n")) > maxLine+1 {
			return true
		}
	}
	return false
}

// reach is the number of lines that a rule may look at around its line, so that the time for a hunk
// is linear in its length.
const reach = 60

// line is one line of the new file. code is as long as text; in it comments are blank and
// the contents of strings are filled with a byte that no rule matches.
type line struct {
	number     int
	added      bool
	text, code string
	start      int // offset in the hunk's text
}

// hunk is one hunk as rules see it.
type hunk struct {
	path       string
	language   language
	test       bool   // the file is for tests; see ForTests
	lines      []line // of the new file
	text, code string // the lines, joined
	literals   []literal
	removed    []string // lines only in the old file
	parsed     diff.Hunk
}

// testOrSample matches paths of files made for trying or showing: tests, their expected output, samples.
var testOrSample = lazy(`(?i:(?:^|/)(?:[\w-]+[-_])?(?:tests?|testing|test[-_]?(?:data|cases?|suites?)|fixtures?` +
	`|specs?|__snapshots__|goldens?|expected|examples?|samples?|demos?)/|\.(?:golden|snap)$)` +
	`|(?:^|[/_.-])(?:(?i:dummy|seeds?|seeders?|fakes?|demos?|mocks?|stubs?|stories|fixtures?)|tests?)(?:[/_.A-Z-]|$)` +
	`|[a-z](?:Dummy|Seed|Seeder|Fake|Demo|Mock|Stub)s?(?:[/_.A-Z-]|$)`)

// ForTests reports whether a path is of tests, their expected output, or samples. Rules
// find little there: mistakes in such files are mostly intended.
func ForTests(name string) bool {
	return lang.IsTest(name) || testOrSample().MatchString(name) && !strings.Contains("/"+name, "/src/main/")
}

// newHunks returns the hunks of a changed file, or nil for a broken patch.
func newHunks(f diff.File) []*hunk {
	parsed, _ := f.Hunks() // none of a broken patch
	hunks := make([]*hunk, len(parsed))
	for i, p := range parsed {
		h := hunk{path: f.Path, language: languageOf(f.Path), test: ForTests(f.Path), parsed: p}
		hunks[i] = h.side(diff.Delete)
	}
	return hunks
}

// oldSides returns the hunks with their old lines in place of the new ones.
func oldSides(hunks []*hunk) []*hunk {
	old := make([]*hunk, len(hunks))
	for i, h := range hunks {
		old[i] = h.side(diff.Add)
		old[i].removed = nil
	}
	return old
}

// side returns the hunk with the lines of one side, leaving out those of an operation.
func (h *hunk) side(without diff.Op) *hunk {
	side := &hunk{path: h.path, language: h.language, test: h.test, parsed: h.parsed}
	var text strings.Builder
	side.lines = make([]line, 0, len(side.parsed.Lines))
	for _, l := range side.parsed.Lines {
		content := strings.TrimSuffix(l.Text, "\r")
		if len(content) > maxLine {
			content = ""
		}
		if l.Op == without {
			side.removed = append(side.removed, content)
			continue
		}
		at := line{number: l.New, added: l.Op != diff.Context, text: content, start: text.Len()}
		side.lines = append(side.lines, at)
		text.WriteString(content + "\n")
	}
	side.text = text.String()
	side.code, side.literals = mask(side.text, side.language)
	for i, l := range side.lines {
		side.lines[i].code = side.code[l.start : l.start+len(l.text)]
	}
	return side
}

// nextCode returns the first line after i that has code, or where it stopped if there is none within reach.
func (h *hunk) nextCode(i int) int {
	end := min(len(h.lines), i+reach)
	for i++; i < end && h.codeAt(i) == ""; i++ {
	}
	return i
}

// codeAbove returns the trimmed code of the nearest line above i that has any.
func (h *hunk) codeAbove(i int) string {
	for j := i - 1; j >= max(0, i-reach); j-- {
		if code := h.codeAt(j); code != "" {
			return code
		}
	}
	return ""
}

// codeAt returns the trimmed code of line i, or "" if there is no such line.
func (h *hunk) codeAt(i int) string {
	if i < 0 || i >= len(h.lines) {
		return ""
	}
	return strings.TrimSpace(h.lines[i].code)
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

var assignment = lazy(`([A-Za-z_]\w*)\s*(?::\s*[\w<>\[\]|. ]+)?:?=\s*([^=\s].*)$`)

// assignedValue returns the text that the nearest line above i assigns to a name, or "".
func (h *hunk) assignedValue(name string, i int) string {
	for j := i - 1; j >= max(0, i-reach); j-- {
		l := h.lines[j]
		if !strings.Contains(l.code, name) || !strings.Contains(l.code, "=") {
			continue
		}
		if m := assignment().FindStringSubmatchIndex(l.code); m != nil && l.code[m[2]:m[3]] == name {
			return l.text[m[4]:m[5]]
		}
	}
	return ""
}

// lineAt returns the index of the line at an offset of the hunk's text.
func (h *hunk) lineAt(offset int) int {
	return sort.Search(len(h.lines), func(i int) bool { return h.lines[i].start > offset }) - 1
}
