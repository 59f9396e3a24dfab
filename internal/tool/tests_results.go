package tool

import (
	"fmt"
	"strings"
)

// Limits of what is shown of one file.
const (
	maxResultShown = 40  // failures of one file
	maxMessage     = 600 // characters of a failure's message
)

// results is the content of one file of test results.
type results struct {
	tests, skipped int
	failures       []failure
	failed         int // number of failures, including those not shown
}

// failure is a test that did not pass. Its texts are untrusted.
type failure struct {
	name, message string
	file          string
	line          int // 0 if unknown
}

func (r *results) addFailure(f failure) {
	r.failed++
	if len(r.failures) < maxResultShown {
		f.message = cutHead(f.message, 16*maxMessage)
		r.failures = append(r.failures, f)
	}
}

func (r results) report(p string, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %q: %d tests, %d failed, %d skipped", safeLine(p), r.tests, r.failed, r.skipped)
	if err != nil {
		fmt.Fprintf(&b, "; %s", safeLine(err.Error()))
	}
	b.WriteByte('\n')
	for _, f := range r.failures {
		fmt.Fprintf(&b, "  - FAILED %q", safeLine(f.name))
		if f.file != "" {
			fmt.Fprintf(&b, " at %q", safeLine(f.file))
		}
		if f.file != "" && f.line > 0 {
			fmt.Fprintf(&b, " line %d", f.line)
		}
		b.WriteByte('\n')
		b.WriteString(withBars(f.message, maxMessage))
	}
	if hidden := r.failed - len(r.failures); hidden > 0 {
		fmt.Fprintf(&b, "  - and %d failures more\n", hidden)
	}
	return b.String()
}
