package app_test

import (
	"bytes"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/app"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/transport"
)

// slowly runs the program against a model that takes its time, where half a minute
// passes in 10 ms.
func (s *stage) slowly(env map[string]string, args ...string) (stdout, stderr string) {
	s.t.Helper()
	var out, trouble bytes.Buffer
	code := app.Run(transport.Faster(s.t.Context(), 3000), app.Process{
		Args: append([]string{"pr-review-action"}, args...), Environ: listed(env), Stdin: new(bytes.Buffer),
		Stdout: &out, Stderr: &trouble,
	})
	require.Zero(s.t, code, "%s%s", &out, &trouble)
	return out.String(), trouble.String()
}

func TestALogIsToldEachHalfMinuteHowFarAReviewIs(t *testing.T) {
	slow := func(r llmtest.Request) llmtest.Answer {
		a := critic(r)
		a.Delay = 200 * time.Millisecond
		return a
	}
	const line = `(?m)^reviewing  [0-3]/3 files · [0-9] findings? (· [0-9]+ calls? · \$[0-9.]+ of \$1\.00 )?` +
		`· [0-9]*[03]0 s$`
	s := setUp(t, scene{script: slow})
	home := s.home(t.TempDir(), map[string]string{"OPENAI_MODEL": "gpt-6-luna"})
	stdout, stderr := s.slowly(home, "review", "octo/demo#42", "--store", t.TempDir())
	require.Regexp(t, line, stderr)
	require.NotRegexp(t, line, stdout)
	_, stderr = s.slowly(home, "review", "octo/demo#42", "--store", t.TempDir(), "--json")
	require.Regexp(t, line, stderr)
	_, stderr = s.slowly(home, "review", "octo/demo#42", "--store", t.TempDir(), "--quiet")
	require.Empty(t, stderr)

	env := s.draftJob().with("model", "gpt-6-luna").environ(t.TempDir())
	stdout, _ = s.slowly(maps.Clone(env))
	require.Regexp(t, line, stdout)
}
