package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

var (
	broadExcept = lazy(`^except(?:\s*\(?(?:Base)?Exception\)?(?:\s+as\s+\w+)?)?\s*:\s*(\S.*)?$`)
	nothing     = lazy(`^(?:pass|continue|\.\.\.)$`)
	optional    = lazy(`^(?:import|from)\s`)
)

var swallowedException = rule{
	name: "swallowed-exception", category: "error-handling", severity: finding.Minor,
	title: "Swallowed exception: every failure in this block disappears",
	body: "The exception is caught and nothing is done, logged or said about it. Catch the one kind that is " +
		"expected, or let it through.",
	inTests: skipped,
	find: in{python: holding(each(func(h *hunk, i int) (hit, bool) {
		return hit{}, emptyExceptBlock(h, i)
	}), "except")},
}

func emptyExceptBlock(h *hunk, i int) bool {
	if !strings.HasPrefix(h.codeAt(i), "except") {
		return false
	}
	m := broadExcept().FindStringSubmatch(h.codeAt(i))
	if m == nil || h.commented(i) || h.closes(i) || h.slight(i) {
		return false
	}
	if m[1] != "" {
		return nothing().MatchString(m[1])
	}
	return nothing().MatchString(h.codeAt(i+1)) && !h.commented(i+1)
}

var (
	closing = lazy(`^(?:del\b|[\w.\[\]]*\b(?:close|shutdown|kill|terminate|disconnect|cancel|stop|quit|logout` +
		`|unlink|remove|rmtree|rmdir|cleanup|flush|release)\w*\()`)
	closer = lazy(`^(?:async )?def (?:__del__|__a?exit__|_*a?(?:close|stop|cleanup|shutdown|tear_?down)_*)\(`)
)

// tried are the lines with code of the block above line i, from its last up, and the line of
// its try, -1 where the hunk does not show it.
func (h *hunk) tried(i int) (lines []int, try int) {
	for j := i - 1; j >= max(0, i-reach); j-- {
		switch h.codeAt(j) {
		case "":
		case "try:":
			return lines, j
		default:
			lines = append(lines, j)
		}
	}
	return lines, -1
}

// slight reports a block above line i that was written as one that may fail: one that begins
// with an import, which a platform may lack, one that only looks at a value, or one behind
// which a value is ready for that.
func (h *hunk) slight(i int) bool {
	lines, try := h.tried(i)
	if try < 0 || len(lines) == 0 {
		return false
	}
	calls, returns := false, false
	for _, j := range lines {
		calls = calls || strings.Contains(h.codeAt(j), "(")
		returns = returns || strings.HasPrefix(h.codeAt(j), "return ")
		if slices.ContainsFunc(h.removed, func(old string) bool {
			return strings.TrimSpace(old) == strings.TrimSpace(h.lines[j].text)
		}) {
			return false // it stood there without
		}
	}
	return !calls || optional().MatchString(h.codeAt(lines[len(lines)-1])) ||
		returns && strings.HasPrefix(h.codeAt(h.next(h.next(i))), "return ")
}

// closes reports whether the block above line i only puts away what is not needed any
// more, or stands in a method for that: nobody can do anything about its failure.
func (h *hunk) closes(i int) bool {
	lines, try := h.tried(i)
	if try < 0 {
		return false
	}
	around := h.enclosing(try)
	method := slices.IndexFunc(around, func(code string) bool { return strings.Contains(code, "def ") })
	return method >= 0 && closer().MatchString(around[method]) ||
		len(lines) > 0 && !slices.ContainsFunc(lines, func(j int) bool { return !closing().MatchString(h.codeAt(j)) })
}

// commented reports whether line i holds a comment, taken for the reason why.
func (h *hunk) commented(i int) bool {
	l := h.lines[i]
	for n := range len(l.text) {
		if l.code[n] == ' ' && l.text[n] != ' ' {
			return true
		}
	}
	return false
}
