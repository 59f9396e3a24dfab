package app_test

import (
	"bytes"
	"maps"
	"os"
	"slices"

	"github.com/org/pr-review-action/internal/app"
	"github.com/org/pr-review-action/internal/testvolume"
	"github.com/org/pr-review-action/internal/transport"
)

// apart reports whether each invocation is a separate process: where
// PR_REVIEW_VOLUME is full, and in the image that PR_REVIEW_IMAGE names. Else
// those that nothing kills are calls of app.Run, since most of what 2,000
// processes take is their start.
func apart() bool {
	return testvolume.Full() || os.Getenv("PR_REVIEW_IMAGE") != ""
}

// faster is how many times shorter than a process waits a call of app.Run does:
// for GitHub to show what was written, for other jobs, and between tries.
const faster = 20

// within runs the program to its end in this process, in the folder of the tests
// and with these variables alone.
func (s *stage) within(env map[string]string, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	ctx := s.t.Context()
	if !s.patient {
		ctx = transport.Faster(ctx, faster)
	}
	var out, trouble bytes.Buffer
	code = app.Run(ctx, app.Process{
		Args: append([]string{programName}, args...), Environ: listed(env),
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
