package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/finding"
)

// maxListed is the number of further lines that a finding lists. Those of a credential are all listed.
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

// markTwins merges findings of a model on two files that are about one cause: one names the place of the other, and
// either both say the same or the other names its file. The one whose place is named is kept and lists the other.
func markTwins(all []*entry) {
	for _, f := range slices.Backward(all) {
		i := slices.IndexFunc(all, func(other *entry) bool {
			return f.Source == finding.Model && other.Source == finding.Model && f.Filtered+other.Filtered == "" &&
				f.Path != other.Path && strings.Contains(f.Body, other.Path) && f.names(other) &&
				(strings.Contains(other.Body, f.Path) ||
					sameClaim(wordingOf(f.Title, f.Quote), wordingOf(other.Title, other.Quote)))
		})
		if i < 0 {
			continue
		}
		kept := all[i]
		if f.Severity.Rank() > kept.Severity.Rank() {
			kept.Severity = f.Severity
		}
		kept.Body += fmt.Sprintf(" The same shows in `%s`, line %d.", f.Path, f.Line)
		f.Filtered, f.Note, f.filteredBy = finding.Repeat, "said by the finding in "+kept.Path, kept
	}
}

// names reports whether a finding's text has another one's place, as path:line.
func (f *entry) names(other *entry) bool {
	for line := max(other.StartLine, other.Line-longestRange); line <= other.Line; line++ {
		parts := strings.Split(f.Body, fmt.Sprintf("%s:%d", other.Path, line))
		for i, before := range parts[:len(parts)-1] { // path and line may each be part of a longer one
			if !endsInPath(strings.TrimSuffix(before, "./")) && strings.IndexAny(parts[i+1], "0123456789") != 0 {
				return true
			}
		}
	}
	return false
}

// endsInPath reports whether a path that follows a text may be the end of a longer one.
func endsInPath(text string) bool {
	c, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("/_-.", c)
}
