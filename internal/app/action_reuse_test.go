package app_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// anew begins another run of the review workflow, of any options.
func (s *stage) anew(o githubtest.RunOptions) *githubtest.Run {
	s.run.Finish("success")
	s.run = s.repo.AddRun(o)
	return s.run
}

func TestP4_ALaterCommitTakesTheFilesThatDidNotChange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trust string
		calls int
	}{
		"sealed":        {checkpoint.TrustSeal, 1},
		"encrypted":     {checkpoint.TrustEncrypt, 1},
		"without a key": {"", 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{trust: tc.trust})
			first := s.parked()
			before := s.reviews()
			s.pull.Push(s.pull.Tree().With(githubtest.Tree{"ops/run.sh": "#!/bin/sh\nrm -rf $1 # DEFECT: blocker: " +
				"Removes anything\n"}))
			s.anew(githubtest.RunOptions{})
			second := s.parked()
			require.Equal(t, tc.calls, s.reviews()-before, "%v", s.askedAbout())
			require.NotEqual(t, first.outputs["thread-id"], second.outputs["thread-id"])
			second.shows("Removes anything", "Moves money")
			s.approved("")
			s.postJob(first.digest()).start().is(3, "REFUSED")
			s.postJob(second.digest()).start().is(0, "POSTED")
			require.Contains(t, s.posted().Body, "Removes anything")
		})
	}
}

func TestP4_TheSameDiffAtANewHeadIsDraftedWithoutACall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trust string
		calls int
	}{"sealed": {checkpoint.TrustSeal, 0}, "without a key": {"", 3}} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{trust: tc.trust})
			first := s.parked()
			before := s.reviews()
			s.repo.Commit("main", "on", baseTree().With(githubtest.Tree{"y.go": "package y\n"}))
			s.pull.MergeBase()
			s.anew(githubtest.RunOptions{})
			second := s.parked()
			require.Equal(t, tc.calls, s.reviews()-before)
			require.Equal(t, "octo/demo#42:"+s.pull.HeadSHA(), second.outputs["thread-id"])
			require.Equal(t, s.opened(second).Manifest.Subject.Head, s.pull.HeadSHA())
			s.refused(s.decideJob(first.outputs["code"], "approve").start(), "has moved since this draft was made",
				"with the same diff")
			s.decideJob(second.outputs["code"], "approve").start().is(0, "POSTED")
			require.Equal(t, s.pull.HeadSHA(), s.posted().CommitID)
		})
	}
}

func TestP4_ReRunOfAFinishedDraftPaysNothing(t *testing.T) {
	t.Parallel()
	for name, trust := range map[string]string{"digest": "", "seal": checkpoint.TrustSeal,
		"encrypt": checkpoint.TrustEncrypt} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{trust: trust})
			first := s.parked()
			s.run.Finish("failure")
			s.run.Rerun()
			second := s.parked()
			require.Equal(t, 3, s.reviews())
			require.Equal(t, first.outputs["findings"], second.outputs["findings"])
		})
	}
}

// TestT19_T20_PlantedResultsAreNotTaken has a run of somebody else's draft the
// same commit with a model that overlooks nearly everything: its results have
// the very keys of ours.
func TestT19_T20_PlantedResultsAreNotTaken(t *testing.T) {
	t.Parallel()
	keyed := func(key string) func(*job) *job { return func(j *job) *job { return j.with("checkpoint-key", key) } }
	for name, tc := range map[string]struct {
		trust string
		by    func(*stage) githubtest.RunOptions
		their func(*job) *job
		taken bool
	}{
		"another run of the workflow": {"", func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{}
		}, nil, false},
		"another workflow": {"", func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{Path: ".github/workflows/ci.yml"}
		}, nil, false},
		"a fork": {"", func(s *stage) githubtest.RunOptions {
			return githubtest.RunOptions{Event: "pull_request", HeadRepo: s.fork}
		}, nil, false},
		"the workflow, under another key": {"seal", func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{}
		}, keyed(anotherKey), false},
		"the workflow, without a seal": {"seal", func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{}
		}, func(j *job) *job { return j.with("trust", "digest") }, false},
		"another workflow that has the key": {"seal", func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{Path: ".github/workflows/ci.yml"}
		}, nil, false},
		"the workflow itself, which is ours": {"seal", func(*stage) githubtest.RunOptions {
			return githubtest.RunOptions{}
		}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			var blind atomic.Bool
			s := setUp(t, scene{fork: true, author: "sam", trust: tc.trust,
				script: func(r llmtest.Request) llmtest.Answer {
					if blind.Load() && r.Path != "web/cart.ts" {
						return llmtest.Findings()
					}
					return critic(r)
				}})
			ours := s.run
			s.run = s.repo.AddRun(tc.by(s))
			blind.Store(true)
			planting := s.draftJob().with("environment", "")
			if tc.their != nil {
				planting = tc.their(planting)
			}
			planted := planting.start().is(0, "PAUSED")
			require.Equal(t, "2", planted.outputs["findings"])

			blind.Store(false)
			s.run = ours
			drafted := s.parked()
			require.Equal(t, tc.taken, s.reviews() == 3, "%v", s.askedAbout())
			require.Equal(t, tc.taken, drafted.outputs["findings"] == "2")
		})
	}
}

func TestT19_AFoldersResultsAreNotTakenWithoutASeal(t *testing.T) {
	var blind atomic.Bool
	s := setUp(t, scene{script: func(r llmtest.Request) llmtest.Answer {
		if blind.Load() && r.Path != "web/cart.ts" {
			return llmtest.Findings()
		}
		return critic(r)
	}})
	dir := t.TempDir()
	blind.Store(true)
	require.Equal(t, "2", s.draftJob().inFolder(dir).start().is(0, "PAUSED").outputs["findings"])
	blind.Store(false)
	drafted := s.draftJob().inFolder(dir).start().is(0, "PAUSED").says("nothing vouches for it")
	require.Equal(t, "5", drafted.outputs["findings"])
}

func TestT20_AResultPlantedInTheSameRunIsNotTakenUnderASeal(t *testing.T) {
	s := setUp(t, scene{trust: checkpoint.TrustSeal})
	o := s.opened(s.parked())
	s.run.Finish("failure")
	s.run.RerunAll()
	forged, err := under(t, checkpoint.TrustSeal, anotherKey).Pack(o.Manifest, o.Snapshot, o.Shown)
	require.NoError(t, err)
	s.stored(forged.Zip)
	s.parked().says("earlier results in", "the key is not the one that sealed the draft")
	require.Equal(t, 6, s.reviews())
}
