package aggregate

import (
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// gone reports whether a finding that was not found again is resolved: its file
// was read in full and its line is no longer on its side of the diff, or the file
// is no longer in the change. What cannot be told is not resolved: a finding
// without a place, a line too short to know it by, a line that moved to a file that
// the change makes.
func (r *recognition) gone(e finding.Earlier) bool {
	quote := folded(e.Quote)
	file, here := r.files[e.Path]
	switch {
	case e.Path == "" || e.Line > 0 || strings.Contains(e.Quote, "<redacted "): // what was taken out is another text elsewhere
		return false
	case !here || file.Status == diff.Removed && e.Side == finding.Right:
		return !r.elsewhere(quote)
	case !telling(quote) || !r.read[e.Path] && file.Status != diff.Removed || file.Patch == "":
		return false
	}
	lines := r.linesOf(e.Path, e.Side)
	return lines != nil && lines[quote] == 0 && !r.elsewhere(quote)
}

// elsewhere reports whether a line may stand in a file that the change adds or
// renames.
func (r *recognition) elsewhere(quote string) bool {
	for path, f := range r.files {
		if f.Status != diff.Added && f.Status != diff.Renamed {
			continue
		}
		lines := r.linesOf(path, finding.Right)
		if !telling(quote) || lines == nil || lines[quote] > 0 || f.Patch == "" && f.Changes() > 0 {
			return true
		}
	}
	return false
}

// linesOf counts the lines of one side of a file's diff by their text; nil where
// the patch cannot be read.
func (r *recognition) linesOf(path string, side finding.Side) map[string]int {
	at := place{path, side}
	if lines, made := r.lines[at]; made {
		return lines
	}
	lines := map[string]int{}
	hunks, err := r.files[path].Hunks()
	if err != nil {
		lines = nil
	}
	for _, h := range hunks {
		for _, l := range h.Lines {
			if side == finding.Right && l.Op != diff.Delete || side == finding.Left && l.Op == diff.Delete {
				lines[folded(l.Text)]++
			}
		}
	}
	r.lines[at] = lines
	return lines
}

// maxAbout is how many lines of a finding's range are looked at.
const maxAbout = 20

// about are the lines that a finding is about: the one it quotes, and those it
// stands on.
func (r *recognition) about(f int) []string {
	found := r.all[f]
	anchors, _ := r.files[found.Path].Anchors() // a patch that cannot be read shows no lines
	all := []string{r.claims[f].quote}
	for line := found.Line; line >= found.StartLine && line > found.Line-maxAbout; line-- {
		if text, ok := anchors.Text(string(found.Side), line); ok {
			all = append(all, folded(text))
		}
	}
	return all
}

// maxQuote is how many characters of a line it is known by; package recall keeps
// as many.
const maxQuote = 300

// folded is a line of code as two versions of it are compared.
func folded(line string) string {
	line = guard.Visible(line)
	if r := []rune(line); len(r) > maxQuote {
		line = string(r[:maxQuote])
	}
	return strings.Join(strings.Fields(line), " ")
}

// telling reports whether a line can be told from others: a brace or a bare
// return stands everywhere.
func telling(quote string) bool {
	n := 0
	for _, c := range quote {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n >= minTelling
}

const minTelling = 8
