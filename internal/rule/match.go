package rule

import (
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

var lazy = pattern.Lazy

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// eachAdded runs found on every added line that contains one of some words: searching for a word is
// far cheaper than matching a pattern.
func eachAdded(found func(h *hunk, i int) (hit, bool), words ...string) finder {
	return func(h *hunk) []hit {
		if !containsAny(h.text, words...) {
			return nil
		}
		var hits []hit
		for i, l := range h.lines {
			if !l.added || !containsAny(l.text, words...) {
				continue
			}
			if at, ok := found(h, i); ok {
				at.line = i
				hits = append(hits, at)
			}
		}
		return hits
	}
}

// inCode finds lines with one of some words whose masked code matches.
func inCode(expr string, words ...string) finder {
	re := lazy(expr)
	return eachAdded(func(h *hunk, i int) (hit, bool) { return hit{}, re().MatchString(h.lines[i].code) }, words...)
}

// unlessIntended drops hits that a person asked for, by a condition or with a comment, and
// hits about connections to the same machine or without TLS.
func unlessIntended(find finder) finder {
	return func(h *hunk) []hit {
		return slices.DeleteFunc(find(h), func(at hit) bool {
			text := h.lines[at.line].text
			return h.hasComment(at.line) && insecure().MatchString(text) || ownMachine().MatchString(text) ||
				plainly().MatchString(text) && !strings.Contains(text, "https://") ||
				slices.ContainsFunc(h.enclosing(at.line), settingCondition().MatchString)
		})
	}
}

var (
	ownMachine = lazy(`https://(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/"'\s]|$)`)
	plainly    = lazy(`\b(?:curl|wget)\b.*\s["']?http://`)
)

// enclosing returns the text of line i and of each line above that is indented less than all lines in between.
func (h *hunk) enclosing(i int) (lines []string) {
	left := indent(h.lines[i].code) + 1
	for j := i; j >= max(0, i-reach); j-- {
		if from := indent(h.lines[j].code); h.codeAt(j) != "" && from < left {
			left, lines = from, append(lines, h.lines[j].text)
		}
	}
	return lines
}

var insecure = lazy(`(?i)(?://|#).*(?:insecure|unsafe|verif|certificate|self.signed|trust|on purpose|because)`)

// settingCondition matches a condition on a setting of the check.
var settingCondition = lazy(`(?i)\b(?:el)?if\b.*(?:insecure|ignore|verify|skip|self_?signed|trust|strict|unsafe` +
	`|tls|ssl|cert)`)

// inText finds lines with one of some words whose text matches from a byte that is code, so that a
// pattern can look into strings without matching in comments.
func inText(expr string, words ...string) finder {
	re := lazy(expr)
	return eachAdded(func(h *hunk, i int) (hit, bool) { return hit{}, matchInCode(re(), h.lines[i]) != nil }, words...)
}

// matchInCode returns the groups of the first match that begins in code, or nil.
func matchInCode(re *regexp.Regexp, l line) []string {
	for _, m := range re.FindAllStringSubmatchIndex(l.text, -1) {
		first := m[0] + indent(l.text[m[0]:m[1]])
		if first < m[1] && l.code[first] == l.text[first] {
			return groups(l.text, m)
		}
	}
	return nil
}

func groups(text string, m []int) []string {
	found := make([]string, len(m)/2)
	for i := range found {
		if m[2*i] >= 0 {
			found[i] = text[m[2*i]:m[2*i+1]]
		}
	}
	return found
}

// lastNonEmpty returns the last group that is not empty, or "".
func lastNonEmpty(groups []string) string {
	for i := len(groups) - 1; i >= 0; i-- {
		if groups[i] != "" {
			return groups[i]
		}
	}
	return ""
}

// continuesOnNextLine reports whether a line of code continues on the next one.
func continuesOnNextLine(code string) bool {
	return slices.ContainsFunc([]string{"(", ",", "=", "=>", "+", "&&", "||", "?", "[", ".", "return", "await"},
		func(end string) bool { return strings.HasSuffix(code, end) })
}

// statement returns the function that line i calls only for its effect, or "". A chain of
// calls yields "": it ends with another function than the first.
func statement(h *hunk, i int) string {
	code := strings.TrimSuffix(h.codeAt(i), ";")
	if !strings.HasSuffix(code, ")") || !isWord(code[0]) {
		return ""
	}
	name, _, called := strings.Cut(code, "(")
	if !called || !dotted().MatchString(name) || continuesOnNextLine(h.codeAbove(i)) || strings.Contains(code, ").") {
		return ""
	}
	return name
}

// dotted matches a name, with or without dots.
var dotted = lazy(`^[A-Za-z_][\w.]*$`)
