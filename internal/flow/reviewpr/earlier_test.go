package reviewpr_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/handofftest"
	"github.com/org/pr-review-action/internal/pull"
)

// drafted is a draft by a run, at a head.
func drafted(t *testing.T, run int64, head string, p checkpoint.Protection) checkpoint.Draft {
	t.Helper()
	w := after(t, finished(t), head, map[string]int{})
	w.paid = reviewpr.Paid{}
	facts := w.draft()
	facts.Draft.RunID = run
	flow := w.flow(t)
	_, err := flow.Run(t.Context(), w.change.Thread, facts)
	require.NoError(t, err)
	packed, err := reviewpr.Subject().Pack(t.Context(), flow, w.store, w.change.Thread, p)
	require.NoError(t, err)
	return packed
}

func finished(t *testing.T) *world {
	t.Helper()
	w := newWorld(finds(finding.Major), "a.go", "b.go")
	w.run(t)
	return w
}

// trail is where earlier results may lie; it notes what was read.
type trail struct {
	handoff.Origin
	Candidates []handoff.Candidate
	read       []string
}

// resume is one in which the draft is this run's, and to be believed.
func resume(p checkpoint.Draft) *trail {
	const path = ".github/workflows/pr-review.yml"
	tr := &trail{}
	tr.Candidates = []handoff.Candidate{tr.candidate(reviewpr.Names.Draft(checkpoint.Subject{Number: 42}, p.Code), 5,
		p.Zip)}
	tr.Origin = handoff.Origin{Names: reviewpr.Names,
		Subject: reviewpr.PullRequest(ref, 7, ""), Workflow: path, Branch: "main", Run: 5, Now: made.Add(time.Minute),
		Thread: func(head string) string { return pull.ThreadID(ref, "", head) },
		RunFacts: func(_ context.Context, run int64) (checkpoint.Run, error) {
			tr.read = append(tr.read, "run")
			return checkpoint.Run{Run: github.Run{ID: run, Path: path, Event: "pull_request_target", RepoID: 7,
				HeadRepoID: 99}}, nil
		},
	}
	return tr
}

func (tr *trail) candidate(name string, run int64, zip []byte) handoff.Candidate {
	return handoff.Candidate{
		Artifact: github.Artifact{Name: name, Size: int64(len(zip)), RepositoryID: 7, RunID: run},
		Fetch:    func(context.Context) ([]byte, error) { tr.read = append(tr.read, "zip"); return zip, nil },
	}
}

func (tr *trail) earlier(t *testing.T, paid *reviewpr.Paid, thread string) []error {
	t.Helper()
	return tr.Earlier(t.Context(), tr.Candidates, paid.Take(thread, false, false))
}

// taken runs again with what tr finds of earlier runs, and says what was reused
// and what was left out.
func taken(t *testing.T, tr *trail) (reused int, left []error) {
	t.Helper()
	var paid reviewpr.Paid
	w := newWorld(finds(finding.Major), "a.go", "b.go")
	left = tr.earlier(t, &paid, w.change.Thread)
	w.paid = paid
	return w.run(t).State.Reused, left
}

