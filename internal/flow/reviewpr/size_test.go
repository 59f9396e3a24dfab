package reviewpr_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/testvolume"
)

// grown gives each file of a change a patch of so many added lines of a length.
func grown(c *ingest.Change, lines, length int) {
	for i := range c.Files {
		line := "\n+" + fmt.Sprintf("%-*d", length-1, i)
		c.Files[i].Patch = fmt.Sprintf("@@ -0,0 +1,%d @@", lines) + strings.Repeat(line, lines)
		c.Files[i].Additions = lines
	}
}

func stored(c ingest.Change) (size int) {
	for _, f := range c.Files {
		size += len(f.Patch) + strings.Count(f.Patch, "\n") + len(`""`)
	}
	return size
}

func TestADraftTakesLittleMoreThanItsState(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	w := newWorld(finds(finding.Major), many(2000)...)
	grown(&w.change, 50, 80)
	w.run(t)
	packed, err := reviewpr.Subject().Pack(t.Context(), w.flow(t), w.store, w.change.Thread, checkpoint.Protection{})
	require.NoError(t, err)
	saved, err := w.store.Load(t.Context(), w.change.Thread)
	require.NoError(t, err)
	s, err := graph.DecodeSnapshot(saved.Snapshot)
	require.NoError(t, err)
	state := 0
	for _, value := range s.Fields {
		state += len(value)
	}
	ratio := float64(len(packed.Zip)) / float64(state)
	t.Logf("zip %d bytes, state %d bytes, ratio %.3f", len(packed.Zip), state, ratio)
	require.Less(t, ratio, 1.3)
}

// It is on both sides of the border.
func TestADraftOfTheLargestChangeStillPacks(t *testing.T) {
	t.Parallel()
	if testvolume.Raced {
		t.Skip("left out under the race detector, where it takes minutes: nothing of it runs beside anything that " +
			"the other tests do not")
	}
	w := newWorld(finds(finding.Major), many(400)...)
	grown(&w.change, 125, 640)
	w.change.Files[7].Patch += strings.Repeat("x", ingest.MaxPatches-stored(w.change))
	require.Equal(t, ingest.MaxPatches, stored(w.change))
	r := w.run(t)
	require.Equal(t, map[string]int{"reviewed ": 399, "partly 64 KB of its changes were read": 1}, states(r.State),
		"at the border nothing is left out")
	require.Equal(t, w.change.Digest(), r.State.Draft.Subject.Digest)
	require.NoError(t, pack(t, w))

	w.store = graph.NewMemory()
	w.change.Files[9].Patch += "x"
	r = w.run(t)
	require.Equal(t, map[string]int{"reviewed ": 399, "skipped too_large": 1}, states(r.State))
	require.Equal(t, finding.TooLarge, r.State.Coverage()[7].Reason, "the largest goes")
	require.Contains(t, r.State.Shown(), "1 too large")
	require.True(t, r.State.NeedsDecision())
	require.Equal(t, w.change.Digest(), r.State.Draft.Subject.Digest, "the draft is about the whole diff")
	require.NoError(t, pack(t, w))
}

func pack(t *testing.T, w *world) error {
	t.Helper()
	_, err := reviewpr.Subject().Pack(t.Context(), w.flow(t), w.store, w.change.Thread, checkpoint.Protection{})
	return err
}

// It looks for what does not belong to those who can read an artifact. The
// change itself is theirs.
func TestT28_NoCredentialAndNoPromptIsInTheArtifact(t *testing.T) {
	t.Parallel()
	const key, token, ticket = "sk-planted-key-000000", "ghs_planted_token_000000", "PLANTED-TICKET words of a ticket"
	store := &mortal{Memory: graph.NewMemory(), at: 25, answered: map[string]bool{}}
	prompted := ""
	model := review.NewModel(review.Options{Review: spy{&prompted}})
	model.Once = graph.Once[review.Recorded]
	w := &world{change: twelve(), store: store}
	flow, err := reviewpr.New(reviewpr.Steps{
		Reviewer: failing{model, fmt.Errorf("Bearer %s %s %s", key, token, ticket)},
		Ingest:   func(context.Context) (ingest.Change, error) { return w.change, nil },
	}, store)
	require.NoError(t, err)
	_, err = flow.Run(t.Context(), w.change.Thread, w.draft())
	require.ErrorIs(t, err, errKilled)
	saved, err := store.Load(t.Context(), w.change.Thread)
	require.NoError(t, err)
	require.NotEmpty(t, store.answered)
	partial, err := reviewpr.PackPartial(saved, 1, checkpoint.Protection{})
	require.NoError(t, err)
	store.at = 0
	_, err = flow.Continue(t.Context(), w.change.Thread)
	require.NoError(t, err)
	draft, err := reviewpr.Subject().Pack(t.Context(), flow, store, w.change.Thread, checkpoint.Protection{})
	require.NoError(t, err)
	require.NotEmpty(t, prompted)
	for _, zip := range [][]byte{draft.Zip, partial.Zip} {
		require.Contains(t, string(zip), "f0-1.go", "the search sees what is there")
		for _, secret := range []string{key, token, ticket, "PLANTED-TICKET"} {
			require.NotContains(t, string(zip), secret)
		}
		for line := range strings.Lines(prompted) {
			if line = strings.TrimSpace(line); len(line) > 20 {
				require.NotContains(t, string(zip), line, "the system turn")
			}
		}
	}
}

// spy notes the system turn.
type spy struct{ system *string }

func (spy) Identity() string { return "spy" }

func (s spy) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	if strings.Contains(r.User, "f0-1.go") {
		*s.system = r.System
	}
	return scripted{}.Chat(ctx, r)
}

// failing breaks on one file with an error that must not get out.
type failing struct {
	*review.Model
	err error
}

func (r failing) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	if f.Path == "f1-2.go" {
		return finding.FileReview{}, r.err
	}
	return r.Model.Review(ctx, f)
}
