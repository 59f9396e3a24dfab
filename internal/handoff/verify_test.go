package handoff_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/handofftest"
	"github.com/org/pr-review-action/internal/problem"
)

// trail is a resume whose sources note that they were read.
type trail struct {
	handoff.Resume
	Candidates []handoff.Candidate
	read       []string
}

func (tr *trail) verify(t *testing.T) (checkpoint.Draft, []string, error) {
	t.Helper()
	return tr.Verify(t.Context(), tr.Candidates)
}

var made = time.Date(2026, 11, 21, 14, 10, 0, 0, time.UTC)

// about is the subject of the drafts here, at no head.
func about() checkpoint.Subject {
	return checkpoint.Subject{Kind: "note", Repository: "o/r", RepositoryID: 7, Number: 42}
}

func packed(t *testing.T) checkpoint.Draft { return packedUnder(t, checkpoint.Protection{}) }

func packedUnder(t *testing.T, protection checkpoint.Protection) checkpoint.Draft {
	t.Helper()
	head := strings.Repeat("ab", 20)
	m := checkpoint.Manifest{
		Thread: "o/r#42:" + head, Subject: about(), RunID: 5, Environment: "approvals", Outcome: "PAUSED",
		ToolVersion: "1", ConfigFingerprint: "configured", PromptFingerprint: "prompted",
		CreatedAt: made, ExpiresAt: made.Add(time.Hour), Graph: checkpoint.Graph{Name: "notes", Version: 1},
		GateID: "gate",
	}
	m.Subject.Head, m.Subject.Digest = head, digest
	p, err := protection.Pack(m, []byte("{}"), checkpoint.Shown{Review: "text"})
	require.NoError(t, err)
	return p
}

