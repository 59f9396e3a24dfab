package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// ends are the outcomes of a review, with what its models say and are asked for.
func ends() map[string]func(*job) *job {
	return map[string]func(*job) *job{
		"CLEAN":  func(j *job) *job { return j },
		"KEPT":   func(j *job) *job { return j.with("gate-from", "blocker") },
		"PAUSED": func(j *job) *job { return j },
	}
}

// says is a model that comes to an end.
func says(end string) llmtest.Script {
	return func(r llmtest.Request) llmtest.Answer {
		if end == "CLEAN" {
			return llmtest.Findings()
		}
		return llmtest.Honest(r)
	}
}

func TestP4_AResultIsForItsReviewerOnActions(t *testing.T) {
	t.Parallel()
	for end, asked := range ends() {
		t.Run(end, func(t *testing.T) {
			s := setUp(t, scene{
				base:  githubtest.Tree{"a.go": "package a\n"},
				head:  githubtest.Tree{"a.go": "package a\n\nvar x = 1 // DEFECT: x is never read\n"},
				trust: checkpoint.TrustSeal, script: says(end),
			})
			for _, run := range []struct {
				by    []string
				calls int
			}{
				{[]string{"provider", "offline"}, 0},
				{[]string{"model", "story-1"}, 1},
				{[]string{"model", "story-2"}, 2},
				{[]string{"model", "story-1"}, 2},
				{[]string{"model", "story-2"}, 2},
			} {
				outcome := end
				if run.calls == 0 {
					outcome = "CLEAN"
				}
				asked(s.draftJob()).with(run.by...).start().is(0, outcome)
				require.Equal(t, run.calls, s.reviews(), "%v", run.by)
				s.anew(githubtest.RunOptions{})
			}
		})
	}
}

// otherPrompt is this program with a word of a prompt changed, in its file: what a
// build embeds is there as it is.
func otherPrompt(t *testing.T) (program string) {
	t.Helper()
	text, err := os.ReadFile("../prompt/text/review.md")
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	whole, err := os.ReadFile(self)
	require.NoError(t, err)
	at := bytes.Index(whole, text)
	require.Positive(t, at)
	copy(whole[at:], bytes.ToUpper(text[:100]))
	program = filepath.Join(t.TempDir(), "pr-review-action") // TestMain's name of it
	require.NoError(t, os.WriteFile(program, whole, 0o700))
	return program
}

func TestP4_AResultIsForItsPrompts(t *testing.T) {
	testvolume.NoRaces(t)
	s := setUp(t, scene{trust: checkpoint.TrustSeal, script: says("CLEAN")})
	other := otherPrompt(t)
	store := t.TempDir()
	for _, run := range []struct {
		program string
		calls   int
	}{{"", 3}, {other, 6}, {"", 6}, {other, 6}} {
		cmd := s.command(nil, "review", "octo/demo#42", "--store", store)
		if run.program != "" {
			cmd.Path = run.program
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "CLEAN octo/demo#42:")
		require.Equal(t, run.calls, s.reviews(), "on the command line")
	}
	draft := s.draftJob()
	draft.start().is(0, "CLEAN")
	require.Equal(t, 9, s.reviews(), "an action's store is another one")
	s.anew(githubtest.RunOptions{})
	draft = s.draftJob()
	draft.program = other
	draft.start().is(0, "CLEAN")
	require.Equal(t, 12, s.reviews(), "as an action")
}
