package app_test

import (
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// priced is the story's model at 0.25 USD an answer.
func priced(r llmtest.Request) llmtest.Answer {
	a := critic(r)
	a.Cost = 0.25
	return a
}

func TestAgain_DraftsAnewAndWithdrawsTheOldDraft(t *testing.T) {
	t.Parallel()
	for name, decide := range routes() {
		for _, trust := range []string{"", checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
			t.Run(name+", trust "+trust, func(t *testing.T) {
				s := setUp(t, scene{trust: trust, script: priced})
				old := s.draftJob().start().is(0, "PAUSED")
				drafting := s.run
				s.anew(githubtest.RunOptions{})
				later(s)
				newer := s.draftJob().with("again", "true").start().is(0, "PAUSED")
				require.Equal(t, 6, s.reviews(), "paid again")
				require.Equal(t, old.outputs["thread-id"], newer.outputs["thread-id"])
				require.NotEqual(t, old.outputs["code"], newer.outputs["code"])
				newer.shows("Drafted again: the earlier draft `"+old.outputs["code"]+
					"` is withdrawn; this one cost $1.25 more", "code `"+newer.outputs["code"]+"`")
				require.Equal(t, "1.250000", newer.outputs["cost-usd"])

				now := s.run
				s.run = drafting
				s.refused(decide(s, old.digest()).start(), "this draft was withdrawn when its commit was drafted again",
					"decide the newer draft, code "+newer.outputs["code"])
				s.run = now
				decide(s, newer.digest()).start().is(0, "POSTED")
				s.posted()
			})
		}
	}
}

func TestAgain_InTheSameRun(t *testing.T) {
	s := setUp(t, scene{})
	old := s.parked()
	s.run.Finish("success")
	s.run.Rerun()
	newer := s.draftJob().with("again", "true").start().is(0, "PAUSED")
	s.approved("")
	s.postJob(old.digest()).start().is(3, "REFUSED").says("withdrawn", newer.outputs["code"])
	s.postJob(newer.digest()).start().is(0, "POSTED")
}

func TestAgain_ThatFindsNothingWithdrawsTheOldDraft(t *testing.T) {
	var blind atomic.Bool
	s := setUp(t, scene{script: func(r llmtest.Request) llmtest.Answer {
		if blind.Load() {
			return llmtest.Findings()
		}
		return critic(r)
	}})
	old := s.parked()
	blind.Store(true)
	s.anew(githubtest.RunOptions{})
	s.draftJob().by("maya").with("again", "true").start().is(0, "CLEAN")
	s.refused(s.decideJob(old.outputs["code"], "approve").start(), "withdrawn")
}

func TestP4_ACancelledDraftAgainIsGoneOnWithToo(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			m := &stuck{}
			m.free.Store(true)
			s := setUp(t, scene{trust: trust, script: m.script})
			s.parked()
			s.anew(githubtest.RunOptions{})
			m.free.Store(false)
			s.interrupted(m, s.draftJob().with("again", "true"), 1, syscall.SIGTERM)
			s.run.Finish("cancelled")
			s.run.Rerun()
			m.free.Store(true)
			s.draftJob().with("again", "true").start().is(0, "PAUSED")
			require.Equal(t, 3+2+1, s.reviews(), "%v", s.askedAbout())
		})
	}
}

func TestAgain_AfterThePostPaysNothing(t *testing.T) {
	t.Parallel()
	for _, again := range []string{"true", "false"} {
		for _, trust := range []string{"", checkpoint.TrustSeal} {
			t.Run(again+", trust "+trust, func(t *testing.T) {
				s := setUp(t, scene{trust: trust})
				drafted := s.parked()
				s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
				s.anew(githubtest.RunOptions{})
				e := s.draftJob().with("again", again).start().is(0, "POSTED")
				require.Equal(t, 3, s.reviews())
				require.Equal(t, s.posted().URL, e.outputs["review-url"])
				require.Empty(t, s.run.Artifacts())
				require.Equal(t, "0.000000", e.outputs["cost-usd"])
			})
		}
	}
}

