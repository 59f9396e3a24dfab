package aggregate

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Placed returns earlier findings with the present place of each posted one that stands and has no line any more:
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