func TestP4_EarlierResultsAreTakenFromWhereTheyCanBeTrusted(t *testing.T) {
	t.Parallel()
	const other = int64(6)
	none, seal := checkpoint.Protection{}, handofftest.Sealed(t)
	encrypt := checkpoint.Protection{Trust: checkpoint.TrustEncrypt, Key: seal.Key}
	moved := strings.Repeat("ef", 20)
	for name, c := range map[string]struct {
		draft  checkpoint.Draft
		by     int64 // the run that stored it
		with   checkpoint.Protection
		change func(*trail)
		want   bool
	}{
		"this run's":                 {draft: drafted(t, 5, head, none), by: 5, with: none, want: true},
		"this run's, sealed":         {draft: drafted(t, 5, head, seal), by: 5, with: seal, want: true},
		"this run's, encrypted":      {draft: drafted(t, 5, head, encrypt), by: 5, with: encrypt, want: true},
		"another run's, sealed":      {draft: drafted(t, other, head, seal), by: other, with: seal, want: true},
		"another commit's, sealed":   {draft: drafted(t, other, moved, seal), by: other, with: seal, want: true},
		"T19 another run's, no seal": {draft: drafted(t, other, head, none), by: other, with: none},
		"T19 no run is under way": {draft: drafted(t, 5, head, none), by: 5, with: none, change: func(tr *trail) {
			tr.Run = 0
		}},
		"T19 from a folder, no seal":    {draft: drafted(t, 5, head, none), by: 0, with: none},
		"T21 no seal, and one demanded": {draft: drafted(t, other, head, none), by: other, with: seal},
		"T21 this run's, seal demanded": {draft: drafted(t, 5, head, none), by: 5, with: seal},
		"T38 a seal without a key": {draft: drafted(t, other, head, seal), by: other,
			with: checkpoint.Protection{Trust: checkpoint.TrustSeal}},
		"encrypted, and no key":         {draft: drafted(t, 5, head, encrypt), by: 5, with: none},
		"sealed, stored by another run": {draft: drafted(t, 5, head, seal), by: other, with: seal},
		"T19 another workflow's": {draft: drafted(t, 5, head, none), by: 5, with: none, change: func(tr *trail) {
			tr.Workflow = "other.yml"
		}},
		"T19 another repository's": {draft: drafted(t, 5, head, none), by: 5, with: none, change: func(tr *trail) {
			tr.Subject.RepositoryID = 8
		}},
		"T19 another pull request's": {draft: drafted(t, 5, head, seal), by: 5, with: seal, change: func(tr *trail) {
			tr.Subject.Number = 43
		}},
		"renamed to this pull request's": {draft: drafted(t, 5, head, seal), by: 5, with: seal,
			change: func(tr *trail) {
				tr.Subject.Number = 43
				rename(tr, "pr-review-43-")
			}},
		"another instance's": {draft: drafted(t, 5, head, seal), by: 5, with: seal, change: func(tr *trail) {
			tr.Subject.Instance = "docs"
		}},
		"T20 other content": {draft: drafted(t, 5, head, none), by: 5, with: none, change: func(tr *trail) {
			recode(tr)
		}},
		"expired": {draft: drafted(t, 5, head, none), by: 5, with: none, change: func(tr *trail) {
			tr.Candidates[0].Expired = true
		}},
		"unreadable": {draft: drafted(t, 5, head, none), by: 5, with: none, change: func(tr *trail) {
			tr.Candidates[0].Fetch = func(context.Context) ([]byte, error) { return nil, fmt.Errorf("502") }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := resume(c.draft)
			tr.Protection, tr.Run = c.with, 5
			tr.Candidates[0].RunID = c.by
			if c.change != nil {
				c.change(tr)
			}
			reused, left := taken(t, tr)
			require.Equal(t, c.want, reused == 2)
			require.Equal(t, c.want, len(left) == 0, "%v", left)
			if !c.want {
				require.ErrorContains(t, left[0], tr.Candidates[0].Name)
			}
		})
	}
}

// rename gives the candidate another name with as much of its code as fits.
func rename(tr *trail, start string) {
	found := &tr.Candidates[0].Artifact
	found.Name = start + found.Name[len(start):]
}

// recode gives the candidate the name of another content.
func recode(tr *trail) {
	other := "0"
	if strings.HasPrefix(tr.Candidates[0].Name, "pr-review-42-0") {
		other = "1"
	}
	rename(tr, "pr-review-42-"+other)
}

func TestP4_EarlierTakesPartialCheckpointsToo(t *testing.T) {
	t.Parallel()
	w := finished(t)
	saved, err := w.store.Load(t.Context(), w.change.Thread)
	require.NoError(t, err)
	for _, p := range []checkpoint.Protection{{}, handofftest.Sealed(t)} {
		packed, err := reviewpr.PackPartial(saved, 3, p)
		require.NoError(t, err)
		tr := resume(packed)
		tr.Protection = p
		tr.Candidates[0].Name = reviewpr.Names.Partial(checkpoint.Subject{Number: 42}, 3, packed.Digest)
		reused, left := taken(t, tr)
		require.Empty(t, left)
		require.Equal(t, 2, reused)
	}
	_, err = reviewpr.PackPartial(graph.Saved{Snapshot: []byte("{}")}, 1, checkpoint.Protection{})
	require.ErrorIs(t, err, graph.ErrSnapshot)
}

