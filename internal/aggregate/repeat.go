package aggregate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// The limits of repeats of a rule in one file: above manyRepeats, its findings become one, whatever name each
// contains, and that one lists up to maxListed lines. Every line of a credential is listed.
const (
	manyRepeats = 3
	maxListed   = 50
)

var codeSpan = regexp.MustCompile("`[^`]*`")

// repeated is what findings of one rule in one file have in common.
type repeated struct {
	path, category, title string
	side                  finding.Side
	severity              finding.Severity
}

func repeatOf(f *entry, title string) repeated {
	return repeated{f.Path, f.Category, title, f.Side, f.Severity}
}

// markRepeats merges equal findings of a rule in one file into the first, which lists the lines of the others. Those
// stay, marked, so that a later draft knows each place. Recognised findings are left out.
func markRepeats(all []*entry) {
	often := map[repeated]int{}
	is := func(f *entry) bool { return f.Source == finding.Rule && f.Filtered == "" && f.Path != "" }
	for _, f := range all {
		if is(f) {
			often[repeatOf(f, codeSpan.ReplaceAllString(f.Title, ""))]++
		}
	}
	first, others := map[repeated]*entry{}, map[*entry][]int{}
	for _, f := range all {
		if !is(f) {
			continue
		}
		key := repeatOf(f, f.Title)
		if alike := repeatOf(f, codeSpan.ReplaceAllString(f.Title, "")); often[alike] > manyRepeats &&
			f.Category != "secret" {
			key = alike
		}
		if f.by = first[key]; f.by == nil {
			first[key] = f
			continue
		}
		others[f.by] = append(others[f.by], f.Line)
		f.Filtered, f.Note = finding.Repeat, fmt.Sprintf("listed by the finding at line %d", f.by.Line)
	}
	for f, lines := range others {
		f.Body += listed(lines, f.Category == "secret")
	}
}

// listed returns a sentence with further lines of a finding.
func listed(lines []int, whole bool) string {
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
