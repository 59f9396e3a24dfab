package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/pattern"
)

// Limits of the result files that are read.
const (
	maxResultFiles = 64
	maxResultBytes = 16 << 20 // of all files together
)

// readResults reports the files of a workspace that match a glob such as "**/junit-*.xml".
func readResults(workspace fs.FS, glob string) (string, error) {
	if !doublestar.ValidatePattern(glob) {
		return "", fmt.Errorf("the glob of test results, %q, is not a valid one", glob)
	}
	paths, more := pattern.Files(workspace, glob, maxResultFiles)
	var b strings.Builder
	fmt.Fprintf(&b, "Result files (%d):\n", len(paths))
	left := int64(maxResultBytes)
	for _, p := range paths {
		r, err := readResult(workspace, p, &left)
		b.WriteString(r.report(p, err))
	}
	if more {
		fmt.Fprintf(&b, "- there are more files than the %d that are read\n", maxResultFiles)
	}
	return b.String(), nil
}

// readResult reads one file, and subtracts its size from left, the rest of the limit for all files.
func readResult(workspace fs.FS, p string, left *int64) (results, error) {
	file, err := workspace.Open(p)
	if err != nil {
		return results{}, errors.New("it cannot be opened")
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, *left+1))
	if err != nil {
		return results{}, errors.New("it cannot be read to its end")
	}
	if int64(len(content)) > *left {
		return results{}, fmt.Errorf("not read: all files together have more than %d MiB", maxResultBytes>>20)
	}
	*left -= int64(len(content))
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if path.Ext(p) == ".xml" || bytes.HasPrefix(bytes.TrimSpace(content), []byte("<")) {
		return parseJUnit(content)
	}
	return parseGoTest(content)
}

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
