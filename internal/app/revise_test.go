package app_test

import (
	"errors"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
)

func TestP4_ARevisionThatIsKilledPaysForNothingTwice(t *testing.T) {
	t.Parallel()
	for name, again := range map[string][]string{
		"the same command": {"resume", "main~1..main", "--revise", "look  again"},
		"without decision": {"resume", "main~1..main"},
		"another review":   {"review", "main~1..main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached, held := make(chan struct{}), make(chan struct{})
			var revisions atomic.Int64
			s, model := billed(t, filesOf(4), func(r llmtest.Request) llmtest.Answer {
				if llmtest.Data(r.User)["feedback"] != "" {
					if revisions.Add(1) == 3 {
						close(reached)
						<-held
					}
				}
				return llmtest.Honest(r)
			})
			flags := []string{"--model", pricedModel, "--store", t.TempDir(), "--concurrency", "1"}
			with := func(args ...string) []string { return append(args, flags...) }
			drafted := s.review(flags...)
			require.Len(t, drafted.Findings, 4)
			cmd := s.command(with("resume", drafted.Thread, "--revise", "look again", "--quiet")...)
			require.NoError(t, cmd.Start())
			<-reached
			require.NoError(t, cmd.Process.Kill())
			require.True(t, errors.As(cmd.Wait(), new(*exec.ExitError)))
			close(held)
			paid := model.Calls()

			for _, decision := range [][]string{{"--approve"}, {"--revise", "something else"},
				{"--command", "/drop F1"}} {
				r := s.run(with(append([]string{"resume", drafted.Thread}, decision...)...)...)
				require.Equal(t, 2, r.Code, r.Stderr)
				require.Contains(t, r.Stderr, "this draft is being revised, so there is nothing to decide yet")
			}
			listed := exited(t, s.command("threads", "--store", flags[3]))
			require.Zero(t, listed.Code, listed.Stderr)
			require.Contains(t, listed.Stdout, "REVISING local/", "it has not failed")
			if again[0] == "resume" {
				again[1] = drafted.Thread
			}
			r := s.run(with(again...)...)
			require.Zero(t, r.Code, r.Stderr)
			require.Equal(t, "PAUSED", r.Outcome)
			require.Len(t, r.Findings, 4)
			require.Equal(t, "F5", r.Findings[0].ID)
			// Each file has a revision and a second look; the one under way when the process died is asked again.
			require.Equal(t, paid+1+1+2, model.Calls())
			require.EqualValues(t, drafted.Usage.Calls*2-1, r.Usage.Calls, "the change as a whole is looked at once")
		})
	}
}

func TestRevise_ARangeThatIsAnotherIsRefused(t *testing.T) {
	t.Parallel()
	s, model := billed(t, filesOf(1), llmtest.Honest)
	flags := []string{"--model", pricedModel, "--store", t.TempDir()}
	drafted := s.review(flags...)
	paid := model.Calls()
	s.commit("more.go", "package p\n")
	r := s.run(append([]string{"resume", drafted.Thread, "--revise", "look again"}, flags...)...)
	require.Equal(t, 3, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "the range has changed since this draft was made")
	require.Equal(t, paid, model.Calls())
}
