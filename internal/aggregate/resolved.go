package aggregate

import (
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// gone reports whether a finding that was not found again is resolved: its file
// was read in full and its line is no longer on its side of the diff, or the file
// is no longer in the change. What cannot be told is not resolved: a finding
// without a place, a line too short to know it by, a line that moved to a file that
// the change makes.
func (r *recognition) gone(e *before) bool {
	quote := e.claim.quote
	file, here := r.files[e.Path]
	switch {
	case e.Path == "" || e.Line > 0 || strings.Contains(e.Quote, "<redacted "):
		// what was taken out is another text elsewhere
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