// resume is one that passes every check for an unsealed draft of route A.
func resume(p checkpoint.Draft) *trail {
	const path = ".github/workflows/pr-review.yml"
	name := handoff.Names("pr-review-").Draft(checkpoint.Subject{Number: 42}, p.Code)
	tr := &trail{}
	tr.Candidates = []handoff.Candidate{tr.candidate(name, 5, p.Zip)}
	origin := handoff.Origin{
		Names:   "pr-review-",
		Subject: about(), Thread: func(head string) string {
			return "o/r#42:" + head
		}, Workflow: path, Branch: "main", Run: 5, Now: made.Add(time.Minute),
		RunFacts: func(_ context.Context, run int64) (checkpoint.Run, error) {
			tr.read = append(tr.read, "run")
			return checkpoint.Run{Run: github.Run{ID: run, Path: path, Event: "pull_request_target", RepoID: 7,
				HeadRepoID: 99}}, nil
		},
	}
	tr.Resume = handoff.Resume{
		Origin: origin, Graph: "notes", Version: 1, Name: name, Shown: p.Digest,
		Unmoved: func(context.Context, checkpoint.Draft) error {
			tr.read = append(tr.read, "subject")
			return nil
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

func TestVerifyReadsItsSourcesInTheOrderOfTheChecks(t *testing.T) {
	t.Parallel()
	p := packed(t)
	tr := resume(p)
	opened, _, err := tr.verify(t)
	require.NoError(t, err)
	require.Equal(t, p.Digest, opened.Digest)
	require.Equal(t, []string{"zip", "run", "subject"}, tr.read)
	tr.RunFacts = func(context.Context, int64) (checkpoint.Run, error) {
		return checkpoint.Run{Run: github.Run{ID: 5, Path: tr.Workflow, Event: "workflow_dispatch", RepoID: 7,
			HeadRepoID: 7, HeadBranch: "main"}, OnDefault: true}, nil
	}
	_, _, err = tr.verify(t)
	require.NoError(t, err, "a dispatch of the default branch")
}

func TestAFailedCheckLeavesLaterSourcesUntouched(t *testing.T) {
	t.Parallel()
	p := packed(t)
	// repacked is a draft whose manifest was changed and whose digest was handed over with it.
	repacked := func(change func(*checkpoint.Manifest)) func(*trail) {
		return func(tr *trail) {
			opened, err := handofftest.Open(p.Zip)
			require.NoError(t, err)
			change(&opened.Manifest)
			other, err := checkpoint.Protection{}.Pack(opened.Manifest, opened.Snapshot, opened.Shown)
			require.NoError(t, err)
			tr.Candidates[0] = tr.candidate(tr.Name, 5, other.Zip)
			tr.Shown = other.Digest
		}
	}
	moved := func(tr *trail) {
		tr.Unmoved = func(context.Context, checkpoint.Draft) error {
			tr.read = append(tr.read, "subject")
			return problem.Refuse(9, "it moved", "draft again")
		}
	}
	ran := func(change func(*checkpoint.Run)) func(*trail) {
		return func(tr *trail) {
			facts := tr.RunFacts
			tr.RunFacts = func(ctx context.Context, run int64) (checkpoint.Run, error) {
				f, err := facts(ctx, run)
				change(&f)
				return f, err
			}
		}
	}
	for name, c := range map[string]struct {
		check  int
		read   string
		change func(*trail)
	}{
		"1 none":                   {1, "", func(tr *trail) { tr.Candidates = nil }},
		"1 expired artifact":       {1, "", func(tr *trail) { tr.Candidates[0].Expired = true }},
		"1 another name":           {1, "", func(tr *trail) { tr.Candidates[0].Name += "x" }},
		"1 T19 another repository": {1, "", func(tr *trail) { tr.Candidates[0].RepositoryID = 8 }},
		"2 T20 swapped": {2, "zip", func(tr *trail) {
			tr.Candidates[0] = tr.candidate(tr.Name, 5, append([]byte("x"), p.Zip...))
		}},
		"2 nothing handed over": {2, "zip", func(tr *trail) { tr.Shown = "" }},
		"3 T22 no zip": {3, "zip", func(tr *trail) {
			tr.Candidates[0] = tr.candidate(tr.Name, 5, []byte("PK"))
			tr.Shown = checkpoint.Digest([]byte("PK"))
		}},
		"4 T19 another workflow": {4, "zip run", ran(func(f *checkpoint.Run) {
			f.Path = ".github/workflows/evil.yml"
		})},
		"4 T19 a fork's run": {4, "zip run", ran(func(f *checkpoint.Run) { f.Event = "pull_request" })},
		"4 T19 a dispatch of a branch": {4, "zip run", ran(func(f *checkpoint.Run) {
			f.Event, f.HeadBranch, f.HeadRepoID, f.OnDefault = "workflow_dispatch", "feature", 7, true
		})},
		"4 T19 another run":      {4, "zip run", func(tr *trail) { tr.Candidates[0].RunID = 6 }},
		"4 a run that it denies": {4, "zip run", func(tr *trail) { tr.Run = 6 }},
		"2 T20 GitHub says otherwise": {2, "", func(tr *trail) {
			tr.Candidates[0].Digest = "sha256:" + strings.Repeat("0", 64)
		}},
		"2 T20 swapped on the way": {2, "zip", func(tr *trail) {
			tr.Shown, tr.Candidates[0].Digest = p.Code, "sha256:"+p.Code+strings.Repeat("0", 48)
		}},
		"4 before 5": {4, "zip run", func(tr *trail) {
			tr.Run, tr.Protection = 6, handofftest.Sealed(t)
		}},
		"4 the manifest's, by digest": {4, "zip run", repacked(func(m *checkpoint.Manifest) { m.RunID = 6 })},
		"4 the manifest's run": {4, "zip run", func(tr *trail) {
			repacked(func(m *checkpoint.Manifest) { m.RunID = 6 })(tr)
			tr.Run = 0
		}},
		"5 T21 no seal": {5, "zip run", func(tr *trail) { tr.Protection = handofftest.Sealed(t) }},
		"5 T38 no key":  {5, "zip run", func(tr *trail) { tr.Protection.Trust = checkpoint.TrustSeal }},
		"5 before 6": {5, "zip run", func(tr *trail) {
			repacked(func(m *checkpoint.Manifest) { m.Graph.Name = "reviewpr" })(tr)
			tr.Protection = handofftest.Sealed(t)
		}},
		"6 a run under way": {6, "zip run", repacked(func(m *checkpoint.Manifest) {
			m.Partial, m.GateID, m.Outcome = 1, "", ""
		})},
		"6 another graph":        {6, "zip run", repacked(func(m *checkpoint.Manifest) { m.Graph.Name = "reviewpr" })},
		"6 another version":      {6, "zip run", repacked(func(m *checkpoint.Manifest) { m.Graph.Version++ })},
		"7 another number":       {7, "zip run", func(tr *trail) { tr.Subject.Number = 43 }},
		"7 another instance":     {7, "zip run", func(tr *trail) { tr.Subject.Instance = "docs" }},
		"7 another repository's": {7, "zip run", repacked(func(m *checkpoint.Manifest) { m.Subject.RepositoryID = 8 })},
		"8 another environment":  {8, "zip run", func(tr *trail) { tr.Settings.Environment = "anybody" }},
		"8 another trust":        {8, "zip run", func(tr *trail) { tr.Settings.Trust = checkpoint.TrustEncrypt }},
		"8 before 9":             {8, "zip run", func(tr *trail) { tr.Settings.Environment = "x"; moved(tr) }},
		"9 T24 moved":            {9, "zip run subject", moved},
		"9 before 10": {9, "zip run subject", func(tr *trail) {
			moved(tr)
			tr.Now = made.Add(2 * time.Hour)
		}},
		"10 EXPIRED": {10, "zip run subject", func(tr *trail) { tr.Now = made.Add(time.Hour + time.Second) }},
		"1 before all": {1, "", func(tr *trail) {
			tr.Candidates[0].Expired, tr.Shown, tr.Subject.Number = true, "", 43
		}},
		"2 before 3": {2, "zip", func(tr *trail) { tr.Candidates[0] = tr.candidate(tr.Name, 5, []byte("PK")) }},
	} {
		tr := resume(p)
		c.change(tr)
		_, _, err := tr.verify(t)
		var refusal *problem.Error
		require.ErrorAs(t, err, &refusal, name)
		require.Equal(t, c.check, refusal.Check, name)
		require.Equal(t, c.read, strings.Join(tr.read, " "), name)
		require.Equal(t, strings.Contains(name, "xpire") || c.check == 10 || name == "1 before all", refusal.Expired,
			name)
		require.Equal(t, "next", refusal.Rows[len(refusal.Rows)-1][0], "P12")
	}
}

func TestT19_APlantedArtifactOfTheSameNameDoesNotHideTheDraft(t *testing.T) {
	t.Parallel()
	p := packed(t)
	tr := resume(p)
	planted := tr.candidate(tr.Name, 9, []byte("planted"))
	fork := tr.candidate(tr.Name, 5, p.Zip)
	fork.RepositoryID = 8
	tr.Candidates = append([]handoff.Candidate{planted, fork}, tr.Candidates...)
	opened, _, err := tr.verify(t)
	require.NoError(t, err)
	require.Equal(t, p.Digest, opened.Digest)
	tr.Candidates = tr.Candidates[:2]
	_, _, err = tr.verify(t)
	var refusal *problem.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, 2, refusal.Check, "the newest one's refusal is told")
}

func TestVerifyTellsWhatChangedSinceTheDraft(t *testing.T) {
	t.Parallel()
	protection := handofftest.Sealed(t)
	tr := resume(packedUnder(t, protection))
	tr.Protection = protection
	tr.Settings = checkpoint.Settings{Trust: checkpoint.TrustSeal, Environment: "Approvals", ToolVersion: "2",
		PromptFingerprint: "other"}
	opened, changes, err := tr.verify(t)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	require.Equal(t, checkpoint.TrustSeal, opened.Manifest.Trust)

	tr.Protection = checkpoint.Protection{}
	tr.Settings.Trust = checkpoint.TrustDigest
	_, _, err = tr.verify(t)
	var refusal *problem.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, 8, refusal.Check, "a sealed draft is not decided without its key")
}

func TestADraftFromAPlaceWithoutRunsIsHeldToTheRunItNames(t *testing.T) {
	t.Parallel()
	p := packed(t)
	for run, check := range map[int64]int{5: 0, 0: 0, 6: 4} {
		tr := resume(p)
		tr.Candidates[0].RunID, tr.Run = 0, run
		_, _, err := tr.verify(t)
		require.Equal(t, []string{"zip", "run"}, tr.read[:2])
		var refusal *problem.Error
		if check == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, check, refusal.Check)
		}
	}
}

