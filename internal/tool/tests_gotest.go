package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/secret"
)

// maxOutput is the number of bytes that are shown of one test's output: its last ones.
const maxOutput = 4 << 10

// goEvent is a line of go test -json (go doc test2json).
type goEvent struct {
	Action, Package, Test, Output string
	ImportPath                    string // of a package that failed to build
	FailedBuild                   string
}

// parseGoTest parses the output of go test -json. It ignores other lines, because go itself prints
// some in between.
func parseGoTest(content []byte) (results, error) {
	var r results
	events, others := 0, 0
	output := map[[2]string]string{}
	for line := range bytes.Lines(content) {
		var e goEvent
		if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
			others++
			continue
		}
		events++
		r.addEvent(e, output)
	}
	if events == 0 && others > 0 {
		return r, errors.New("it is neither JUnit XML nor the output of go test -json")
	}
	return r, nil
}

// addEvent adds an event. A failed package is reported only if none of its tests explains it.
func (r *results) addEvent(e goEvent, output map[[2]string]string) {
	at := [2]string{e.Package + e.ImportPath, e.Test}
	ends := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
	switch {
	case e.Action == "output" || e.Action == "build-output":
		text := output[at] + e.Output
		output[at] = text[max(0, len(text)-2*maxOutput):]
		return
	case !ends:
		return
	case e.Test != "":
		r.tests++
	}
	text := output[at]
	delete(output, at)
	if e.Action == "fail" && len(r.failures) < maxResultShown { // the others are only counted
		text = secret.Tail(text, maxOutput)
	}
	switch {
	case e.Action == "skip" && e.Test != "":
		r.skipped++
	case e.Action == "fail" && e.Test != "":
		r.addPlaced(e.Package+" "+e.Test, text)
	case e.Action == "fail":
		for at, said := range output { // a panic of another goroutine leaves its test without an end
			if at[0] == e.Package && goPanic().MatchString(said) {
				delete(output, at)
				r.tests++
				r.addPlaced(e.Package+" "+at[1], secret.Tail(said, maxOutput))
			}
		}
		if !r.hasFailedTest(e.Package) {
			r.addPlaced(e.Package, secret.Tail(output[[2]string{e.FailedBuild, ""}], maxOutput)+text)
		}
	}
}

func (r *results) addPlaced(name, message string) {
	f := failure{name: name, message: message}
	f.file, f.line = codePosition(message)
	r.addFailure(f)
}

// hasFailedTest reports whether a failed test of the package was reported.
func (r *results) hasFailedTest(pkg string) bool {
	return len(r.failures) < r.failed || // perhaps among those that are not shown
		slices.ContainsFunc(r.failures, func(f failure) bool { return strings.HasPrefix(f.name, pkg+" ") })
}

// codePlace matches a place in a message, such as store_test.go:12.
var codePlace = pattern.Lazy(`(?m)(?:^|[\s("'])([\w./-]{1,200}\.[A-Za-z]{1,5}):([1-9][0-9]{0,6})\b`)

// goPanic matches a message of Go up to the frames below the panic: those before are of the runtime and of what
// recovered it.
var goPanic = pattern.Lazy(`(?s)(?:^|\n)(?:panic|fatal error): (?:.*\npanic\(.*?\n.*?\n)?`)

// codePosition returns the place of a message's panic, or else its first one.
func codePosition(message string) (file string, line int) {
	text := cutHead(message, 16*maxMessage)
	if at := goPanic().FindStringIndex(text); at != nil && codePlace().MatchString(text[at[1]:]) {
		text = text[at[1]:]
	}
	m := codePlace().FindStringSubmatch(text)
	if m == nil {
		return "", 0
	}
	line, _ = strconv.Atoi(m[2]) // at most seven digits
	return m[1], line
}
