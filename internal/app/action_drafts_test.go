package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

// Two drafts of one commit, as a second run by hand makes them.
func (s *stage) twoDrafts() (first, second ended) {
	s.t.Helper()
	first = s.parked()
	s.anew(githubtest.RunOptions{})
	second = s.parked()
	require.NotEqual(s.t, first.outputs["code"], second.outputs["code"])
	return first, second
}

func TestP5_T25_TwoDraftsOfOneCommitApprovedAtOnceGiveOneReview(t *testing.T) {
	s := setUp(t, scene{})
	first, second := s.twoDrafts()
	r := &race{stage: s, until: "/reviews", jobs: [2]*job{s.decideJob(first.outputs["code"], "approve"),
		s.decideJob(second.outputs["code"], "approve")}}
	r.run()
	require.Equal(t, map[string]int{"POSTED": 1, "REFUSED": 1}, r.outcomes(), "%s\n%s", r.both[0].log, r.both[1].log)
	s.posted()
}

func TestCheck13_ARejectionHoldsForOtherDraftsOfTheCommitUnderASeal(t *testing.T) {
	s := setUp(t, scene{trust: checkpoint.TrustSeal})
	first, second := s.twoDrafts()
	s.decideJob(first.outputs["code"], "abort").start().is(0, "ABORTED")
	s.refused(s.decideJob(second.outputs["code"], "approve").start(), "a draft of this commit has already been rejected")
}

func TestCheck13_WhatStandsCannotBeRejectedByAnotherDraft(t *testing.T) {
	s := setUp(t, scene{})
	first, second := s.twoDrafts()
	s.decideJob(first.outputs["code"], "approve").start().is(0, "POSTED")
	s.decideJob(second.outputs["code"], "abort").start().is(3,
		"REFUSED").says("a draft of this commit has already been posted")
	s.posted()
}