func TestEarlierDoesNotFetchWhatIsNamedOtherwise(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*trail){
		func(tr *trail) { tr.Subject.Number = 43 }, func(tr *trail) { tr.Subject.Instance = "docs" },
		func(tr *trail) { tr.Candidates[0].Name = "coverage" }, func(tr *trail) { tr.Candidates[0].RunID = 6 },
	} {
		tr := resume(packed(t))
		change(tr)
		require.Len(t, tr.earlier(t, new(reviewpr.Paid), ""), 1)
		require.Empty(t, tr.read)
	}
}

func TestEarlierLooksAtTwentyCandidates(t *testing.T) {
	t.Parallel()
	tr := resume(packed(t))
	good := tr.Candidates[0]
	tr.Candidates = nil
	for range 25 {
		tr.Candidates = append(tr.Candidates, tr.candidate(good.Name, 5, []byte("planted")))
	}
	left := tr.earlier(t, new(reviewpr.Paid), "")
	require.Len(t, left, 20)
	fetched := slices.DeleteFunc(slices.Clone(tr.read), func(source string) bool { return source != "zip" })
	require.Len(t, fetched, 20)
}

// TestT19_PlantedNamesDoNotCrowdOutResults has fifty artifacts that are not ours
// stand in front of the one that is.
func TestT19_PlantedNamesDoNotCrowdOutResults(t *testing.T) {
	t.Parallel()
	p := handofftest.Sealed(t)
	for name, plant := range map[string]func(*handoff.Name, *handoff.Candidate){
		"of a fork's run":          func(_ *handoff.Name, c *handoff.Candidate) { c.RunID = 6 },
		"of another pull request":  func(n *handoff.Name, _ *handoff.Candidate) { n.Number = 43 },
		"of another instance":      func(n *handoff.Name, _ *handoff.Candidate) { n.Instance = "docs" },
		"of no draft, by its name": func(n *handoff.Name, _ *handoff.Candidate) { n.Code = "latest" },
	} {
		tr := resume(drafted(t, 5, head, p))
		tr.Protection = p
		tr.RunFacts = forked(tr.RunFacts, 6)
		ours := tr.Candidates[0]
		planted, named := tr.candidate("", 5, []byte("planted")),
			handoff.Name{Number: 42, Code: ours.Name[len(ours.Name)-16:]}
		plant(&named, &planted)
		planted.Name = reviewpr.Names.String(named)
		tr.Candidates = append(slices.Repeat([]handoff.Candidate{planted}, 50), ours)
		reused, _ := taken(t, tr)
		require.Equal(t, 2, reused, name)
	}
}

// forked says of one run that it is a fork's, of another workflow.
func forked(facts func(context.Context, int64) (checkpoint.Run, error),
	fork int64) func(context.Context, int64) (checkpoint.Run, error) {
	return func(ctx context.Context, run int64) (checkpoint.Run, error) {
		if run == fork {
			return checkpoint.Run{Run: github.Run{ID: run, Path: ".github/workflows/ci.yml", Event: "pull_request",
				RepoID: 7, HeadRepoID: 99}}, nil
		}
		return facts(ctx, run)
	}
}

// TestEarlierLooksAtTwoHundredCandidates holds the requests that planted names
// cost: each has its run asked for.
func TestEarlierLooksAtTwoHundredCandidates(t *testing.T) {
	t.Parallel()
	tr := resume(packed(t))
	tr.Candidates = slices.Repeat([]handoff.Candidate{tr.candidate("coverage", 5, nil)}, 250)
	require.Len(t, tr.earlier(t, new(reviewpr.Paid), ""), 200)
}
