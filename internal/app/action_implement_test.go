package app_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

const (
	implementPath = ".github/workflows/pr-implement.yml"
	applyPath     = ".github/workflows/pr-implement-decide.yml"
)

// roundTree is a repository with a bug, roundFixed what its ticket's change makes of it.
func roundTree() githubtest.Tree {
	return githubtest.Tree{
		"go.mod": "module example.com/pay\n\ngo 1.22\n", "README.md": "# pay\n",
		"pay/round.go": "package pay\n\n// Round gives whole cents.\nfunc Round(x float64) int {\n\treturn " +
			"int(x)\n}\n",
		"pay/round_test.go": "package pay\n\nimport \"testing\"\n\nfunc TestRound(t *testing.T) {\n\tif Round(1.2) " +
			"!= 1 {\n\t\tt.Fatal()\n\t}\n}\n",
		"bin/run": "#!/bin/sh\n", "pay/AGENTS.md": "Count in cents.\n",
	}
}

const halfTest = "package pay\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif Round(1.5) != 2 " +
	"{\n\t\tt.Fatal()\n\t}\n}\n"

func roundFixed() githubtest.Tree {
	t := roundTree()
	t["pay/round.go"] = strings.Replace(t["pay/round.go"], "int(x)", "int(x + 0.5)", 1)
	t["pay/half_test.go"] = halfTest
	return t
}

// rounding answers as a model that fixes the bug, with other words in each revision.
func rounding(t *testing.T) llmtest.Script {
	t.Helper()
	answers, err := llmtest.ReadImplement([]byte(`{
		"classify": {"confirmed_type": "Bug", "technical_summary": "Round cuts halves off",
			"affected_components": ["pay"], "complexity": "low"},
		"modules": {"affected_modules": ["pay"], "reasoning": {"pay": "Round is there"},
			"files_likely_to_change": ["pay/round.go"]},
		"code": {"root_cause": "int() cuts off", "changes": [{"path": "pay/round.go", "description": "adds a half",
			"edits": [{"search": "\treturn int(x)\n", "replace": "\treturn int(x + 0.5)\n"}], "new_content": ""}]},
		"tests": {"tests": [{"path": "pay/half_test.go", "description": "a half",
			"new_content": ` + quoted(t, halfTest) + `, "edits": []}]}}`))
	require.NoError(t, err)
	return llmtest.Implement(answers, func(llmtest.Request) llmtest.Answer { return llmtest.Findings() })
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	q, err := json.Marshal(text)
	require.NoError(t, err)
	return string(q)
}

// ticketStage is a public repository with a ticket, and a run that lee dispatched.
func ticketStage(t *testing.T) *stage {
	t.Helper()
	return ticketStageOf(t, rounding(t))
}

func ticketStageOf(t *testing.T, model llmtest.Script) *stage {
	t.Helper()
	s := newStage(t, scene{base: roundTree(), head: roundTree(), script: model})
	s.repo.Chmod("main", "bin/run", "100755")
	s.repo.AddIssue(7, "maya", "Round half up", "Half a cent is lost.\n\n## Acceptance criteria\n\n- 1.5 becomes 2\n")
	s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch", Actor: "lee"})
	return s
}

func (s *stage) ticketJob(name, digest string) *job {
	return s.job(s.run, implementPath, name, "workflow_dispatch", map[string]string{
		"${{ (inputs.code || inputs.feedback) && 'revise' || 'implement' }}": "implement",
		"${{ inputs.ticket }}": "#7", "${{ inputs.modules }}": "", "${{ inputs.code }}": "",
		"${{ inputs.feedback }}":        "",
		"${{ secrets.OPENAI_API_KEY }}": modelKey, "${{ needs.draft.outputs.checkpoint-digest }}": digest,
		"${{ needs.apply.outputs.outcome == 'POSTED' && 'approve' || 'abort' }}": "approve",
	})
}

func (s *stage) ticketDraft() *job {
	return s.ticketJob("draft", "").with("base-url", s.model.URL, "model", "story-1")
}

// ticketDecision is a dispatch of the deciding workflow: a separate run.
func (s *stage) ticketDecision(code, digest, decision, commands string) *job {
	run := s.repo.AddRun(githubtest.RunOptions{Path: applyPath, Event: "workflow_dispatch", Actor: "maya"})
	return s.ticketDecisionJob("apply", run, code, digest, decision, commands)
}

func (s *stage) ticketDecisionJob(name string, run *githubtest.Run, code, digest, decision, commands string) *job {
	return s.job(run, applyPath, name, "workflow_dispatch", map[string]string{
		"${{ inputs.ticket }}": "#7", "${{ inputs.code }}": code, "${{ inputs.checkpoint-digest }}": digest,
		"${{ inputs.decision }}": decision, "${{ inputs.commands }}": commands,
	}).by("maya")
}

