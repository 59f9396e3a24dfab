package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

var (
	broadExcept    = lazy(`^except(?:\s*\(?(?:Base)?Exception\)?(?:\s+as\s+\w+)?)?\s*:\s*(\S.*)?$`)
	emptyStatement = lazy(`^(?:pass|continue|\.\.\.)$`)
	optional       = lazy(`^(?:import|from)\s`)
)

var swallowedException = rule{
	name: "swallowed-exception", category: "error-handling", severity: finding.Minor,
	title: "Swallowed exception: every failure in this block disappears",
	body: "The exception is caught, and then neither handled nor logged. Catch only the type you expect, or let it " +
		"propagate.",
	find: in{python: eachAdded(func(h *hunk, i int) (hit, bool) { return hit{}, emptyExceptBlock(h, i) }, "except")},
}

func emptyExceptBlock(h *hunk, i int) bool {
	m := broadExcept().FindStringSubmatch(h.codeAt(i))
	if m == nil || h.hasComment(i) || h.isMinorFailure(i) {
		return false
	}
	if m[1] != "" {
		return emptyStatement().MatchString(m[1])
	}
	return emptyStatement().MatchString(h.codeAt(i+1)) && !h.hasComment(i+1)
}

var closing = lazy(`^(?:del\b|[\w.\[\]]*\b(?:close|shutdown|kill|terminate|disconnect|cancel|stop|quit|logout` +
	`|unlink|remove|rmtree|rmdir|cleanup|flush|release)\w*\()`)

// isMinorFailure reports whether a failure of the block above line i hardly matters: the block is a single
// statement that was written together with the handler, begins with an import that a platform may lack,
// only cleans up, or returns a value for which the code after the handler has a fallback.
func (h *hunk) isMinorFailure(i int) bool {
	var block []int // from its last line up
	j := i - 1
	for ; j >= max(0, i-reach) && h.codeAt(j) != "try:"; j-- {
		if h.codeAt(j) != "" {
			block = append(block, j)
		}
	}
	if len(block) == 0 {
		return false
	}
	first := block[len(block)-1]
	statements, kept, returns, stood := 0, false, false, false
	for _, j := range block {
		code := h.codeAt(j)
		if indent(h.lines[j].code) == indent(h.lines[first].code) && strings.IndexByte(")]}", code[0]) < 0 {
			statements++
		}
		kept = kept || !closing().MatchString(code)
		returns = returns || strings.HasPrefix(code, "return ")
		stood = stood || h.hadLine(h.lines[j].text)
	}
	if stood && !h.hadLine("try:") {
		return false // it existed before, without the handler
	}
	return statements < 2 || !kept || optional().MatchString(h.codeAt(first)) ||
		returns && strings.HasPrefix(h.codeAt(h.nextCode(h.nextCode(i))), "return ")
}

// hadLine reports whether the old file had a line, whatever its indentation.
func (h *hunk) hadLine(text string) bool {
	return slices.ContainsFunc(h.removed, func(old string) bool {
		return strings.TrimSpace(old) == strings.TrimSpace(text)
	})
}

// hasComment reports whether line i has a comment, which counts as the reason.
func (h *hunk) hasComment(i int) bool {
	l := h.lines[i]
	for n := range len(l.text) {
		if l.code[n] == ' ' && l.text[n] != ' ' {
			return true
		}
	}
	return false
}
