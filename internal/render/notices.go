package render

import (
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

const flagRunes = 120 // of a flag's quote

// Warnings returns the lines of the banner: the notices, and a line for each flag.
func (r Review) Warnings() []string {
	all := slices.Clone(r.Notices)
	for _, f := range r.Flags {
		where := "The pull request"
		if f.Path != "" {
			where = fmt.Sprintf("%s line %d", guard.Code(f.Path), f.Line)
		}
		switch text := guard.Line(f.Text, flagRunes); f.Kind {
		case finding.SuppressionFlag:
			all = append(all, where+" "+guard.Inline(text, flagRunes))
		case finding.HiddenFlag:
			all = append(all, where+" hides something: "+guard.Code(text))
		default:
			all = append(all, where+" addresses the reviewer: "+guard.Code(text))
		}
	}
	return all
}