func TestOneUnreadableCandidateDoesNotHideTheDraft(t *testing.T) {
	t.Parallel()
	broken := errors.New("502")
	p := packed(t)
	tr := resume(p)
	unread := tr.candidate(tr.Name, 5, p.Zip)
	unread.Fetch = func(context.Context) ([]byte, error) { return nil, broken }
	planted := tr.candidate(tr.Name, 9, []byte("planted"))
	tr.Candidates = []handoff.Candidate{planted, unread, tr.Candidates[0]}
	opened, _, err := tr.verify(t)
	require.NoError(t, err)
	require.Equal(t, p.Digest, opened.Digest)
	tr.Shown = p.Code
	_, _, err = tr.verify(t)
	require.ErrorIs(t, err, broken, "under a code alone it may be another one (check 2)")
	tr.Shown, tr.Candidates = p.Digest, tr.Candidates[:2]
	_, _, err = tr.verify(t)
	require.ErrorIs(t, err, broken, "it may have been the draft")
}

func TestCheck2_UnderACodeAloneEveryCandidateIsOpened(t *testing.T) {
	t.Parallel()
	p := packed(t)
	for shown, opened := range map[string]int{p.Digest: 1, p.Code: 2} {
		tr := resume(p)
		tr.Shown, tr.Candidates = shown, append(tr.Candidates, tr.Candidates[0])
		_, _, err := tr.verify(t)
		require.NoError(t, err)
		require.Len(t, slices.DeleteFunc(tr.read, func(s string) bool { return s != "zip" }), opened)
	}
}

func TestASourceThatCannotBeReadIsNoRefusal(t *testing.T) {
	t.Parallel()
	broken := errors.New("502")
	p := packed(t)
	for name, change := range map[string]func(*trail){
		"zip": func(tr *trail) {
			tr.Candidates[0].Fetch = func(context.Context) ([]byte, error) { return nil, broken }
		},
		"run": func(tr *trail) {
			tr.RunFacts = func(context.Context, int64) (checkpoint.Run, error) {
				return checkpoint.Run{}, broken
			}
		},
		"subject": func(tr *trail) {
			tr.Unmoved = func(context.Context, checkpoint.Draft) error { return broken }
		},
	} {
		tr := resume(p)
		change(tr)
		tr.Candidates = append(tr.Candidates, tr.Candidates[0])
		opened, _, err := tr.verify(t)
		require.ErrorIs(t, err, broken, name)
		require.NotErrorAs(t, err, new(*problem.Error), name)
		require.Zero(t, opened.Manifest, name)
	}
}
