package handoff_test

import (
	"cmp"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/handofftest"
)

// taken is a carrier whose names are all in use. It lists items.
type taken struct {
	artifactstore.Carrier
	items []artifactstore.Item
}

func (taken) Put(context.Context, string, []byte) error { return artifact.ErrExists }

func (t taken) List(context.Context) ([]artifactstore.Item, error) { return t.items, nil }

// TestP5_ATakenNameIsADecisionOnRecordOnlyIfItIsListed has the name taken by an upload that never ended: without a
// record the posted review would not be known as ours, and be posted again.
func TestP5_ATakenNameIsADecisionOnRecordOnlyIfItIsListed(t *testing.T) {
	t.Parallel()
	record := yes()
	for name, c := range map[string]struct {
		listed string
		want   error
	}{
		"an earlier attempt stored it": {"pr-review-decision-" + record.Code, nil},
		"an upload never ended":        {"pr-review-decision-58d1e0c2a9b7f346", artifact.ErrExists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := taken{items: []artifactstore.Item{{Artifact: github.Artifact{Name: c.listed}}}}
			all := handoff.Artifacts{Runs: &handoff.Runs{Names: "pr-review-"}, Own: own}
			require.ErrorIs(t, all.Put(t.Context(), record), c.want)
		})
	}
}

func TestADecisionThatCannotBeStoredIsTold(t *testing.T) {
	t.Parallel()
	told := ""
	all := handoff.Artifacts{Warn: func(what string, _ error) { told = what }}
	require.NoError(t, all.Put(t.Context(), yes()))
	require.Equal(t, "the decision could not be put on record", told)
}

// approved returns the decisions of a repository that has an approval on record.
func approved(t *testing.T) (*githubtest.Server, handoff.Artifacts) {
	hub := githubtest.New(t)
	repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
	repo.AddRun(githubtest.RunOptions{}).AddArtifact("pr-review-decision-"+yes().Code, onRecord(t, yes()))
	return hub, handoff.Artifacts{Runs: reading(t, hub, repo), Subject: checkpoint.Subject{RepositoryID: repo.ID},
		Branch: "main", Out: io.Discard}
}

// A decision that is overlooked would be taken twice, and differently.
func TestCheck13_DecisionsThatCannotBeReadAreNotNone(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/repos/o/r/actions/artifacts":       "earlier decisions cannot be read",
		"/repos/o/r/actions/runs/*":          "the run that stored a decision cannot be read",
		"/repos/o/r/actions/artifacts/*/zip": "403",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			hub, all := approved(t)
			hub.Fail("GET", path, githubtest.Fault{Status: 403})
			_, err := all.Claims(t.Context(), yes().Code)
			require.ErrorContains(t, err, want)
			hub.ClearFaults()
			claims, err := all.Claims(t.Context(), yes().Code)
			require.NoError(t, err)
			require.Len(t, claims, 1)
		})
	}
}

func TestCheck13_ADecisionThatIsDeletedWhileItIsReadIsNone(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		path   string
		status int
	}{
		"its run": {"/repos/o/r/actions/runs/*", 404},
		"itself":  {"/repos/o/r/actions/artifacts/*/zip", 404},
		"expired": {"/repos/o/r/actions/artifacts/*/zip", 410},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			hub, all := approved(t)
			hub.Fail("GET", c.path, githubtest.Fault{Status: c.status})
			claims, err := all.Claims(t.Context(), yes().Code)
			require.NoError(t, err)
			require.Empty(t, claims)
		})
	}
}

