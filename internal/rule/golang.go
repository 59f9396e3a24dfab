package rule

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

var handledCall = lazy(`\berr\w*\s*:?=\s*([A-Za-z_][\w.]*)\(`)

// errorHandlingRemoved finds bare calls whose error the old code looked at.
var errorHandlingRemoved = rule{
	name: "go-error-handling-removed", category: "error-handling", severity: finding.Major,
	title: "The error of `{}` is dropped",
	body:  "The old code looked at it; now what follows runs as if the call had worked.",
	find:  in{golang: findRemovedHandling},
}

func findRemovedHandling(h *hunk) []hit {
	was, is := map[string]bool{}, map[string]bool{}
	for _, l := range h.removed {
		was[handledIn(l)] = true
	}
	for _, l := range h.lines {
		is[handledIn(l.code)] = true
	}
	return each(func(h *hunk, i int) (hit, bool) {
		name := statement(h, i)
		return hit{subject: name}, name != "" && was[name] && !is[name]
	})(h)
}

// handledIn is the function whose result a line assigns to an error, or "".
func handledIn(code string) string {
	return last(handledCall().FindStringSubmatch(code))
}

var mustWork = lazy(`^(?:(?:json|xml|yaml|toml|proto)\.Unmarshal|os\.(?:WriteFile|Rename|Truncate)|io\.ReadFull` +
	`|\w*(?:tx|Tx)\.Commit|(?:db|tx|conn|stmt)\.(?:Exec|ExecContext)|rows?\.Scan|\w*(?:[dD]ec|[dD]ecoder)\.Decode)$`)
var errorBlanked = lazy(`^[A-Za-z]\w*, _ :?= (os\.(?:Open|ReadFile)|io\.ReadAll|http\.(?:Get|Post|NewRequest\w*))\(`)

// errorDropped finds bare calls of well-known functions that can fail at run time,
// and results used without their error.
var errorDropped = rule{
	name: "go-error-dropped", category: "error-handling", severity: finding.Major,
	title:   "The error of `{}` is dropped",
	body:    "It can fail at run time, and what follows then works on data that is missing or incomplete. Return the error, or say why it does not matter.",
	inTests: skipped,
	find: in{golang: each(func(h *hunk, i int) (hit, bool) {
		if h.commented(i) || strings.HasPrefix(h.codeAt(i), "_ =") {
			return hit{}, false // dropped on purpose
		}
		if m := errorBlanked().FindStringSubmatch(h.codeAt(i)); m != nil {
			return hit{subject: m[1], severity: finding.Minor}, true
		}
		name := statement(h, i)
		return hit{subject: name}, mustWork().MatchString(name)
	})},
}

var (
	valueAndError = lazy(`^(?:if )?([A-Za-z]\w*), err :?= .*\)$`)
	errCheck      = lazy(`^if err [!=]= nil\b`)
)

// errorCheckedLate finds results that are used, or whose closing is deferred, between
// the call and the check of its error.
var errorCheckedLate = rule{
	name: "go-error-checked-late", category: "error-handling", severity: finding.Major,
	title: "`{}` is used before its error is checked",
	body:  "Where the call fails it is nil or empty, and this use of it panics or works on nothing.",
	find: in{golang: each(func(h *hunk, i int) (hit, bool) {
		name := unchecked(h, i)
		return hit{subject: name}, name != "" && readsThrough(h.codeAt(i), name)
	})},
}

// unchecked is the value of a call on the line above line i, where the error
// that came with it is looked at only below.
func unchecked(h *hunk, i int) string {
	m := valueAndError().FindStringSubmatch(h.before(i))
	if m == nil || strings.Contains(h.codeAt(i), "err") {
		return ""
	}
	for j, n := h.next(i), 0; j < len(h.lines) && n < 3; j, n = h.next(j), n+1 {
		if errCheck().MatchString(h.codeAt(j)) {
			return m[1]
		}
	}
	return ""
}

// readsThrough reports whether code has name.x or name[x].
func readsThrough(code, name string) bool {
	for _, with := range []string{name + ".", name + "["} {
		before, after, found := strings.Cut(code, with)
		assertion := strings.HasPrefix(after, "(") // may ask nil
		partOfName := before != "" && (isWord(before[len(before)-1]) || strings.HasSuffix(before, "."))
		if found && !assertion && !partOfName {
			return true
		}
	}
	return false
}

var deferredRelease = lazy(`^defer [\w.]+\.(?:Close|Unlock|RUnlock|Rollback)\(`)

// deferInLoop finds what a loop opens or locks and defers to release.
var deferInLoop = rule{
	name: "go-defer-in-loop", category: "resource", severity: finding.Major,
	title:   "The deferred call waits for the function, not for this turn of the loop",
	body:    "Files, locks or connections pile up until the function returns. Move the body into a function of its own, or close at its end.",
	inTests: skipped,
	find: in{golang: each(func(h *hunk, i int) (hit, bool) {
		return hit{}, deferredRelease().MatchString(h.codeAt(i)) && inLoop(h, i) && !leaves(h, i)
	})},
}

func inLoop(h *hunk, i int) bool {
	for _, opened := range h.enclosing(i) {
		if strings.Contains(opened, "func") {
			return false
		}
		if strings.HasPrefix(opened, "for ") {
			return true
		}
	}
	return false
}

// leaves reports whether the block of line i ends by leaving the loop, so that
// the deferred call is the only one.
func leaves(h *hunk, i int) bool {
	depth := indent(h.lines[i].code)
	for j := h.next(i); j < len(h.lines) && indent(h.lines[j].code) >= depth; j = h.next(j) {
		if indent(h.lines[j].code) == depth && (strings.HasPrefix(h.codeAt(j), "return") || strings.HasPrefix(h.codeAt(j), "break")) {
			return true
		}
	}
	return false
}
