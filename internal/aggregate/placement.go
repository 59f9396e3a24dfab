package aggregate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/suggest"
)

// capInline keeps the gravest findings at their lines, as many as a review may have comments, and moves the others,
// and every nit, to the body. Linters' findings get the remaining room.
func capInline(all []*entry, most int) {
	inline := 0
	for _, linters := range []bool{false, true} {
		for _, f := range all {
			switch {
			case f.Filtered != "" || f.Placement != finding.Inline || linters != (f.Source == finding.Linter):
			case f.Severity == finding.Nit:
				f.toBody("a nit")
			case inline >= most:
				f.toBody(beyondNote(most))
			default:
				inline++
			}
		}
	}
}

func beyondNote(most int) string {
	switch most {
	case 0:
		return "beyond the settings, which allow no comments at lines"
	case 1:
		return "beyond the one comment of a review"
	}
	return fmt.Sprintf("beyond the %d comments of a review", most)
}

// placeFindings checks the anchors of one file's findings against its diff (P7). GitHub accepts no comment on a file
// whose diff it omits, even if we created one.
func placeFindings(file diff.File, findings ...finding.Finding) []*entry {
	anchors, err := file.Anchors()
	suggestions := suggest.New(file.Path, anchors, nil)
	out := make([]*entry, len(findings))
	for i, f := range findings {
		f.StartLine = cmp.Or(f.StartLine, f.Line)
		f.Placement = finding.Inline
		shown := anchors.Admit(string(f.Side), f.StartLine, f.Line)
		if shown && f.Quote == "" {
			f.Quote, _ = anchors.Text(string(f.Side), f.Line)
		}
		out[i] = &entry{Finding: suggestions.Check(f)}
		switch {
		case err != nil:
			out[i].toBody("its file has no lines to comment on")
		case !shown:
			out[i].toBody(offDiffNote(f))
		case file.Blob != "":
			out[i].toBody("GitHub shows no diff of its file")
		}
		if !f.IsHiddenText() || f.Fingerprint == "" {
			out[i].Fingerprint = finding.Fingerprint(out[i].Finding)
		}
	}
	return out
}

// toBody moves a finding to the body and puts the reason before its note. A filter's note is left as it is.
func (f *entry) toBody(why string) {
	f.Placement = finding.Body
	if f.Filtered == "" {
		f.Note = strings.TrimSuffix(why+"; "+f.Note, "; ")
	}
}

func offDiffNote(f finding.Finding) string {
	if f.StartLine != f.Line {
		return fmt.Sprintf("lines %d to %d are not part of the diff", f.StartLine, f.Line)
	}
	return fmt.Sprintf("line %d is not part of the diff", f.Line)
}
