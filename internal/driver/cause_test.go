package driver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/settings"
)

// What made the reviewer fail on a file is a warning that names both; the stack of
// a panic is in the debug log, and with summary: counts no name is told.
func TestG13_AFailedFilesCauseIsAWarningAndItsStackADebugLog(t *testing.T) {
	t.Parallel()
	crash := &graph.PanicError{Value: "nil map", Stack: []byte("goroutine 7\ncode.go:12")}
	for name, c := range map[string]struct {
		environ []string
		mute    bool
		warned  string
		logged  string
	}{
		"by default": {nil, false, "a.go could not be reviewed: panic: nil map", ""},
		"with debug logging": {[]string{"GITHUB_ACTIONS=true", "RUNNER_DEBUG=1"}, false,
			"a.go could not be reviewed: panic: nil map", "::debug::goroutine 7\n::debug::code.go:12\n"},
		"at a terminal": {[]string{"RUNNER_DEBUG=1"}, false, "a.go could not be reviewed: panic: nil map",
			"goroutine 7\ncode.go:12\n"},
		"counts alone": {nil, true, "a file could not be reviewed: panic: nil map", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			a := NewFront(Process{Environ: append(c.environ, "OPENAI_API_KEY="), Stdout: &log, Stderr: &log})
			r, err := a.NewReviewer(settings.Defaults(), nil)
			require.NoError(t, err)
			r.Mute = c.mute
			r.Failed("a.go", crash)
			r.Failed("b.go", errors.New("later"))
			var warnings []string
			new(Report).explain(r, func(s string) { warnings = append(warnings, s) })
			require.Equal(t, []string{c.warned}, warnings)
			require.Equal(t, c.logged, log.String())
		})
	}
}

func TestARunThatHasReadNothingYetIsToldByItsThread(t *testing.T) {
	t.Parallel()
	const thread = "local/demo:47fd00b"
	store := graph.NewMemory()
	flow, err := reviewpr.New(reviewpr.Steps{Ingest: func(context.Context) (ingest.Change, error) {
		return ingest.Change{}, errors.New("no space left on device")
	}}, store)
	require.NoError(t, err)
	_, err = flow.Run(t.Context(), thread, reviewpr.State{})
	require.Error(t, err)
	r, err := Describe(t.Context(), flow, thread)
	require.NoError(t, err)
	require.Equal(t, thread, r.Thread)
}

// A fingerprint may have been posted twice: its finding is open as long as one of the threads is.
func TestAFindingIsClosedWhereAllOfItsThreadsAre(t *testing.T) {
	t.Parallel()
	for by, want := range map[[2]string]bool{{"maya", "lee"}: true, {"maya", ""}: false, {"", "lee"}: false} {
		var r Report
		r.CloseThreads([]finding.Earlier{{Fingerprint: "f", Fate: finding.WasPosted, Closed: by[0]},
			{Fingerprint: "f", Fate: finding.WasPosted, Closed: by[1]}})
		require.Equal(t, want, r.Closed["f"], by)
	}
}
