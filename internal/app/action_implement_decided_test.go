package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
			at := func(minutes time.Duration) string {
				return time.Now().Add(minutes * time.Minute).UTC().Format(time.RFC3339Nano)
			}
			draft := func(now string) string {
				drafted := under(s.ticketDraft().with("environment", "")).set("NOW", now).start().is(0, "PAUSED")
				s.run.Finish("success")
				s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch",
					Actor: "lee"})
				return drafted.outputs["code"]
			}
			decide := func(code, verdict string) *job { return under(s.ticketDecision(code, "", verdict, "")) }
			first, beside := draft(at(0)), draft(at(0))
			decide(first, "abort").set("NOW", at(1)).start().is(0, "ABORTED")
			if trust != "digest" { // a revision does not get round what an approval is refused for
				decide(beside, "approve").start().is(3, "REFUSED").says("has already been rejected")
				under(s.ticketDraft().with("environment", "", "mode", "revise", "code", beside, "feedback", "Shorter.")).
					start().is(3, "REFUSED").says("has already been rejected")
			}
			second := draft(at(2))
			decide(first, "approve").start().is(3, "REFUSED").says("already been decided differently")
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
		"/drop nosuch.go": `"nosuch.go" is not a path of this draft`,
	} {
		t.Run(comment, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			drafted := s.ticketDraft().start().is(0, "PAUSED")
			s.approved(comment)
			s.ticketJob("apply", drafted.digest()).start().is(3, "REFUSED").says(why).shows("**Void**", "maya: ")
			s.unpushed()
			s.approved("/drop pay/half_test.go: later")
			s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED").shows("pay/half_test.go dropped: later")
			tree := roundFixed()
			delete(tree, "pay/half_test.go")
			s.applied(roundBranch, tree)
		})
	}
}

func TestATicketsCountsNameNoFile(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().with("summary", "counts").start().is(0, "PAUSED")
	s.approved("/drop pay/half_test.go: later")
	applied := s.ticketJob("apply", drafted.digest()).with("summary", "counts").start().is(0, "POSTED")
	applied.shows("- F2 dropped\n")
	require.NotContains(t, applied.summary, "half_test")
}

// TestATicketsSummarySaysWhatBecameOfIt reads the summaries of jobs that carry nothing out.
func TestATicketsSummarySaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().start().is(0, "PAUSED")
	s.ticketJob("record", drafted.digest()).start().is(0, "PAUSED").shows("The draft for `gh-7` was not rejected")
	s.run.Wait(gateName)
	s.run.Approve(gateName, "lee", "")
	s.ticketJob("apply", drafted.digest()).start().is(3, "REFUSED").says("who asked for the draft decided").
		shows("```\nthe person who asked for the draft decided, nothing was posted\n  who     lee\n")
	s.approved("")
	s.repo.Set(func(o *githubtest.Settings) { o.NoPulls = true })
	failed := s.ticketJob("apply", drafted.digest()).start().is(1, "FAILED")
	failed.shows("The change for `gh-7` could not be carried out", "\n  next    allow it at Settings")
	require.NotContains(t, failed.summary, "could be drafted")
}
