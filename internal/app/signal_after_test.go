package app_test

import (
	"os"
	"path/filepath"
	"testing"

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

func TestASARIFFileIsInTheWorkspace(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	j, _ := s.signalling(s.parked().outputs["code"], "approve")
	j.with("sarif", "../evil.sarif").start().is(2, "").says(`sarif: "../evil.sarif" is not a file in the workspace`)
	require.Empty(t, s.pull.Reviews())
}
