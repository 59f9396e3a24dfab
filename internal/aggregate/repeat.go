package aggregate

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// The limits of repeats of a rule in one file: above manyRepeats, its findings become one, whatever name each
// contains, and that one lists up to maxListed lines. Every line of a credential is listed.
const (
	manyRepeats = 3
	maxListed   = 50
)

var codeSpan = pattern.Lazy("`[^`]*`")

// repeatKey is what findings of one rule in one file have in common.
type repeatKey struct {
	path, category, title string
	side                  finding.Side
	severity              finding.Severity
}

func repeatKeyOf(f *entry, title string) repeatKey {
	return repeatKey{f.Path, f.Category, title, f.Side, f.Severity}
}

// markRepeats merges equal findings of a rule in one file into the first, which lists the lines of the others. Those
// stay, marked, so that a later draft knows each place. Recognised findings are left out.
func markRepeats(all []*entry) {
	often := map[repeatKey]int{}
	is := func(f *entry) bool { return f.Source == finding.Rule && f.Filtered == "" && f.Path != "" }
	for _, f := range all {
		if is(f) {
			often[repeatKeyOf(f, codeSpan().ReplaceAllString(f.Title, ""))]++
		}
	}
	first, others := map[repeatKey]*entry{}, map[*entry][]int{}
	for _, f := range all {
		if !is(f) {
			continue
		}
		key := repeatKeyOf(f, f.Title)
		if alike := repeatKeyOf(f, codeSpan().ReplaceAllString(f.Title, "")); often[alike] > manyRepeats &&
			f.Category != "secret" {
			key = alike
		}
		if f.filteredBy = first[key]; f.filteredBy == nil {
			first[key] = f
			continue
		}
		others[f.filteredBy] = append(others[f.filteredBy], f.Line)
		f.Filtered, f.Note = finding.Repeat, fmt.Sprintf("listed by the finding at line %d", f.filteredBy.Line)
	}
	for f, lines := range others {
		f.Body += listLines(lines, f.Category == "secret")
	}
}

// listLines returns a sentence with further lines of a finding.
func listLines(lines []int, whole bool) string {
	var said []string
	for i, n := range lines {
		if i == maxListed && !whole {
			return fmt.Sprintf(" The same on lines %s and %d more.", strings.Join(said, ", "), len(lines)-maxListed)
		}
		said = append(said, fmt.Sprint(n))
	}
	if len(lines) == 1 {
		return " The same on line " + said[0] + "."
	}
	return " The same on lines " + strings.Join(said, ", ") + "."
}
