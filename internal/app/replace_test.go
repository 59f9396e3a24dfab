package app_test

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/llmtest"
)

// TestP4_ADraftWaitsUntilTheRunThatReplacesItIsComplete kills that run, and lets a second
// process decide the draft while it is under way and afterwards.
func TestP4_ADraftWaitsUntilTheRunThatReplacesItIsComplete(t *testing.T) {
	t.Parallel()
	for name, other := range map[string][]string{
		"--again":       {"--again", "--model", pricedModel},
		"another model": {"--model", "gpt-5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached, held := make(chan struct{}), make(chan struct{})
			release := sync.OnceFunc(func() { close(held) })
			var replacing atomic.Bool
			var asked atomic.Int64
			s, model := billed(t, filesOf(4), func(r llmtest.Request) llmtest.Answer {
				if replacing.Load() && asked.Add(1) == 5 { // two files are read by then
					close(reached)
					<-held
				}
				return llmtest.Honest(r)
			})
			t.Cleanup(release)
			flags := []string{"--store", t.TempDir(), "--concurrency", "1"}
			with := func(args ...string) []string { return append(args, flags...) }
			plain := with("--model", pricedModel)
			drafted := s.review(plain...)
			require.Equal(t, "PAUSED", drafted.Outcome, drafted.Stderr)

			replacing.Store(true)
			cmd := s.command(append(append([]string{"review", "main~1..main"}, with(other...)...), "--quiet")...)
			require.NoError(t, cmd.Start())
			<-reached
			r := s.run(with("resume", drafted.Thread, "--approve")...)
			require.Equal(t, 1, r.Code, "not while it is to be replaced")
			require.Contains(t, r.Stderr, "wait until that one has ended")
			require.NoError(t, cmd.Process.Kill())
			require.True(t, errors.As(cmd.Wait(), new(*exec.ExitError)))
			release()
			replacing.Store(false)

			paid := model.Calls()
			r = s.review(plain...)
			require.Equal(t, drafted.Stdout, r.Stdout, r.Stderr)
			require.Equal(t, paid, model.Calls(), "what was paid for the old draft is kept")

			r = s.review(with(other...)...)
			require.Equal(t, "PAUSED", r.Outcome, r.Stderr)
			require.Len(t, r.Findings, 4)
			require.Equal(t, "F5", r.Findings[0].ID)
			require.Equal(t, paid+2+2, model.Calls(), "and for the new one: two questions each about the other two")
			listed := exited(t, s.command("threads", "--store", flags[1]))
			require.Equal(t, 1, strings.Count(listed.Stdout, "PAUSED"), listed.Stdout)
			r = s.run(with("resume", drafted.Thread, "--approve")...)
			require.Equal(t, "POSTED", r.Outcome, r.Stderr)
		})
	}
}

// TestP4_AnEndedRunWhoseCopyIsCutOffIsNotPaidForAgain leaves in the store what a process leaves that is killed at each
// write by which an ended run with --again takes the thread's place.
func TestP4_AnEndedRunWhoseCopyIsCutOffIsNotPaidForAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := filestore.New(dir)
	require.NoError(t, err)
	stored := func() (all []string) {
		all, err := store.Threads(t.Context())
		require.NoError(t, err)
		return all
	}
	var apart []string
	s, model := billed(t, map[string]string{"a.go": "package p\n", "b.go": "package p\n"},
		func(r llmtest.Request) llmtest.Answer {
			apart = stored()
			return llmtest.Honest(r)
		})
	flags := []string{"--store", dir, "--concurrency", "1", "--model", pricedModel}
	thread := s.review(flags...).Thread
	r := s.review(append(flags, "--again")...)
	require.Equal(t, "CLEAN", r.Outcome, r.Stderr)
	apart = slices.DeleteFunc(apart, func(id string) bool { return id == thread })
	require.Len(t, apart, 1)
	ended, err := store.Load(t.Context(), thread)
	require.NoError(t, err)
	require.NotEmpty(t, ended.Journal)
	paid := model.Calls()
	put := func(id string, saved graph.Saved) {
		require.NoError(t, store.Save(t.Context(), id, saved.Snapshot))
		for _, record := range saved.Journal {
			require.NoError(t, store.Append(t.Context(), id, record))
		}
	}
	for n := range len(ended.Journal) + 1 {
		put(apart[0], ended)
		put(thread, graph.Saved{Snapshot: ended.Snapshot, Journal: ended.Journal[:n]})
		again := s.review(append(flags, "--again")...)
		require.Equal(t, "CLEAN", again.Outcome, again.Stderr)
		require.Equal(t, paid, model.Calls(), "with %d records copied", n)
		require.Equal(t, []string{thread}, stored())
		now, err := store.Load(t.Context(), thread)
		require.NoError(t, err)
		require.Equal(t, ended, now)
	}
	require.Equal(t, "CLEAN", s.review(append(flags, "--again")...).Outcome)
	require.Greater(t, model.Calls(), paid, "and asked once more, it drafts anew")
}

func TestP4_ATicketsDraftThatTookItsPlaceIsNotPaidForAgain(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	dir, implement := t.TempDir(), s.cloned(nil)
	store, err := filestore.New(dir)
	require.NoError(t, err)
	require.Zero(t, exited(t, implement("--no-input", "--store", dir)).Code)
	ids, err := store.Threads(t.Context())
	require.NoError(t, err)
	require.Len(t, ids, 1)
	saved, err := store.Load(t.Context(), ids[0])
	require.NoError(t, err)
	require.Empty(t, saved.Journal)
	purpose := regexp.MustCompile(`"head_sha":"[0-9a-f]+","digest":"([0-9a-f]{12})`).FindSubmatch(saved.Snapshot)
	require.NotNil(t, purpose, "%s", saved.Snapshot)
	left := ids[0] + "~again-0123456789ab-" + string(purpose[1])
	require.NoError(t, store.Save(t.Context(), left, saved.Snapshot)) // it was killed before it removed this
	paid := s.model.Calls()
	for _, want := range []bool{true, false} {
		again := exited(t, implement("--no-input", "--again", "--store", dir))
		require.Zero(t, again.Code, again.Stderr)
		require.Contains(t, again.Stdout+again.Stderr, "Parked.")
		require.Equal(t, want, s.model.Calls() == paid)
	}
}