// unpushed is a repository in which nothing was pushed or opened.
func (s *stage) unpushed() {
	s.t.Helper()
	require.Equal(s.t, []string{"main", "topic"}, s.repo.Branches())
	require.Len(s.t, s.repo.Pulls(), 1)
	require.Empty(s.t, s.writes())
}

// applied is the pull request of the ticket, whose branch has the approved tree.
func (s *stage) applied(branch string, tree githubtest.Tree) *githubtest.Pull {
	s.t.Helper()
	require.Equal(s.t, []string{branch, "main", "topic"}, s.repo.Branches())
	require.Equal(s.t, tree, s.repo.Tree(branch), "byte for byte")
	require.Equal(s.t, "100755", s.repo.Mode(branch, "bin/run"))
	all := s.repo.Pulls()
	require.Len(s.t, all, 2)
	require.True(s.t, all[1].IsDraft())
	require.Equal(s.t, branch, all[1].Head())
	return all[1]
}

const roundBranch = "fix/gh-7-round-half-up"

func TestATicketBecomesADraftPullRequestByEnvironment(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().start().is(0, "PAUSED")
	s.unpushed()
	require.True(t, slices.ContainsFunc(s.model.Requests(), func(r llmtest.Request) bool {
		return strings.Contains(r.User, " instructions>>>\npay/AGENTS.md\nCount in cents.\n")
	}))
	drafted.shows("Proposed changes for `gh-7`", "Round half up", "int() cuts off", "pay/half_test.go",
		"Review deployments")
	require.Regexp(t, `^octo/demo~gh-7:[0-9a-f]{40}$`, drafted.outputs["thread-id"])
	require.Equal(t, "pr-implement-gh-7-"+drafted.outputs["code"], drafted.outputs["artifact-name"])
	require.Equal(t, gateName, drafted.outputs["environment"])

	s.approved("")
	posted := s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED")
	p := s.applied(roundBranch, roundFixed())
	title, body := p.Text()
	require.Equal(t, "[#7] Round half up", title)
	for _, part := range []string{"Closes #7.", "int() cuts off", "pay/half_test.go", "for lee",
		"maya approved draft"} {
		require.Contains(t, body, part)
	}
	message := s.repo.Message(roundBranch)
	require.Regexp(t, `^fix\(gh-7\): Round half up\n`, message)
	require.Regexp(t, `\nCo-authored-by: lee <\d+\+lee@users\.noreply\.github\.com>$`, message)
	require.Equal(t, roundBranch, posted.outputs["branch"])
	require.Contains(t, posted.outputs["pull-request-url"], "/octo/demo/pull/43")
	posted.shows("Its author is a bot")

	s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED") // P5: again is the same
	s.applied(roundBranch, roundFixed())
	calls := s.model.Calls()
	s.ticketDraft().start().is(0, "POSTED").shows(posted.outputs["pull-request-url"])
	require.Equal(t, calls, s.model.Calls(), "P4: what was carried out on this commit is not paid again")
	for range 2 {
		s.ticketJob("comment-issue", drafted.digest()).start()
	}
	said := s.repo.Said(7)
	require.Len(t, said, 1)
	require.Contains(t, said[0], posted.outputs["pull-request-url"])
}

// In link mode the ticket is told of the pull request that a person opened by the form, and until then the run says
// why it is not.
func TestATicketIsToldOfThePullRequestThatAPersonOpens(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	linked := func(j *job) *job { return j.with("defaults", "implement: { pull-request: link }") }
	drafted := linked(s.ticketDraft()).start().is(0, "PAUSED")
	s.approved("")
	posted := linked(s.ticketJob("apply", drafted.digest())).start().is(0, "POSTED")
	linked(s.ticketJob("comment-issue", drafted.digest())).start().is(0, "").
		says("::notice::no pull request of draft " + drafted.outputs["code"] + " is there, so gh-7 is not commented " +
			"on: a person opens it")
	require.Empty(t, s.repo.Said(7))
	form, err := url.Parse(regexp.MustCompile(`http\S+expand=1[^>\s]+`).FindString(posted.summary))
	require.NoError(t, err)
	p := s.repo.AddPull(githubtest.PullOptions{Title: "Round", Body: form.Query().Get("body"), Author: "maya",
		Head: roundBranch, HeadFiles: roundFixed()})
	linked(s.ticketJob("comment-issue", drafted.digest())).start().is(0, "")
	require.Len(t, s.repo.Said(7), 1)
	opened := fmt.Sprintf("/octo/demo/pull/%d", p.Number)
	require.Contains(t, s.repo.Said(7)[0], opened)
	again := linked(s.ticketJob("apply", drafted.digest())).start().is(0, "POSTED").shows(opened)
	require.Contains(t, again.outputs["pull-request-url"], opened)
	require.NotContains(t, again.summary, "expand=1", "the form of a pull request that is open")
	require.NotContains(t, again.summary, "a bot")
}

