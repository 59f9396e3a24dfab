package aggregate

import (
	"fmt"

	"github.com/org/pr-review-action/internal/finding"
)

// capInline leaves the gravest findings at their lines, as many as a review may
// have comments, and moves the others to the body, every nit among them.
func capInline(all []finding.Finding, most int) {
	inline := 0
	for i, f := range all {
		switch {
		case f.Filtered != "" || f.Placement != finding.Inline:
		case f.Severity == finding.Nit:
			all[i] = inBody(f, "a nit")
		case inline >= most:
			all[i] = inBody(f, beyond(most))
		default:
			inline++
		}
	}
}

func beyond(most int) string {
	switch most {
	case 0:
		return "beyond the settings, which allow no comments at lines"
	case 1:
		return "beyond the one comment of a review"
	}
	return fmt.Sprintf("beyond the %d comments of a review", most)
}
