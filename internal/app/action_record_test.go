package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARejectionEndsAsAbortedWithWhoAndWhy(t *testing.T) {
	for _, trust := range []string{"digest", "seal"} {
		t.Run(trust, func(t *testing.T) { rejectedOnRecord(t, trust) })
	}
}

func rejectedOnRecord(t *testing.T, trust string) {
	s := setUp(t, scene{trust: trust})
	drafted := s.parked()
	s.run.Wait(gateName)
	s.run.Decide(gateName, "rejected", "maya", "Not now: <b>freeze</b>\n/drop F1")
	noted := s.recordJob(drafted.digest()).start().is(0, "ABORTED")
	noted.shows("Review of #42 was rejected, nothing was posted", "Rejected by maya", "in the environment's dialog",
		"Not now: ")
	require.Empty(t, s.pull.Reviews())
	s.recordJob(drafted.digest()).start().is(0, "ABORTED") // again: the same

	s.run.Approve(gateName, "rita", "")
	s.postJob(drafted.digest()).start().is(3, "REFUSED")
	s.decideJob(drafted.outputs["code"], "approve").start().is(3, "REFUSED")
	require.Empty(t, s.pull.Reviews())
}

func TestWithoutARejectionThereIsNothingToRecord(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.recordJob(drafted.digest()).start().is(0, "PAUSED").shows("Nobody has rejected this draft")
	s.approved("") // and the posting job failed for another reason
	s.recordJob(drafted.digest()).start().is(0, "PAUSED")
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	s.postJob(drafted.digest()).with("fail-on", "nit").start().is(1, "POSTED")
	s.recordJob(drafted.digest()).start().is(0, "POSTED").shows("## Review of #42 was posted", "says why it failed")
	s.recordJob(drafted.digest()).with("environment", "").start().is(2, "").says("the input environment is missing")
	s.push()
	s.recordJob(drafted.digest()).start().is(0, "PAUSED").shows("Nobody has rejected this draft: a push withdrew it")
}

func TestTheRejectionOfAnEarlierDraftRejectsNoLaterOne(t *testing.T) {
	s := setUp(t, scene{})
	s.parked()
	s.run.Decide(gateName, "rejected", "maya", "")
	drafted := s.draftJob().with("again", "true").start().is(0, "PAUSED")
	s.recordJob(drafted.digest()).start().is(0, "PAUSED")
	s.approved("")
	s.postJob(drafted.digest()).start().is(0, "POSTED")
}