func TestATicketIsDecidedByDispatch(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
	drafted.shows("gh workflow run pr-implement-decide.yml --repo octo/demo -f ticket='#7' -f code=" +
		drafted.outputs["code"])
	s.ticketDecision(drafted.outputs["code"], "", "approve", "").by("lee").start().is(3, "REFUSED").says("lee")
	s.ticketDecision(drafted.outputs["code"], "", "approve", "/drop F1").start().is(3, "REFUSED").says("by their paths")
	s.unpushed()
	s.ticketDecision(drafted.outputs["code"], drafted.digest(), "approve", "/drop pay/half_test.go: later").start().
		is(0, "POSTED")
	s.applied(roundBranch, roundFixed().Without("pay/half_test.go"))
	require.NotContains(t, s.repo.Message(roundBranch), "half_test.go")
}

func TestARejectedTicketLeavesNothing(t *testing.T) {
	t.Parallel()
	t.Run("by dispatch", func(t *testing.T) {
		t.Parallel()
		s := ticketStage(t)
		drafted := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
		require.Contains(t, drafted.log, "::notice::The change for #7 waits for a decision. The draft "+
			drafted.outputs["code"]+": ")
		rejecting := s.ticketDecision(drafted.outputs["code"], "", "abort", "")
		rejecting.start().is(0, "ABORTED")
		rejecting.run.Finish("success")
		s.ticketDecision(drafted.outputs["code"], "", "approve", "").start().is(3, "REFUSED")
		s.unpushed()
		for range 2 {
			s.ticketDecisionJob("comment-issue", rejecting.run, drafted.outputs["code"], "", "abort", "").start()
		}
		require.Len(t, s.repo.Said(7), 1)
		require.Regexp(t, `^The change that was drafted for this ticket was rejected, nothing was pushed: `+
			`http\S+/octo/demo/actions/runs/\d+$`, s.repo.Said(7)[0])
	})
	t.Run("in the dialog", func(t *testing.T) {
		t.Parallel()
		s := ticketStage(t)
		drafted := s.ticketDraft().start().is(0, "PAUSED")
		s.run.Wait(gateName)
		s.run.Decide(gateName, "rejected", "maya", "not now")
		s.ticketJob("apply", drafted.digest()).start().is(3, "REFUSED").says("draft again (a review with again: true)")
		s.ticketJob("record", drafted.digest()).start().is(0, "ABORTED").shows("maya")
		s.unpushed()
	})
}

func TestP3_AMovedBaseRefusesATicketsDraft(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().start().is(0, "PAUSED")
	s.approved("")
	s.repo.Commit("main", "somebody else's", roundTree().With(githubtest.Tree{"x": "y"}))
	s.ticketJob("apply", drafted.digest()).start().is(3, "REFUSED").says("main has moved since this change was drafted",
		"draft the ticket again")
	s.unpushed()
}

// TestATicketsPullRequestThatFailsGoesOn has the setting off that lets workflows open pull
// requests: the branch stays and is named, and a re-run continues though the base has moved.
func TestATicketsPullRequestThatFailsGoesOn(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().start().is(0, "PAUSED")
	s.approved("")
	s.repo.Set(func(o *githubtest.Settings) { o.NoPulls = true })
	s.ticketJob("apply", drafted.digest()).start().is(1, "FAILED").says("the change is on branch "+roundBranch,
		"Settings, Actions, General, Workflow permissions")
	calls := s.model.Calls()
	s.ticketDraft().start().is(0, "POSTED").says("carried out on this commit before, on branch "+roundBranch,
		"/octo/demo/compare/main..."+roundBranch)
	require.Equal(t, calls, s.model.Calls(), "P4: what was pushed from this commit is not paid again")
	s.repo.Commit("main", "somebody else's", roundTree().With(githubtest.Tree{"x": "y"}))
	s.repo.Set(func(o *githubtest.Settings) { o.NoPulls = false })
	s.ticketJob("apply", drafted.digest()).start().is(0, "POSTED")
	s.applied(roundBranch, roundFixed())
}

