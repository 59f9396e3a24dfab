package app_test

import (
	"cmp"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestARevisedTicketReplacesItsDraft(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
	s.run.Finish("success")
	s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch", Actor: "lee"})
	revised := s.ticketDraft().with("environment", "", "mode", "revise", "code", drafted.outputs["code"], "feedback",
		"Say it shorter.").start().is(0, "PAUSED")
	revised.shows("revision 1 of 3", "Say it shorter.")
	require.NotEqual(t, drafted.outputs["code"], revised.outputs["code"])
	s.run.Finish("success")
	s.ticketDecision(drafted.outputs["code"], "", "approve", "").start().is(3, "REFUSED").says("withdrawn")
	s.unpushed()
	s.ticketDecision(revised.outputs["code"], "", "approve", "").start().is(0, "POSTED")
	s.applied(roundBranch, roundFixed())
}

func TestADraftOfATicketThatChangedIsNotRevised(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
	s.run.Finish("success")
	s.repo.AddIssue(7, "maya", "Round half down", "Half a cent is won.")
	s.ticketDraft().with("environment", "", "mode", "revise", "code", drafted.outputs["code"], "feedback", "Shorter.").
		start().is(3, "REFUSED").says("the ticket's text has changed", "\n  next    draft the ticket again\n")
}

// TestP4_ATicketsCancelledDraftIsGoneOnWith cancels a job while the model writes the change:
// what it said before is not asked again, unless another ticket's text is read by then, or by another model.
func TestP4_ATicketsCancelledDraftIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]int{"the same text": 1, "another text": 2, "another model": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, answers := &stuck{}, rounding(t)
			s := ticketStageOf(t, func(r llmtest.Request) llmtest.Answer {
				a := answers(r)
				if r.Question == "implement_code" && !m.free.Load() {
					a.Delay = time.Second / 2
					if !m.waiting.Swap(true) {
						close(m.asked)
					}
				}
				return a
			})
			e, _ := s.interrupted(m, s.ticketDraft(), 0, syscall.SIGTERM)
			e.is(1, "FAILED").says("the job was cancelled before its draft was ready", "re-run the failed jobs")
			require.Len(t, s.run.Artifacts(), 1)
			require.Regexp(t, `^pr-implement-gh-7-partial-1-[0-9a-f]{16}$`, s.run.Artifacts()[0].Name)
			s.run.Finish("cancelled")
			s.run.Rerun()
			if name == "another text" {
				s.repo.AddIssue(7, "maya", "Round half up", "Half a cent is lost, always.")
			}
			m.free.Store(true)
			model := map[string]string{"another model": "story-2"}[name]
			drafted := s.ticketDraft().with("model", cmp.Or(model, "story-1")).start().is(0, "PAUSED")
			asked := map[string]int{}
			for _, r := range s.model.Requests() {
				asked[r.Question]++
			}
			require.Equal(t, []int{again, again}, []int{asked["implement_classify"], asked["implement_modules"]})
			const why = `earlier results in "pr-implement-gh-7-partial-1-`
			require.Equal(t, again > 1, strings.Contains(drafted.log, why), drafted.log)
			s.approved("")
			s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED")
			s.applied(roundBranch, roundFixed())
		})
	}
}

// TestP4_ATicketsStoredDraftIsNotPaidForAgain re-runs a drafting job that was lost after it had stored its
// draft: no question is asked again, and the draft is the same one.
func TestP4_ATicketsStoredDraftIsNotPaidForAgain(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	first := s.ticketDraft().start().is(0, "PAUSED")
	asked := len(s.model.Requests())
	s.run.Finish("failure")
	s.run.Rerun()
	drafted := s.ticketDraft().start().is(0, "PAUSED")
	require.Len(t, s.model.Requests(), asked)
	require.Equal(t, first.digest(), drafted.digest())
	s.unpushed()
	s.approved("")
	s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED")
	s.applied(roundBranch, roundFixed())
}

// TestP4_ATicketsCancelledRevisionIsGoneOnWith cancels a revision while the model writes its
// tests: the change that it has paid for is not asked again, unless other feedback is given.
func TestP4_ATicketsCancelledRevisionIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for feedback, again := range map[string]int{"Say it shorter.": 0, "Say it longer.": 1} {
		t.Run(feedback, func(t *testing.T) {
			t.Parallel()
			m, answers := &stuck{}, rounding(t)
			m.free.Store(true)
			s := ticketStageOf(t, func(r llmtest.Request) llmtest.Answer {
				a := answers(r)
				if r.Question == "implement_tests" && !m.free.Load() {
					a.Delay = time.Second / 2
					if !m.waiting.Swap(true) {
						close(m.asked)
					}
				}
				return a
			})
			first := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
			s.run.Finish("success")
			s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch", Actor: "lee"})
			revise := func(feedback string) *job {
				return s.ticketDraft().with("environment", "", "mode", "revise", "code", first.outputs["code"],
					"feedback",
					feedback)
			}
			m.free.Store(false)
			e, _ := s.interrupted(m, revise("Say it shorter."), 0, syscall.SIGTERM)
			e.is(1, "FAILED").says("the job was cancelled before its draft was ready")
			s.run.Finish("cancelled")
			s.run.Rerun()
			m.free.Store(true)
			before := s.questions("implement_code")
			revised := revise(feedback).start().is(0, "PAUSED").shows("revision 1 of 3", feedback)
			require.Equal(t, before+again, s.questions("implement_code"))
			s.run.Finish("success")
			s.ticketDecision(first.outputs["code"], "", "approve", "").start().is(3, "REFUSED").says("withdrawn")
			s.ticketDecision(revised.outputs["code"], "", "approve", "").start().is(0, "POSTED")
			s.applied(roundBranch, roundFixed())
		})
	}
}

// questions is how often the model was asked one.
func (s *stage) questions(question string) (n int) {
	for _, r := range s.model.Requests() {
		if r.Question == question {
			n++
		}
	}
	return n
}

// TestATicketIsRevisedThreeTimes goes round by round: each draft replaces the one before
// and reaches the model with all feedback so far; a fourth round ends the last draft.
func TestATicketIsRevisedThreeTimes(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	last := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
	revise := func(feedback string) ended {
		s.run.Finish("success")
		s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch", Actor: "lee"})
		return s.ticketDraft().with("environment", "", "mode", "revise", "code", last.outputs["code"], "feedback",
			feedback).start()
	}
	for round := range 3 {
		before := s.model.Calls()
		next := revise(fmt.Sprintf("Wish %d.", round+1)).is(0, "PAUSED")
		next.shows(fmt.Sprintf("revision %d of 3", round+1))
		require.NotEqual(t, last.outputs["code"], next.outputs["code"])
		asked := s.model.Requests()[before].User
		for n := range round + 1 {
			require.Contains(t, asked, fmt.Sprintf("Wish %d.", n+1), "round %d", round+1)
		}
		last = next
	}
	calls := s.model.Calls()
	ended := revise("Wish 4.").is(0, "ABORTED").shows("was revised 3 times")
	require.Equal(t, calls, s.model.Calls())
	s.run.Finish("success")
	s.ticketDecision(last.outputs["code"], "", "approve", "").start().is(3, "REFUSED")
	s.unpushed()
	s.ticketJob("comment-issue", ended.digest()).with("decision", "abort", "code", last.outputs["code"]).start()
	require.Len(t, s.repo.Said(7), 1, "whoever wrote the ticket is told")
}
