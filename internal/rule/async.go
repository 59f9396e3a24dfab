package rule

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

var (
	asyncNames = lazy(`\basync\s+(?:function\s+|def\s+)(\w+)|\b(?:const|let)\s+(\w+)\s*=\s*async\b|^\s*(?:(?:public|private|protected|static|override)\s+)*async\s+(\w+)\s*\(`)
	awaited    = lazy(`\bawait\s+([A-Za-z_][\w.]*)\(`)
	handled    = lazy(`\.(?:then|catch|finally)\(`)
	function   = lazy(`=>|\b(?:function|def|async)\b`)
)

// unawaited finds calls that lost their await, and calls in an async function of
// another one that the hunk declares.
var unawaited = rule{
	name: "unawaited", category: "concurrency", severity: finding.Major,
	title: "Nothing waits for `{}`",
	body:  "What follows runs before it is done, and its failure goes unnoticed. Await it, or handle its rejection.",
	find:  all(findUnawaited, typescript, python),
}

func findUnawaited(h *hunk) []hit {
	declared, lost := map[string]bool{}, map[string]bool{}
	for _, l := range h.lines {
		declared[asyncDeclared(l.code)] = true
	}
	for _, l := range h.removed {
		if m := awaited().FindStringSubmatch(l); m != nil {
			lost[m[1]] = true
		}
	}
	return each(func(h *hunk, i int) (hit, bool) {
		name := statement(h, i)
		if name == "" || handled().MatchString(h.lines[i].code) || strings.HasPrefix(h.codeAt(h.next(i)), ".") {
			return hit{}, false
		}
		return hit{subject: name}, lost[name] || declared[name] && h.couldAwait(i)
	})(h)
}

// asyncDeclared is how the hunk would call what a line declares asynchronous.
func asyncDeclared(code string) string {
	if !strings.Contains(code, "async") {
		return ""
	}
	m := asyncNames().FindStringSubmatch(code)
	switch {
	case m == nil:
		return ""
	case m[3] != "":
		return "this." + m[3]
	case strings.Contains(m[0], "def") && indent(code) > 0:
		return "self." + m[1]
	}
	return last(m[1:])
}

// couldAwait reports whether the function around line i is asynchronous. In any
// other, not to wait may be the point, as in an effect or an event handler.
func (h *hunk) couldAwait(i int) bool {
	for _, opened := range h.enclosing(i) {
		if function().MatchString(opened) {
			return strings.Contains(opened, "async")
		}
	}
	return false
}
