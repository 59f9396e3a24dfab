package reviewpr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
)

// TestOutcomes goes through the outcomes of a drafting run. KEPT
// is a draft that parks and calls nobody.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	broken := reviewer(func(context.Context, diff.File) (finding.FileReview, error) {
		return finding.FileReview{}, errors.New("502")
	})
	state := func(s finding.State) reviewer {
		return func(_ context.Context, f diff.File) (finding.FileReview, error) {
			return finding.FileReview{Path: f.Path, State: s, Reason: "r"}, nil
		}
	}
	for name, c := range map[string]struct {
		world *world
		end   string // "" where it parks
		calls bool
		said  string // in the reason
	}{
		"SKIPPED, not admitted": {&world{change: changed("a.go"), reason: "it is a draft"}, reviewpr.Skipped, false,
			"it is a draft"},
		"SKIPPED, empty": {newWorld(nil), reviewpr.Skipped, false, "the change is empty"},
		"SKIPPED, nothing for us": {newWorld(nil, "go.sum", "logo.png"), reviewpr.Skipped, false,
			"no changed file is one to review"},
		"CLEAN":               {newWorld(finds(""), "a.go", "go.sum"), reviewpr.Clean, false, ""},
		"KEPT":                {newWorld(finds(finding.Nit), "a.go"), "", false, ""},
		"PAUSED":              {newWorld(finds(finding.Minor), "a.go"), "", true, ""},
		"PAUSED, partly read": {newWorld(state(finding.Partly), "a.go"), "", true, ""},
		"FAILED, every file": {newWorld(broken, "a.go", "b.go"), reviewpr.Failed, true,
			"no file could be reviewed"},
		"FAILED, beside a skipped": {newWorld(state(finding.Failed), "a.go", "go.sum"), reviewpr.Failed, true,
			"no file could be reviewed"},
		"FAILED, a bad path alone": {newWorld(nil, "../a.go"), reviewpr.Failed, true, "no file could be reviewed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.world
			w.store = graph.NewMemory()
			r := w.run(t)
			require.Equal(t, c.end, r.End)
			require.Equal(t, c.end == "", r.Status == graph.Paused)
			require.Equal(t, c.calls, r.State.NeedsDecision())
			require.Equal(t, c.said, r.State.Reason)
			require.Empty(t, w.posted, "P1")
		})
	}
}

func TestAJobWithoutAStepSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go")
	id := w.run(t).Pending[0].ID
	flow, err := reviewpr.New(reviewpr.Steps{}, w.store)
	require.NoError(t, err)
	d := decision.Decision{Verdict: decision.Approve}
	_, err = flow.Resume(t.Context(), w.change.Thread, graph.Answer{Gate: id, Value: decision.Answer{Decision: d}})
	require.ErrorContains(t, err, "this job cannot post")
	require.Empty(t, w.posted)
	r, err := w.flow(t).Continue(t.Context(), w.change.Thread)
	require.NoError(t, err)
	require.Equal(t, reviewpr.Posted, r.End, "the decision stands, and a job that can post does")
}

func TestAStepsErrorEndsTheRunAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(""), "a.go")
	for name, steps := range map[string]reviewpr.Steps{
		"ingest": {Ingest: func(context.Context) (ingest.Change, error) {
			return ingest.Change{}, io.ErrUnexpectedEOF
		}},
		"admit": {Ingest: func(context.Context) (ingest.Change, error) { return w.change, nil },
			Admit: func(context.Context, ingest.Change) (string, error) { return "", io.ErrUnexpectedEOF }},
	} {
		flow, err := reviewpr.New(steps, w.store)
		require.NoError(t, err)
		_, err = flow.Run(t.Context(), w.change.Thread, w.draft())
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
	require.Equal(t, reviewpr.Clean, w.run(t).End)
}

func TestTheGraphReadsLikeThePicture(t *testing.T) {
	t.Parallel()
	drawn := newWorld(nil).flow(t).Mermaid()
	source, err := os.ReadFile("reviewpr.go")
	require.NoError(t, err)
	course := strings.Split(regexp.MustCompile(`(?m)^//\s(ingest .*)`).FindStringSubmatch(string(source))[1], " → ")
	for i, step := range course[1:] {
		from, _, _ := strings.Cut(course[i], " ")
		to, _, _ := strings.Cut(step, " ")
		require.Regexp(t, "n_"+from+` -[.-]+>(\|each\|)? n_`+to, drawn, "the picture above the package")
	}
	for _, end := range []string{reviewpr.Skipped, reviewpr.Clean, reviewpr.Failed, reviewpr.Posted, reviewpr.Aborted} {
		require.Contains(t, drawn, fmt.Sprintf("([%s])", end))
	}
}
