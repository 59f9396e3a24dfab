package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
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
	if len(h.removed) == 0 {
		return nil
	}
	was, is := map[string]bool{}, map[string]bool{}
	for _, l := range h.removed {
		was[handledIn(l)] = true
	}
	for _, l := range h.lines {
		is[handledIn(l.code)] = true
	}
	return each(func(h *hunk, i int) (hit, bool) {
		name := statement(h, i)
		if strings.HasPrefix(h.codeAt(i), "_ =") || h.commented(i) {
			return hit{}, false // dropped on purpose
		}
		return hit{subject: name}, name != "" && was[name] && !is[name] && !h.moot(name)
	})(h)
}

// moot reports whether there is no error to look at any more, or none that anybody
// would act on.
func (h *hunk) moot(name string) bool {
	return strings.HasPrefix(name, "fmt.") || h.quiet[name[strings.LastIndexByte(name, '.')+1:]] ||
		strings.Contains(h.code, ", "+name+" := range ") // of whatever type the list is now
}

var (
	declared = lazy(`^[-+](?:func\s*(?:\([^()]*\)\s*)?(\w+)(?:\[[^\]]*\])?|\t(\w+))\(`)
	anError  = lazy(`\berror\b`)
)

// Quiet has the names of the Go functions from whose results a change takes the error,
// wherever they are declared: there is none to look at any more.
func Quiet(files []diff.File) map[string]bool {
	fewer, stays := map[string]int{}, map[string]bool{} // declarations that fail: those removed beyond those added
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		for l := range strings.Lines(f.Patch) {
			at := declared().FindStringSubmatchIndex(l)
			if at == nil {
				continue
			}
			name := last(groups(l, at))
			switch fails := anError().MatchString(results(l[at[1]:])); {
			case l[0] == '-' && fails:
				fewer[name]++
			case l[0] == '+' && fails:
				fewer[name]--
			case l[0] == '+':
				stays[name] = true
			}
		}
	}
	quiet := map[string]bool{}
	for name, n := range fewer {
		quiet[name] = n > 0 && stays[name]
	}
	return quiet
}

// results is what stands behind the parenthesis that ends a function's parameters.
func results(rest string) string {
	open := 1
	for i, c := range []byte(rest) {
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return rest[i:]
			}
		}
	}
	return ""
}

// handledIn is the function whose result a line assigns to an error, or "".
func handledIn(code string) string {
	if !strings.Contains(code, "err") {
		return ""
	}
	return last(handledCall().FindStringSubmatch(code))
}

var mustWork = lazy(`^(?:(?:json|xml|yaml|toml|proto)\.Unmarshal|os\.(?:WriteFile|Rename|Truncate)|io\.ReadFull` +
	`|\w*(?:tx|Tx)\.Commit|(?:db|tx|conn|stmt)\.(?:Exec|ExecContext)|rows?\.Scan|\w*(?:[dD]ec|[dD]ecoder)\.Decode)$`)
var errorBlanked = lazy(`^[A-Za-z]\w*, _ :?= (os\.(?:Open|ReadFile)|io\.ReadAll|http\.(?:Get|Post))\(`)

// errorDropped finds bare calls of well-known functions that can fail at run time,
// and results used without their error.
var errorDropped = rule{
	name: "go-error-dropped", category: "error-handling", severity: finding.Major,
	title: "The error of `{}` is dropped",
	body: "It can fail at run time, and what follows then works on data that is missing or incomplete. Return " +
		"the error, or say why it does not matter.",
	find: in{golang: each(func(h *hunk, i int) (hit, bool) {
		code := h.codeAt(i)
		if !strings.Contains(code, "(") || strings.HasPrefix(code, "_ =") || h.commented(i) {
			return hit{}, false // dropped on purpose, where it is
		}
		if strings.Contains(code, ", _ ") {
			left, _, _ := strings.Cut(code, "=")
			stood := slices.ContainsFunc(h.removed, func(l string) bool {
				return strings.HasPrefix(strings.TrimSpace(l), left)
			})
			if m := errorBlanked().FindStringSubmatch(code); m != nil && !stood {
				return hit{subject: m[1], severity: finding.Minor}, true
			}
		}
		name := statement(h, i)
		return hit{subject: name}, strings.Contains(name, ".") && mustWork().MatchString(name) && !h.missed(i)
	})},
}

var (
	filled = lazy(`&(\w+)\)$`)
	absent = lazy(`^if (?:_, \w+ := (\w+)\[|len\((\w+)|(\w+) == nil\b)`)
)

// missed reports whether the line behind the call on line i asks if what the call fills is there,
// or the data were made right above.
func (h *hunk) missed(i int) bool {
	for j := max(0, i-2); j < i; j++ {
		if strings.Contains(h.codeAt(j), ".Marshal(") {
			return true
		}
	}
	target, question := filled().FindStringSubmatch(h.codeAt(i)), absent().FindStringSubmatch(h.codeAt(h.next(i)))
	return target != nil && question != nil && slices.Contains(question[1:], target[1])
}
