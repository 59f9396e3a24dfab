package app_test

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/org/pr-review-action/internal/app"
)

// apart reports whether each invocation is a process of its own: where
// PR_REVIEW_VOLUME is full, and in the image that PR_REVIEW_IMAGE names. Else
// those that nothing kills are calls of app.Run, since most of what 2,000
// processes take is their start.
func apart() bool {
	return os.Getenv("PR_REVIEW_VOLUME") == "full" || os.Getenv("PR_REVIEW_IMAGE") != ""
}

// within runs the program to its end in this process, in the folder of the tests
// and with these variables alone.
func within(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, trouble bytes.Buffer
	code = app.Run(t.Context(), app.Process{
		Args: append([]string{"pr-review-action"}, args...), Environ: listed(env),
		Stdin: new(bytes.Buffer), Stdout: &out, Stderr: &trouble, Now: clock(env["NOW"]),
	})
	return code, out.String(), trouble.String()
}

// listed are variables as a process has them.
func listed(env map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
