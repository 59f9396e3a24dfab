package aggregate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/suggest"
)

// capInline leaves the gravest findings at their lines, as many as a review may
// have comments, and moves the others to the body, every nit among them. Linters' have
// the room that is left.
func capInline(all []finding.Finding, most int) {
	inline := 0
	for _, linters := range []bool{false, true} {
		for i, f := range all {
			switch {
			case f.Filtered != "" || f.Placement != finding.Inline || linters != (f.Source == finding.Linter):
			case f.Severity == finding.Nit:
				all[i] = inBody(f, "a nit")
			case inline >= most:
				all[i] = inBody(f, beyond(most))
			default:
				inline++
			}
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

// placed checks the anchors of one file's findings against its diff (P7). GitHub
// takes no comment on a file whose diff it leaves out, though we have made one.
func placed(findings []finding.Finding, file diff.File) []finding.Finding {
	anchors, err := file.Anchors()
	suggestions := suggest.New(file.Path, anchors, nil)
	out := make([]finding.Finding, 0, len(findings))
	for _, f := range findings {
		f.StartLine = cmp.Or(f.StartLine, f.Line)
		f.Placement = finding.Inline
		off := anchors.Check(string(f.Side), f.StartLine, f.Line)
		if off == nil && f.Quote == "" {
			f.Quote, _ = anchors.Text(string(f.Side), f.Line)
		}
		switch {
		case err != nil:
			f = inBody(f, "its file has no lines to comment on")
		case off != nil:
			f = inBody(f, offDiff(f, off))
		case file.Blob != "":
			f = inBody(f, "GitHub shows no diff of its file")
		}
		f = suggestions.Check(f)
		f.Fingerprint = finding.Fingerprint(f)
		out = append(out, f)
	}
	return out
}

// inBody moves a finding to the body and says why, in front of what else is to be
// said of it. What a filter says goes before both.
func inBody(f finding.Finding, why string) finding.Finding {
	f.Placement = finding.Body
	if f.Filtered == "" {
		f.Note = strings.TrimSuffix(why+"; "+f.Note, "; ")
	}
	return f
}

func offDiff(f finding.Finding, err error) string {
	if errors.Is(err, diff.ErrNotInDiff) && f.StartLine != f.Line {
		return fmt.Sprintf("lines %d to %d are not part of the diff", f.StartLine, f.Line)
	}
	return fmt.Sprintf("line %d is not part of the diff", f.Line)
}