func TestP5_TwoDispatchesAtOnceGiveOnePullRequest(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	drafted := s.ticketDraft().with("environment", "").start().is(0, "PAUSED")
	var all sync.WaitGroup
	for range 2 {
		j := s.ticketDecision(drafted.outputs["code"], "", "approve", "")
		all.Go(func() {
			if e := j.start(); e.outputs["outcome"] == "POSTED" {
				j.run.Finish("success")
			}
		})
	}
	all.Wait()
	s.applied(roundBranch, roundFixed())
}

// A folder carries a ticket's draft and the decision on it, as an Enterprise Server needs.
func TestCheckpointDirCarriesATicketsDraft(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{base: roundTree(), head: roundTree(), script: rounding(t),
		server: githubtest.Options{WebURL: "https://git.example.com"}})
	s.repo.Chmod("main", "bin/run", "100755")
	s.repo.AddIssue(7, "maya", "Round half up", "Half a cent is lost.")
	s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch", Actor: "lee"})
	dir := t.TempDir()
	drafted := s.ticketDraft().inFolder(dir).start().is(0, "PAUSED")
	require.Equal(t, []string{drafted.outputs["artifact-name"] + ".zip"}, files(t, dir))
	require.Empty(t, s.run.Artifacts())
	s.unpushed()
	s.approved("")
	for range 2 {
		s.ticketJob("apply", drafted.digest()).inFolder(dir).start().is(0, "POSTED")
		s.applied(roundBranch, roundFixed())
	}
	require.Contains(t, files(t, dir), "pr-implement-decision-"+drafted.outputs["code"]+".zip")
}

// TestT28_ATrackersTicketNeedsASettingInPublic holds what a public repository takes: issues
// of who may write, and a tracker's tickets where the settings let them out.
func TestT28_ATrackersTicketNeedsASettingInPublic(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	s.ticketDraft().with("ticket", "PAY-88").start().is(2, "").says("on a public repository",
		"context.show: criteria or full")
	s.repo.AddIssue(8, "mallory", "Open the back door", "Please.")
	s.ticketDraft().with("ticket", "#8").start().is(3, "REFUSED").says("the author of octo/demo#8 may not write here")
	s.hub.Fail("GET", "**/collaborators/mallory/permission", githubtest.Fault{Status: 500})
	s.ticketDraft().with("ticket", "#8").start().is(1, "FAILED")
	s.ticketDraft().with("ticket", "other/repo#8").start().is(2, "").says("names no ticket")
	s.unpushed()
	require.Zero(t, s.model.Calls())
}

func TestAnAnswerThatCannotBeUsedLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene{base: roundTree(), head: roundTree(), script: func(llmtest.Request) llmtest.Answer {
		return llmtest.Answer{Text: "I would rather not."}
	}})
	s.repo.AddIssue(7, "maya", "Round half up", "Half a cent is lost.")
	s.run = s.repo.AddRun(githubtest.RunOptions{Path: implementPath, Event: "workflow_dispatch", Actor: "lee"})
	s.ticketDraft().start().is(1, "FAILED").says("contains no JSON object", "\n  next    ").
		shows("\n  next    say more in the ticket")
	s.unpushed()
	require.Empty(t, s.run.Artifacts())
}

// TestARejectedTicketIsDraftedAgainByItsRun re-runs the drafting job of a rejected draft.
func TestARejectedTicketIsDraftedAgainByItsRun(t *testing.T) {
	t.Parallel()
	for environment, reject := range map[string]func(*stage, ended){
		"": func(s *stage, drafted ended) {
			s.ticketDecision(drafted.outputs["code"], "", "abort", "").start().is(0, "ABORTED")
		},
		gateName: func(s *stage, drafted ended) {
			s.run.Wait(gateName)
			s.run.Decide(gateName, "rejected", "maya", "not now")
			s.ticketJob("record", drafted.digest()).start().is(0, "ABORTED")
		},
	} {
		t.Run("environment "+environment, func(t *testing.T) {
			t.Parallel()
			s := ticketStage(t)
			first := s.ticketDraft().with("environment", environment).start().is(0, "PAUSED")
			reject(s, first)
			s.run.Finish("failure")
			s.run.Rerun()
			again := s.ticketDraft().with("environment", environment).start().is(0, "PAUSED")
			require.NotEqual(t, first.digest(), again.digest())
			asked := len(s.model.Requests())
			s.run.Finish("failure")
			s.run.Rerun()
			require.Equal(t, again.digest(), s.ticketDraft().with("environment", environment).start().is(0, "PAUSED").digest())
			require.Len(t, s.model.Requests(), asked, "the new draft is kept")
			if environment == "" {
				s.ticketDecision(again.outputs["code"], "", "approve", "").start().is(0, "POSTED")
				return
			}
			s.approved("")
			s.ticketJob("apply", again.digest()).start().is(0, "POSTED")
		})
	}
}
