package app_test

import (
	"testing"

	"github.com/org/pr-review-action/internal/githubtest"
)

// TestATicketIsDraftedAnewAfterARejection dispatches a ticket again whose draft was rejected:
// under each trust the next draft can be decided, and the rejected one cannot.
func TestATicketIsDraftedAnewAfterARejection(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"digest", "seal", "encrypt"} {
		t.Run(trust, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			under := func(j *job) *job { return j.with("trust", trust, "checkpoint-key", checkpointKey) }
			draft := func() string {
				drafted := under(s.ticketDraft().with("environment", "")).start().is(0, "PAUSED")
				s.run.Finish("success")
				s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch", Actor: "lee"})
				return drafted.outputs["code"]
			}
			decide := func(code, verdict string) *job { return under(s.ticketDecision(code, "", verdict, "")) }
			first := draft()
			decide(first, "abort").start().is(0, "ABORTED")
			second := draft()
			decide(first, "approve").start().is(3, "REFUSED").says("decided otherwise before")
			decide(second, "approve").start().is(0, "POSTED")
			s.applied(roundBranch, roundFixed())
		})
	}
}

// TestAnApprovalThatATicketsDraftCannotTakeIsVoid approves with what no draft of files can
// take: it is named as void, and a second approval decides.
func TestAnApprovalThatATicketsDraftCannotTakeIsVoid(t *testing.T) {
	t.Parallel()
	for comment, why := range map[string]string{
		"/drop pay/*": "nothing is left to apply", "/edit F1: x": "dropped by their paths",
		"/drop nosuch.go": `"nosuch.go" is no path of this draft`,
	} {
		t.Run(comment, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			drafted := s.ticketDraft().start().is(0, "PAUSED")
			s.approved(comment)
			s.ticketJob("apply", drafted.digest()).start().is(3, "REFUSED").says(why).shows("**Void**", "maya: ")
			s.unpushed()
			s.approved("/drop pay/half_test.go: later")
			s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED")
			tree := roundFixed()
			delete(tree, "pay/half_test.go")
			s.applied(roundBranch, tree)
		})
	}
}
