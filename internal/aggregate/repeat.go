package aggregate

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// maxListed is how many further lines a finding lists. Those of a credential are all listed.
const maxListed = 50

// markRepeats merges equal findings of a rule in one file into the first, which lists the lines of the others. Those
// stay, marked, so that a later draft knows each place. Recognised findings are left out.
func markRepeats(all []*entry) {
	type key struct {
		path, category, title string
		side                  finding.Side
		severity              finding.Severity
	}
	first, others := map[key]*entry{}, map[*entry][]string{}
	for _, f := range all {
		if f.Source != finding.Rule || f.Filtered != "" || f.Path == "" {
			continue
		}
		same := key{f.Path, f.Category, f.Title, f.Side, f.Severity}
		if f.filteredBy = first[same]; f.filteredBy == nil {
			first[same] = f
			continue
		}
		others[f.filteredBy] = append(others[f.filteredBy], fmt.Sprint(f.Line))
		f.Filtered, f.Note = finding.Repeat, fmt.Sprintf("listed by the finding at line %d", f.filteredBy.Line)
	}
	for f, lines := range others {
		noun, more := "line", ""
		if len(lines) > 1 {
			noun = "lines"
		}
		if n := len(lines) - maxListed; n > 0 && f.Category != finding.Secret {
			lines, more = lines[:maxListed], fmt.Sprintf(" and %d more", n)
		}
		f.Body += fmt.Sprintf(" The same on %s %s%s.", noun, strings.Join(lines, ", "), more)
	}
}
