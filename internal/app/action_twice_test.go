package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

func TestP5_TheSameDecisionAgainReportsIt(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	url := s.posted().URL
	again := s.postJob(drafted.digest()).start().is(0, "POSTED")
	require.Equal(t, url, again.outputs["review-url"])
	byCode := s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
	require.Equal(t, url, byCode.outputs["review-url"])
	s.posted()
}

func TestCheck13_WhoDecidedFirstIsToldAndTheSecondIsNotOnRecord(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]string{"approve": "POSTED", "abort": "ABORTED"} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.draftJob().with("environment", "").start().is(0, "PAUSED")
			s.run.Finish("success")
			first := s.decideJob(drafted.outputs["code"], name)
			first.start().is(0, decide).shows("by maya on")
			first.run.Finish("success")
			second := s.decideJob(drafted.outputs["code"], name).set("GITHUB_ACTOR",
				"sam").set("GITHUB_TRIGGERING_ACTOR", "sam")
			ended := second.start().is(0, decide).says("maya decided this draft before")
			ended.shows("by maya on")
			require.NotContains(t, ended.summary, "by sam")
			require.Empty(t, second.run.Artifacts(), "the second has decided nothing")
		})
	}
}

func TestT25_AnotherDecisionIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first, second func(*stage, ended) ended
		says          string
	}{
		"other findings": {
			func(s *stage, d ended) ended { s.approved(""); return s.postJob(d.digest()).start().is(0, "POSTED") },
			func(s *stage, d ended) ended {
				return s.decideJob(d.outputs["code"], "approve").with("commands", "/drop F1").start()
			},
			"already been decided differently",
		},
		"abort after approve": {
			func(s *stage, d ended) ended {
				return s.decideJob(d.outputs["code"], "approve").start().is(0, "POSTED")
			},
			func(s *stage, d ended) ended { return s.decideJob(d.outputs["code"], "abort").start() },
			"already been decided differently",
		},
		"approve after abort": {
			func(s *stage, d ended) ended { return s.decideJob(d.outputs["code"], "abort").start().is(0, "ABORTED") },
			func(s *stage, d ended) ended { return s.decideJob(d.outputs["code"], "approve").start() },
			"already been decided differently",
		},
		"dispatch after a rejected deployment": {
			func(s *stage, d ended) ended {
				s.run.Wait(gateName)
				s.run.Decide(gateName, "rejected", "maya", "")
				return d
			},
			func(s *stage, d ended) ended { return s.decideJob(d.outputs["code"], "approve").start() },
			"this draft has already been rejected",
		},
		"approval after a rejected deployment": {
			func(s *stage, d ended) ended {
				s.run.Wait(gateName)
				s.run.Decide(gateName, "rejected", "sam", "")
				s.run.Rerun()
				return d
			},
			func(s *stage, d ended) ended { s.approved(""); return s.postJob(d.digest()).start() },
			"this draft has already been rejected",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			tc.first(s, drafted)
			before := len(s.pull.Reviews())
			tc.second(s, drafted).is(3, "REFUSED").says(tc.says)
			require.Len(t, s.pull.Reviews(), before)
		})
	}
	t.Run("abort again is reported", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.decideJob(drafted.outputs["code"], "abort").start().is(0, "ABORTED")
		s.decideJob(drafted.outputs["code"], "abort").start().is(0, "ABORTED")
		s.untouched()
	})
	t.Run("a fork's record does not count", func(t *testing.T) {
		s := setUp(t, scene{fork: true, author: "sam"})
		drafted := s.parked()
		z, err := checkpoint.Protection{}.PackRecord(s.abortOf(drafted))
		require.NoError(t, err)
		s.repo.AddRun(githubtest.RunOptions{Event: "pull_request", HeadRepo: s.fork}).AddArtifact("pr-review-decision-"+
			drafted.outputs["code"], z)
		s.repo.AddRun(githubtest.RunOptions{Path: ".github/workflows/ci.yml"}).AddArtifact("pr-review-decision-"+
			drafted.outputs["code"], z)
		s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
	})
}
