package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestAnApprovalThatWasNotPostedTellsLaterDraftsNothing(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree(), trust: "seal"})
	drafted := s.parked()
	s.decideJob(drafted.outputs["code"], "approve").may(map[string]string{"pull_requests": "read",
		"actions": "read"}).start()
	require.Empty(t, s.pull.Reviews(), "the token may not post")
	s.pushed(headTree().With(githubtest.Tree{"README.md": "# more\n"}))
	again := s.draftJob().start().is(0, "PAUSED")
	require.Equal(t, drafted.outputs["findings"], again.outputs["findings"])
}

func TestASARIFFileThatCannotBeWrittenFailsTheJobAndNotTheReview(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	j, file := s.signalling(s.parked().outputs["code"], "approve")
	require.NoError(t, os.WriteFile(filepath.Dir(file), nil, 0o600), "a file where its folder should be")
	j.with("fail-on", "none").start().is(1, "POSTED").says("the SARIF file could not be written", "next")
	require.Len(t, s.pull.Reviews(), 1)
}

func TestADecidedDraftIsNotMarkedAsWaiting(t *testing.T) {
	for _, decision := range []string{"approve", "abort"} {
		t.Run(decision, func(t *testing.T) { notMarked(t, decision) })
	}
}

func notMarked(t *testing.T, decision string) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	drafted := s.parked()
	s.decideJob(drafted.outputs["code"], decision).start()
	s.markJob(drafted.digest()).start().says("was decided, so the commit is not marked")
	require.Empty(t, s.repo.Statuses(s.pull.HeadSHA()))
}

func TestADraftWhoseApprovalCouldNotBePostedIsMarkedAsWaiting(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	drafted := s.parked()
	s.markJob(drafted.digest()).start().is(0, "")
	s.hub.Fail(http.MethodPost, reviewsPath+"/*/events", githubtest.SecondaryLimit(403, time.Hour))
	j := s.decideJob(drafted.outputs["code"], "approve")
	j.start().is(1, "FAILED")
	j.run.Finish("failure")
	s.hub.ClearFaults()
	s.markJob(drafted.digest()).start().is(0, "").says("the commit shows that draft")
	for _, set := range s.repo.Statuses(s.pull.HeadSHA()) {
		require.Equal(t, "pending", set.State, set.Description)
	}
	s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
}

// TestOnlyItsOwnMarkIsEnded has an earlier draft of the commit, or of an earlier commit, come to its end while the
// mark is a newer draft's.
func TestOnlyItsOwnMarkIsEnded(t *testing.T) {
	t.Parallel()
	again := func(s *stage) ended {
		s.anew(githubtest.RunOptions{})
		later(s)
		return s.draftJob().with("again", "true").start().is(0, "PAUSED")
	}
	pushed := func(s *stage) ended {
		s.pushed(headTree().With(githubtest.Tree{"README.md": "# more\n"}))
		return s.parked()
	}
	decide := func(decision, commands string) func(*stage, ended) {
		return func(s *stage, old ended) {
			j, _ := s.signalling(old.outputs["code"], decision)
			require.Equal(s.t, "", j.with("commands", commands).start().outputs["review-url"])
		}
	}
	for name, tc := range map[string]struct {
		newer func(*stage) ended
		end   func(s *stage, old ended)
	}{
		"withdrawn, and marked late": {again, func(s *stage, old ended) {
			s.markJob(old.digest()).start().is(0, "").says("was decided, so the commit is not marked")
		}},
		"withdrawn, and decided in error": {again, decide("approve", "/drop F99")},
		"withdrawn, and expired":          {again, decide("approve", "")},
		"of an older commit, and expired": {pushed, decide("approve", "")},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{base: baseTree(), head: headTree()})
			old := s.parked()
			s.markJob(old.digest()).start().is(0, "")
			until := s.draftArtifact(old).ExpiresAt
			newer := tc.newer(s)
			s.markJob(newer.digest()).start().is(0, "")
			if strings.HasSuffix(name, "expired") {
				s.hub.Advance(time.Until(until) + time.Minute)
			}
			tc.end(s, old)
			set := s.repo.Statuses(s.pull.HeadSHA())
			last := set[len(set)-1]
			require.Equal(t, "pending", last.State, last.Description)
			require.Contains(t, last.Description, "code "+newer.outputs["code"])
		})
	}
}

func TestASARIFFileIsInTheWorkspace(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	j, _ := s.signalling(s.parked().outputs["code"], "approve")
	j.with("sarif", "../evil.sarif").start().is(2, "").says(`sarif: "../evil.sarif" is not a file in the workspace`)
	require.Empty(t, s.pull.Reviews())
}
