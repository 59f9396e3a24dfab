package aggregate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/suggest"
)

// capInline keeps the most severe findings at their lines, as many as a review may have comments, and moves the others,
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
		case !shown && f.StartLine != f.Line:
			out[i].toBody(fmt.Sprintf("lines %d to %d are not part of the diff", f.StartLine, f.Line))
		case !shown:
			out[i].toBody(fmt.Sprintf("line %d is not part of the diff", f.Line))
		case file.Blob != "":
			out[i].toBody("GitHub shows no diff of its file")
		}
		if !f.IsHiddenText() || f.Fingerprint == "" {
			out[i].Fingerprint = finding.Fingerprint(out[i].Finding)
		}
	}
	return out
}

// toBody moves a finding to the body and puts the reason before its note. A filter's note is left unchanged.
func (f *entry) toBody(why string) {
	f.Placement = finding.Body
	if f.Filtered == "" {
		f.Note = strings.TrimSuffix(why+"; "+f.Note, "; ")
	}
}

// Placed returns earlier findings with the present place of each posted one that is open and no longer has a line:
// where it was found again, or the only line of the diff that reads as its line did. The others are as they were.
func Placed(earlier []finding.Earlier, found []finding.Finding, files []diff.File) []finding.Earlier {
	all := slices.Clone(earlier)
	for i := range all {
		e := &all[i]
		if e.Fate != finding.WasPosted || e.Now == finding.Resolved || e.Line > 0 {
			continue
		}
		again := slices.IndexFunc(found, func(f finding.Finding) bool {
			return e.ID != "" && f.ID == e.ID && f.Filtered == finding.AlreadyPosted && f.Placement == finding.Inline
		})
		if again >= 0 {
			f := found[again]
			e.Path, e.Side, e.StartLine, e.Line, e.Title = f.Path, f.Side, f.StartLine, f.Line, cmp.Or(e.Title, f.Title)
		} else if path, line := onlyLine(files, *e); line > 0 {
			e.Path, e.StartLine, e.Line = path, line, line
		}
	}
	return all
}

// onlyLine returns where the line of an earlier finding is: in its file or, if it has left that, in one that the
// change adds or renames. The line is 0 if the diff shows no such line, or several.
func onlyLine(files []diff.File, e finding.Earlier) (path string, line int) {
	quote := foldLine(e.Quote)
	if !distinctive(quote) {
		return "", 0
	}
	for _, own := range []bool{true, false} {
		seen := 0
		for _, f := range files {
			if own != (f.Path == e.Path) || !own && (e.Side != finding.Right || f.Status != diff.Added &&
				f.Status != diff.Renamed) {
				continue
			}
			hunks, _ := f.Read().Hunks() // a patch that does not parse shows no lines
			for _, h := range hunks {
				for _, l := range h.Lines {
					at := l.New
					if e.Side == finding.Left {
						at = l.Old
					}
					if on(l, e.Side) && foldLine(l.Text) == quote {
						path, line, seen = f.Path, at, seen+1
					}
				}
			}
		}
		if seen == 1 {
			return path, line
		}
		if seen > 1 {
			break
		}
	}
	return "", 0
}

// on reports whether a line of a diff is on the side on which a finding is: on the left only deleted ones are.
func on(l diff.Line, side finding.Side) bool {
	return side == finding.Right && l.Op != diff.Delete || side == finding.Left && l.Op == diff.Delete
}
