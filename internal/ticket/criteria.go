package ticket

import (
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

var (
	// titleOfCriteria is what a section of criteria, or a field, is called.
	titleOfCriteria = pattern.Lazy(`(?i)^\s*(?:acceptance criteri(?:a|on)|acceptance|definition of done` +
		`|ac)\s*:?\s*$`)
	headingLine  = pattern.Lazy(`^(#{1,6})\s+(.*)$`)
	itemLine     = pattern.Lazy(`^(?:[-*+]|\d{1,9}[.)])(?: +\[([ xX])\])?(?: +(.*))?$`)
	taskLine     = pattern.Lazy(`^[-*+] +\[[ xX]\] +\S`)
	scenarioLine = pattern.Lazy(`(?i)^\**(scenario(?: outline)?:.*?)\**$`)
	stepLine     = pattern.Lazy(`(?i)^(given|when|then|and|but) \S`)
)

// NamesCriteria reports whether a field of this name holds acceptance criteria.
func NamesCriteria(name string) bool { return titleOfCriteria().MatchString(name) }

// MaxCriteria bounds the criteria of one text.
const MaxCriteria = 50

// CriteriaIn finds the acceptance criteria in a ticket's or page's Markdown: the entries of the section of that name,
// else scenarios (Given, When, Then), else a list of tasks. Their numbers are still to be given. There may be none.
func CriteriaIn(markdown string) []Criterion {
	lines := strings.Split(markdown, "\n")
	if section := sectionOfCriteria(lines); section != nil {
		if all := CriteriaOf(strings.Join(section, "\n")); len(all) > 0 {
			return all
		}
	}
	if all := scenarios(lines); len(all) > 0 {
		return all
	}
	return items(lines, taskLine())
}

// CriteriaOf reads a text that is nothing but criteria: the entries of its lists,
// else its scenarios, else its paragraphs.
func CriteriaOf(markdown string) []Criterion {
	lines := strings.Split(markdown, "\n")
	if all := items(lines, itemLine()); len(all) > 0 {
		return all
	}
	if all := scenarios(lines); len(all) > 0 {
		return all
	}
	var all []Criterion
	for block := range strings.SplitSeq(markdown, "\n\n") {
		if block = strings.TrimSpace(block); block != "" && !headingLine().MatchString(block) && len(all) < MaxCriteria {
			all = append(all, Criterion{Text: block})
		}
	}
	return all
}

// sectionOfCriteria are the lines below a heading of that name, up to the next one of its level or above; or those
// below a paragraph that is bold or ends in a colon, up to the first block behind its list that is none.
func sectionOfCriteria(lines []string) []string {
	for i, line := range lines {
		m := headingLine().FindStringSubmatch(line)
		if m != nil && titleOfCriteria().MatchString(plain(m[2])) {
			return untilHeading(lines[i+1:], len(m[1]), false)
		}
		text := plain(line)
		bold := strings.HasPrefix(line, "*") && strings.HasSuffix(strings.TrimRight(line, " :"), "*")
		if m == nil && titleOfCriteria().MatchString(text) && (bold || strings.HasSuffix(text, ":")) {
			return untilHeading(lines[i+1:], 6, true)
		}
	}
	return nil
}

// plain is a title without the marks of bold and italic text.
func plain(s string) string { return strings.NewReplacer("*", "", "_", "").Replace(s) }

// untilHeading are lines up to a heading of a level or above, or up to what follows the first
// list where that is the end.
func untilHeading(lines []string, level int, listEnds bool) []string {
	fence, seen := "", false
	for i, line := range lines {
		fence = fenceBehind(fence, line)
		m := headingLine().FindStringSubmatch(line)
		if m != nil && fence == "" && len(m[1]) <= level {
			return lines[:i]
		}
		item := itemLine().MatchString(line)
		if seen && !item && line != "" && !strings.HasPrefix(line, " ") {
			return lines[:i]
		}
		seen = seen || listEnds && item
	}
	return lines
}

// items are the entries of the lists at the left edge, each with what is indented below it.
func items(lines []string, form *regexp.Regexp) (all []Criterion) {
	open, fence := false, ""
	for _, line := range lines {
		below := strings.HasPrefix(line, " ")
		if !below {
			fence = fenceBehind(fence, line)
		}
		m := itemLine().FindStringSubmatch(line)
		switch {
		case fence != "":
			open = false
		case m != nil && form.MatchString(line):
			if open = strings.TrimSpace(m[2]) != "" && len(all) < MaxCriteria; open {
				all = append(all, Criterion{Text: strings.TrimSpace(m[2]), Done: strings.EqualFold(m[1], "x")})
			}
		case open && below:
			all[len(all)-1].Text += "\n" + strings.TrimPrefix(strings.TrimPrefix(line, "  "), " ")
		case line != "":
			open = false
		}
	}
	return all
}

// scenarios are those of Gherkin: from one Scenario, or one Given behind a Then, to the next.
func scenarios(lines []string) (all []Criterion) {
	then, steps := false, false
	for _, line := range lines {
		line = strings.TrimSpace(line)
		title, step, word := scenarioLine().FindStringSubmatch(line), stepLine().FindStringSubmatch(line), ""
		if step != nil {
			word = strings.ToLower(step[1])
		}
		switch {
		case title != nil:
			all, then = append(all, Criterion{Text: strings.TrimSpace(title[1])}), false
		case word == "given" && (len(all) == 0 || then):
			all, then, steps = append(all, Criterion{Text: line}), false, true
		case word != "" && len(all) > 0:
			all[len(all)-1].Text += "\n" + line
			then, steps = then || word == "then", true
		}
	}
	if !steps {
		return nil
	}
	return all[:min(len(all), MaxCriteria)]
}
