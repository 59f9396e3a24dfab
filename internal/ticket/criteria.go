package ticket

import (
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

var (
	// titleOfCriteria matches the title of a section, or the name of a field, with criteria.
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

// CriteriaIn returns the acceptance criteria in a ticket's or page's Markdown: the entries of the section of that
// name, otherwise scenarios (Given, When, Then), otherwise a list of tasks. It returns nil if there are none, and
// leaves N 0.
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

// CriteriaOf returns the criteria of a text that holds nothing else: the entries of its lists,
// otherwise its scenarios, otherwise its paragraphs.
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
		block = strings.TrimSpace(block)
		if block != "" && !headingLine().MatchString(block) && len(all) < MaxCriteria {
			all = append(all, Criterion{Text: block})
		}
	}
	return all
}

// sectionOfCriteria returns the lines below a heading of that name, up to the next heading of its level or above; or
// those below such a line in bold or with a colon, up to the end of the first list or a heading.
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

// plain returns a title without the marks of bold and italic text.
func plain(s string) string { return strings.NewReplacer("*", "", "_", "").Replace(s) }

// untilHeading returns the lines before the first heading of the level or above. If listEnds,
// it also stops at the end of the first list.
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

// items returns the entries of unindented lists that match form, each with the lines indented
// below it.
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

// scenarios returns Gherkin scenarios. Each begins at a Scenario line, or at a Given after a Then.
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
