package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/pattern"
)

// maxLine is the limit in bytes of one line of text in a prompt. A longer one, data or generated,
// loses its middle.
const maxLine = 2_000

// Number returns a patch with the line numbers of both sides before each line, so that a model can
// cite them. A patch that does not parse is returned unchanged. Carriage returns that end
// lines are omitted, and so is the middle of lines of more than 2,000 bytes, with a count.
func Number(patch string) string {
	hunks, err := diff.Hunks(patch)
	if err != nil {
		return patch
	}
	return NumberHunks(hunks)
}

// imports matches sections that name no function. Git writes them for a hunk above the first one.
var imports = pattern.Lazy(`^(package|import|from|use|using|require|#\s*include)\b`)

// NumberHunks formats hunks as Number does.
func NumberHunks(hunks []diff.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		if imports().MatchString(h.Section) {
			h.Section = ""
		}
		b.WriteString(strings.TrimRight("@@ "+shorten(h.Section), " \r") + "\n")
		for _, l := range h.Lines {
			fmt.Fprintf(&b, "%6s %6s %c %s\n", number(l.Old), number(l.New), l.Op,
				shorten(strings.TrimSuffix(l.Text, "\r")))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// shorten removes the middle of a long line without splitting characters.
func shorten(line string) string {
	const half = maxLine/2 - 50 // room for the count
	if len(line) <= maxLine {
		return line
	}
	head, tail := half, len(line)-half
	for range utf8.UTFMax {
		if !utf8.RuneStart(line[head]) {
			head--
		}
		if !utf8.RuneStart(line[tail]) {
			tail++
		}
	}
	return fmt.Sprintf("%s<… %d bytes left out …>%s", line[:head], tail-head, line[tail:])
}

// Parts splits a patch between hunks into patches whose numbered text has at most max bytes. A
// larger hunk is a part by itself. Joined, the parts are the patch; one that does not parse is
// one part.
func Parts(patch string, max int) []string {
	if _, err := diff.Hunks(patch); err != nil || patch == "" {
		return []string{patch}
	}
	var parts []string
	begin, end, size := 0, 0, 0
	hunks := strings.Split(patch, "\n@@ -") // in a patch that parses, this always begins a header
	for i, hunk := range hunks {
		if i > 0 {
			hunk = "@@ -" + hunk
		}
		if i < len(hunks)-1 {
			hunk += "\n"
		}
		n := len(Number(hunk)) + 1
		if end > begin && size+n-1 > max { // the last line feed is not written
			parts = append(parts, patch[begin:end])
			begin, size = end, 0
		}
		end, size = end+len(hunk), size+n
	}
	return append(parts, patch[begin:])
}

// Piece is a range of whole lines of the new tree that the diff does not show, in the changed file
// or another.
type Piece struct {
	Path      string
	StartLine int    // 1-based
	Why       string // its relation to the change: encloses, calls, defines, tests, similar, cited
	Changed   bool   // it is of another file that changes too
	Text      string
}

// EndLine returns the number of the last line.
func (p Piece) EndLine() int {
	return p.StartLine + strings.Count(strings.TrimSuffix(p.Text, "\n"), "\n")
}

// reasons describe a piece's relation to the change.
var reasons = map[string]string{
	"encloses": "the change stands in it", "calls": "it uses what is changed",
	"defines": "it defines what the change uses", "tests": "a test that touches what is changed",
	"similar": "it mentions what is changed, or is similar", "cited": "a finding names it",
}

func pack(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		lines := strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
		fmt.Fprintf(&b, "@@ %s lines %d-%d: %s\n", shorten(strings.ReplaceAll(p.Path, "\n", "?")), p.StartLine,
			p.EndLine(), reasons[p.Why]+map[bool]string{true: "; this file changes too"}[p.Changed])
		for i, line := range lines {
			fmt.Fprintf(&b, "%6d   %s\n", p.StartLine+i, shorten(strings.TrimSuffix(line, "\r")))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