func TestAgain_AnAbortHoldsForTheThreadUnderASeal(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
		t.Run(trust, func(t *testing.T) {
			s := setUp(t, scene{trust: trust})
			aborted := s.parked()
			s.decideJob(aborted.outputs["code"], "abort").start().is(0, "ABORTED")
			s.anew(githubtest.RunOptions{})
			e := s.draftJob().start().is(0, "ABORTED").shows("was rejected, nothing was posted",
				"again: true drafts it again")
			require.Equal(t, 3, s.reviews())
			require.Empty(t, e.outputs["code"])
			require.Empty(t, s.run.Artifacts())
			s.untouched()

			newer := s.draftJob().with("again", "true").start().is(0, "PAUSED")
			require.Equal(t, 6, s.reviews())
			s.refused(s.decideJob(aborted.outputs["code"], "approve").start(), "already been decided differently")
			s.decideJob(newer.outputs["code"], "approve").start().is(0, "POSTED")
			s.posted()
		})
	}
}

func TestAgain_ALaterRunGoesOnWithTheDraftMadeAgain(t *testing.T) {
	s := setUp(t, scene{trust: checkpoint.TrustSeal})
	s.decideJob(s.parked().outputs["code"], "abort").start().is(0, "ABORTED")
	s.anew(githubtest.RunOptions{})
	s.draftJob().with("again", "true").start().is(0, "PAUSED")
	s.anew(githubtest.RunOptions{})
	last := s.draftJob().start().is(0, "PAUSED")
	require.Equal(t, 6, s.reviews(), "nothing is paid for a third time")
	s.decideJob(last.outputs["code"], "abort").start().is(0, "ABORTED")
	s.anew(githubtest.RunOptions{})
	s.draftJob().start().is(0, "ABORTED")

	s.draftJob().with("again", "true").start().is(0, "PAUSED")
	s.anew(githubtest.RunOptions{})
	s.draftJob().start().is(0, "PAUSED")
}

func TestAgain_AnAbortHoldsForItsCodeWithoutAKey(t *testing.T) {
	s := setUp(t, scene{})
	aborted := s.parked()
	s.decideJob(aborted.outputs["code"], "abort").start().is(0, "ABORTED")
	s.anew(githubtest.RunOptions{})
	newer := s.draftJob().start().is(0, "PAUSED")
	require.NotEqual(t, aborted.outputs["code"], newer.outputs["code"])
	s.refused(s.decideJob(aborted.outputs["code"], "approve").start(), "already been decided differently")
	s.decideJob(newer.outputs["code"], "approve").start().is(0, "POSTED")
}

func TestAgain_AForgedAbortHoldsForNothing(t *testing.T) {
	s := setUp(t, scene{trust: checkpoint.TrustSeal})
	drafted := s.parked()
	record := s.abortOf(drafted)
	for _, p := range []checkpoint.Protection{{}, under(t, checkpoint.TrustSeal, anotherKey)} {
		z, err := p.PackRecord(record)
		require.NoError(t, err)
		s.repo.AddRun(githubtest.RunOptions{}).AddArtifact("pr-review-decision-"+drafted.outputs["code"], z)
	}
	s.anew(githubtest.RunOptions{})
	s.parked()
	s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
}

func TestAgain_ACancelledDraftAgainDoesNotRollAFindingAway(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*stage) *job{
		"the next run": func(s *stage) *job { return s.draftJob() },
		"again by who may decide": func(s *stage) *job {
			return s.draftJob().with("again", "true").by("ann").on("workflow_dispatch", "workflow_dispatch")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var quiet atomic.Bool
			m := &stuck{}
			m.free.Store(true)
			s := setUp(t, scene{trust: checkpoint.TrustSeal, script: func(r llmtest.Request) llmtest.Answer {
				a := m.script(r)
				if quiet.Load() && r.Question == "review" {
					silent := llmtest.Findings()
					silent.Delay = a.Delay
					return silent
				}
				return a
			}})
			s.repo.Permit("ann", "write")
			s.draftJob().with("environment", "").start().is(0, "PAUSED")
			s.anew(githubtest.RunOptions{Event: "workflow_dispatch", Actor: "lee"})
			m.free.Store(false)
			quiet.Store(true)
			s.interrupted(m, s.draftJob().with("environment", "", "again", "true").by("lee").on("workflow_dispatch",
				"workflow_dispatch"), 2, syscall.SIGTERM)
			s.run.Finish("cancelled")
			m.free.Store(true)
			quiet.Store(false)
			s.anew(githubtest.RunOptions{Event: "workflow_dispatch", Actor: "ann"})
			e := next(s).with("environment", "").start().is(0, "PAUSED")
			require.Equal(t, "5", e.outputs["findings"], e.log)
		})
	}
}