// What was decided on another draft of the pull request may have been encrypted, before its trust was changed.
func TestCheck13_ADecisionOnAnotherDraftThatCannotBeReadStopsNothing(t *testing.T) {
	t.Parallel()
	const another = "58d1e0c2a9b7f346"
	for code, want := range map[string]string{another: "", yes().Code: "cannot be read, nothing was posted"} {
		hub := githubtest.New(t)
		repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
		run := repo.AddRun(githubtest.RunOptions{})
		run.AddArtifact("pr-review-42-"+another, onRecord(t, yes()))
		run.AddArtifact("pr-review-decision-"+code, []byte("age-encryption.org/v1"))
		all := handoff.Artifacts{Runs: reading(t, hub, repo), Branch: "main", Out: io.Discard,
			Subject: checkpoint.Subject{RepositoryID: repo.ID, Number: 42}}
		_, err := all.Claims(t.Context(), yes().Code)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

// TestCheck13_DecisionsOnAllDraftsOfASubjectCompete has them stored by one run, which then ends.
func TestCheck13_DecisionsOnAllDraftsOfASubjectCompete(t *testing.T) {
	t.Parallel()
	hub := githubtest.New(t)
	repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
	run := repo.AddRun(githubtest.RunOptions{})
	theirs := repo.AddRun(githubtest.RunOptions{Path: ".github/workflows/x.yml"})
	on := func(digit string) decision.Record {
		r := no()
		r.Digest, r.Code = strings.Repeat(digit, 64), strings.Repeat(digit, 16)
		return r
	}
	mine := yes()
	run.AddArtifact("pr-review-decision-"+mine.Code, onRecord(t, mine))
	theirs.AddArtifact("pr-review-decision-"+mine.Code, onRecord(t, no()))
	for digit, draft := range map[string]string{"a": "42-", "b": "42-partial-1-", "c": "43-", "d": "42-docs-",
		"e": "decision-"} {
		run.AddArtifact("pr-review-"+draft+on(digit).Code, nil)
		run.AddArtifact("pr-review-decision-"+on(digit).Code, onRecord(t, on(digit)))
	}
	all := handoff.Artifacts{Runs: reading(t, hub, repo), Branch: "main", Out: io.Discard,
		Subject: checkpoint.Subject{RepositoryID: repo.ID, Number: 42}}
	for _, live := range []bool{true, false} {
		claims, err := all.Claims(t.Context(), mine.Code)
		require.NoError(t, err)
		var codes []string
		for _, c := range claims {
			codes = append(codes, c.Record.Code)
			require.Equal(t, []bool{live, !live}, []bool{c.Live, c.Done})
		}
		require.ElementsMatch(t, []string{mine.Code, on("a").Code, on("b").Code}, codes)
		run.Finish("success")
	}
	hub.Advance(200 * 24 * time.Hour)
	claims, err := all.Claims(t.Context(), mine.Code)
	require.NoError(t, err)
	require.Empty(t, claims, "they have expired")
}

// stored is a carrier of one artifact.
type stored struct {
	artifactstore.Carrier
	zip []byte
	err error
}

func (s stored) Get(context.Context, artifactstore.Item, int64) ([]byte, error) { return s.zip, s.err }

// Without a key anybody's artifact would say that a commit is not to be reviewed.
func TestCheck13_OnlyASealedRejectionHoldsForItsThread(t *testing.T) {
	t.Parallel()
	sealed, thread := handofftest.Sealed(t), "o/r#42:ab"
	decided, draft := "pr-review-decision-"+yes().Code, "pr-review-42-"+yes().Code
	another := no()
	another.Thread = "o/r#42:cd"
	for name, tc := range map[string]struct {
		made, read checkpoint.Protection
		record     decision.Record
		name       string
		drafts     []string // listed next to it
		unread     error
		over       bool // the record does not hold
		want       bool
	}{
		"sealed":                 {made: sealed, read: sealed, record: no(), want: true},
		"without a key":          {record: no()},
		"without a seal":         {read: sealed, record: no()},
		"an approval":            {made: sealed, read: sealed, record: yes()},
		"a withdrawal":           {made: sealed, read: sealed, record: no().Withdraws("0123456789abcdef")},
		"no decision":            {made: sealed, read: sealed, record: no(), name: draft},
		"one that is gone":       {made: sealed, read: sealed, record: no(), unread: github.ErrExpired},
		"another thread's":       {made: sealed, read: sealed, record: another},
		"one that does not hold": {made: sealed, read: sealed, record: no(), over: true},
		"not read, since another pull request has the draft": {made: sealed, read: sealed, record: no(),
			drafts: []string{"pr-review-43-" + yes().Code}},
		"of a draft whose code another pull request claims": {made: sealed, read: sealed, record: no(),
			drafts: []string{"pr-review-43-" + yes().Code, draft}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.record.Thread, tc.record.At = cmp.Or(tc.record.Thread, thread), made
			tc.record.Via = cmp.Or(tc.record.Via, decision.ByDispatch)
			zip, err := tc.made.PackRecord(tc.record)
			require.NoError(t, err)
			all := handoff.Artifacts{Runs: &handoff.Runs{Names: "pr-review-"}, Protection: tc.read,
				Subject: checkpoint.Subject{Number: 42}}
			var found []handoff.Stored
			for _, n := range append(tc.drafts, cmp.Or(tc.name, decided)) {
				item := artifactstore.Item{Artifact: github.Artifact{Name: n}}
				found = append(found, handoff.Stored{Item: item, From: stored{zip: zip, err: tc.unread}})
			}
			holds := func(decision.Record) bool { return !tc.over }
			require.Equal(t, tc.want, all.Rejected(t.Context(), found, thread, holds))
		})
	}
}
