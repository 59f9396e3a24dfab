package app_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

const (
	reviewPath = ".github/workflows/review.yml" // what callers call
	callsPath  = ".github/workflows/decide.yml"
)

// calling starts a run of a file that calls a reusable workflow of another repository.
func (s *stage) calling(caller, event string) *githubtest.Run {
	return s.repo.AddRun(githubtest.RunOptions{Path: caller, Event: event, Actor: "maya"})
}

// calledJob is a job of a reusable workflow. GitHub gives it the caller's file, event,
// environments and run; the inputs of a dispatch are in the event.
func (s *stage) calledJob(run *githubtest.Run, caller, called, name, event string, values map[string]string) *job {
	all := map[string]string{
		"${{ inputs.environment }}": gateName, "${{ inputs.base-url }}": s.model.URL, "${{ inputs.model }}": "story-1",
		"${{ inputs.provider }}":        "auto",
		"${{ secrets.OPENAI_API_KEY }}": modelKey,
		"${{ github.event.pull_request.number || github.event.inputs.pull-request }}":               "42",
		"${{ github.event.inputs.again || 'false' }}":                                               "false",
		"${{ (github.event.inputs.code || github.event.inputs.feedback) && 'revise' || 'review' }}": "review",
		"${{ github.event.inputs.code }}":                                                           "",
		"${{ github.event.inputs.feedback }}":                                                       "",
		"${{ github.event.inputs.checkpoint-digest }}":                                              "",
		"${{ github.event.inputs.commands }}":                                                       "",
	}
	maps.Copy(all, values)
	return s.job(run, called, name, event, all).set("GITHUB_WORKFLOW_REF", "octo/demo/"+caller+"@refs/heads/main")
}

func (s *stage) calledDraft(caller, environment string) ended {
	s.t.Helper()
	s.run = s.calling(caller, "pull_request_target")
	return s.calledJob(s.run, caller, reviewPath, "draft", "pull_request_target",
		map[string]string{"${{ inputs.environment }}": environment}).start().is(0, "PAUSED")
}

func (s *stage) calledDecision(code string) *job {
	run := s.calling(decidePath, "workflow_dispatch")
	return s.calledJob(run, decidePath, callsPath, "decide", "workflow_dispatch", map[string]string{
		"${{ github.event.inputs.draft }}": "42-" + code, "${{ github.event.inputs.decision }}": "approve"}).by("maya")
}

// Check 4 and 12 where the jobs are those of a reusable workflow: run and approval are the caller's.
func TestT19_Check4_Check12_CalledWorkflowDecidedByApproval(t *testing.T) {
	const caller = ".github/workflows/anything.yml" // one run needs no name
	s := setUp(t, scene{})
	drafted := s.calledDraft(caller, gateName)
	require.NotContains(t, drafted.log, "draft-workflow")
	require.Equal(t, "octo/demo/"+caller+"@refs/heads/main", s.opened(drafted).Manifest.WorkflowRef)
	post := func() ended {
		return s.calledJob(s.run, caller, reviewPath, "post", "pull_request_target",
			map[string]string{"${{ needs.draft.outputs.checkpoint-digest }}": drafted.digest()}).start()
	}
	post().is(3, "REFUSED") // reaching the job is not an approval
	s.untouched()
	s.approved("")
	post().is(0, "POSTED")
	s.posted()
}

func TestT19_Check4_CalledWorkflowDecidedByDispatch(t *testing.T) {
	t.Parallel()
	t.Run("of the named caller", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.calledDraft(draftWorkflow, "")
		require.NotContains(t, drafted.log, "draft-workflow")
		s.calledDecision(drafted.outputs["code"]).start().is(0, "POSTED")
		s.posted()
	})
	t.Run("of another caller of the same workflow", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.calledDraft(".github/workflows/anything.yml", "")
		drafted.says("this run is of .github/workflows/anything.yml, and a dispatch decides drafts of "+draftWorkflow,
			"name the file with draft-workflow")
		s.calledDecision(drafted.outputs["code"]).start().is(3, "REFUSED").
			says("the draft was made by a run that may not make drafts", "workflows/anything.yml", draftWorkflow)
		s.untouched()
	})
	t.Run("of a caller that names the called file", func(t *testing.T) { // which runs nothing here
		s := setUp(t, scene{})
		drafted := s.calledDraft(draftWorkflow, "")
		s.calledDecision(drafted.outputs["code"]).with("draft-workflow", reviewPath).start().is(3, "REFUSED").
			says("the draft was made by a run that may not make drafts", draftWorkflow, reviewPath)
		s.untouched()
	})
}
