package app_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/githubtest"
)

// sameAsShown is P2: body and comments of the posted review are in review.md
// byte for byte.
func sameAsShown(t *testing.T, shown string, review githubtest.Review) {
	t.Helper()
	body, _ := less(t, review.Body)
	require.True(t, strings.HasPrefix(shown, body+"\n\n## Inline comments\n\n"), "posted:\n%s\nshown:\n%s", body, shown)
	_, rest, _ := strings.Cut(shown, "\n## Inline comments\n")
	rest, _, _ = strings.Cut(rest, "\n<details><summary>Posted instead")
	for _, c := range review.Comments {
		var found bool
		_, rest, found = strings.Cut(rest, "\n\n"+postedMark.ReplaceAllString(c.Body, "")+"\n")
		require.True(t, found, "not shown, or in another order:\n%s", c.Body)
	}
	rest, _, _ = strings.Cut(rest, "\n## Left out of the review for its length\n")
	require.NotContains(t, rest, "### ", "a comment that was shown and not posted")
}

func TestP2_ApprovedDraftIsPostedByteForByte(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	shown := s.opened(drafted).Review
	s.approved("")
	posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
	require.Equal(t, gateName, posted.outputs["environment"])

	review := s.posted()
	require.Equal(t, s.pull.HeadSHA(), review.CommitID)
	require.Equal(t, "github-actions[bot]", review.User)
	require.Len(t, review.Comments, 3, "the fifth finding's line does not exist, and one is a nit")
	sameAsShown(t, shown, review)
	_, approval := less(t, review.Body)
	require.Regexp(t, `^Drafted by a model, approved by maya on \d+ \w+ \d+\.$`, approval)
	require.Contains(t, review.Body, "thread=octo/demo#42:"+review.CommitID+" digest="+drafted.digest())

	for _, name := range []string{"thread-id", "checkpoint-digest", "artifact-name", "code", "findings", "blockers",
		"partial", "run-id"} {
		require.Equal(t, drafted.outputs[name], posted.outputs[name], name)
	}
	require.Equal(t, review.URL, posted.outputs["review-url"])
	posted.shows("Review of #42 was posted", "[The review]("+review.URL+")").says("POSTED octo/demo#42:", review.URL)
	require.Equal(t, 3, s.reviews(), "the posting job asked a model")
}

func TestApprovalsCommentChangesTheReview(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("Thank you, mostly right.\n/drop F2: awaited by the caller\n/edit F3: Return the error.\n/summary " +
		"F5\n/severity F1 major\n")
	posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
	review := s.posted()
	require.Len(t, review.Comments, 2)
	body, approval := less(t, review.Body)
	require.NotContains(t, review.Body, "not awaited")
	require.NotContains(t, review.Body, "awaited by the caller", "reasons and notes stay in the record")
	require.Contains(t, review.Comments[1].Body, "Return the error.")
	require.Contains(t, review.Comments[0].Body, "Major: Moves money")
	require.Contains(t, body, "### `ops/run.sh`")
	require.Contains(t, approval, "who dropped 1 finding, edited 1, moved 1 and regraded 1")
	require.Equal(t, "4", posted.outputs["findings"])
	require.Equal(t, "0", posted.outputs["blockers"])

	record := s.record(s.run, drafted)
	require.Equal(t, decision.Approve, record.Decision)
	require.Equal(t, "maya", record.By)
	require.Equal(t, decision.ByApproval, record.Via)
	require.Equal(t, drafted.digest(), record.Digest)
	require.Equal(t, "Thank you, mostly right.", strings.TrimSpace(record.Note))
	require.Equal(t, "awaited by the caller", record.Dropped[0].Reason)
}

// record is the decision's record in a run.
func (s *stage) record(run *githubtest.Run, drafted ended) decision.Record {
	s.t.Helper()
	for _, a := range run.Artifacts() {
		if a.Name == "pr-review-decision-"+drafted.outputs["code"] {
			r, err := checkpoint.Protection{}.OpenRecord(a.Zip())
			require.NoError(s.t, err)
			return r
		}
	}
	require.Fail(s.t, "no record")
	return decision.Record{}
}

// abortOf is a record that somebody might forge.
func (s *stage) abortOf(drafted ended) decision.Record {
	return decision.Record{Thread: drafted.outputs["thread-id"], Digest: drafted.digest(),
		Code:     drafted.outputs["code"],
		Decision: decision.Abort, By: "eve", Via: decision.ByDispatch, At: s.opened(drafted).Manifest.CreatedAt}
}

func TestAbortInTheApprovalsCommentPostsNothing(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("/abort")
	s.postJob(drafted.digest()).start().is(0, "ABORTED").shows("was rejected, nothing was posted")
	s.untouched()
	require.Equal(t, decision.Abort, s.record(s.run, drafted).Decision)
}

func TestCheck11_CommentThatDoesNotParse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ comment, says string }{
		"unknown id":      {"fine\n/drop F9", "F1 to F5"},
		"unknown command": {"/dorp F1", "/dorp"},
		"contradiction":   {"/drop F1\n/edit F1: x", "F1"},
		"revise":          {"/revise be kinder", "/revise"},
		"hostile":         {"/dorp \u202e\x1b[31m\r::stop-commands::x", "/dorp"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			s.approved(tc.comment)
			s.postJob(drafted.digest()).start().is(3, "REFUSED").says("nothing was posted", tc.says)
			s.untouched()
		})
	}
}

func TestRouteB_DispatchDecides(t *testing.T) {
	t.Parallel()
	t.Run("approve with commands", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.draftJob().with("environment", "").start().is(0, "PAUSED")
		code := drafted.outputs["code"]
		drafted.shows("gh workflow run pr-review-decide.yml --repo octo/demo -f draft=42-"+code+
			" -f checkpoint-digest="+drafted.digest()+" -f decision=approve\n",
			"-f decision=abort\n")
		s.run.Finish("success")
		j := s.decideJob(code, "approve").with("commands", "/drop F5")
		posted := j.start().is(0, "POSTED")
		require.Equal(t, drafted.digest(), posted.digest())
		_, approval := less(t, s.posted().Body)
		require.Contains(t, approval, "approved by maya")
		require.Equal(t, decision.ByDispatch, s.record(j.run, drafted).Via)
	})
	t.Run("abort", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.decideJob(drafted.outputs["code"], "abort").start().is(0, "ABORTED")
		s.untouched()
	})
	t.Run("unchanged is the same bytes", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
		sameAsShown(t, s.opened(drafted).Review, s.posted())
	})
}

// A draft that waits for a dispatch is a green run, so the run's page says that it waits.
func TestRouteB_LeavesANoticeWithCountsAndLinks(t *testing.T) {
	s := setUp(t, scene{})
	waits := s.draftJob().with("environment", "", "summary", "counts").start().is(0, "PAUSED")
	const actions = "https://github.com/octo/demo/actions/"
	require.Contains(t, waits.log, fmt.Sprintf("\n::notice::#42 waits for a decision: 1 blocker, 1 major, 2 minor, "+
		"1 nit. The draft 42-%s: %sruns/%d. Decide: %sworkflows/pr-review-decide.yml\n", waits.outputs["code"], actions,
		s.run.ID, actions))
	require.Equal(t, 1, strings.Count(waits.log, "::notice::"))
	waits.shows("**Decide** in [this form](" + actions + "workflows/pr-review-decide.yml), which *Run " +
		"workflow* opens, draft `42-" + waits.outputs["code"] + "`, or with:")
}

// Route A: the run that waits, and one line that approves its deployment.
func TestRouteA_TheDraftNamesTheRunAndALineThatApproves(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.draftJob().with("allow-dispatch", "false").start().is(0, "PAUSED")
	run := fmt.Sprintf("actions/runs/%d", s.run.ID)
	drafted.shows("**Decide** in [Review deployments](https://github.com/octo/demo/"+run+") or with:",
		"gh api -X POST repos/octo/demo/"+run+"/pending_deployments -F 'environment_ids[]=")
	require.NotContains(t, drafted.summary, "gh workflow run pr-review-decide.yml")
	require.NotContains(t, drafted.summary, "environment_ids[]=0'")
	require.NotContains(t, drafted.log, "::notice::", "the job that waits says so")
}

func TestForks(t *testing.T) {
	t.Parallel()
	for name, arm := range map[string]func(*stage){
		"fork":         func(*stage) {},
		"deleted fork": func(s *stage) { s.pull.DeleteFork() },
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{fork: true})
			later(s)
			s.pull.Label("maya", "ai-review")
			arm(s)
			drafted := s.draftJob().on("pull_request_target", "labeled").start().is(0, "PAUSED")
			s.approved("")
			s.postJob(drafted.digest()).start().is(0, "POSTED")
			require.Equal(t, s.pull.HeadSHA(), s.posted().CommitID)
		})
	}
}

func TestCheck4_ADraftThatNobodyCanDecideIsToldOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fork        bool
		event, file string
		ref         string
		says        string
	}{
		"another event": {false, "schedule", "workflow_dispatch", "refs/heads/main", `it is of the event "schedule"`},
		"a fork":        {true, "pull_request", "labeled", "refs/pull/42/merge", "it is of a fork's pull request"},
		"another branch": {false, "workflow_dispatch", "workflow_dispatch", "refs/heads/topic",
			"it was dispatched on refs/heads/topic, and drafts come from main"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{fork: tc.fork})
			if tc.fork {
				later(s)
				s.pull.Label("maya", "ai-review")
			}
			s.draftJob().on(tc.event, tc.file).set("GITHUB_REF", tc.ref).start().is(0, "PAUSED").
				says("::warning::no draft of this run can be decided: " + tc.says)
		})
	}
	t.Run("the usual one", func(t *testing.T) {
		require.NotContains(t, setUp(t, scene{}).parked().log, "can be decided")
	})
}

func TestDraftsOfEveryEventThatMayDraft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fork bool
		run  githubtest.RunOptions
		file string
	}{
		"pull_request of an own branch": {false, githubtest.RunOptions{Event: "pull_request", HeadBranch: "topic"},
			"pull_request"},
		"dispatch for a stranger's fork": {true, githubtest.RunOptions{Event: "workflow_dispatch", Actor: "maya"},
			"workflow_dispatch"},
		"pull_request_target, a label's run": {false, githubtest.RunOptions{}, "labeled"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{fork: tc.fork})
			s.run = s.repo.AddRun(tc.run)
			event := cmp.Or(tc.run.Event, "pull_request_target")
			drafted := s.draftJob().on(event, tc.file).start().is(0, "PAUSED")
			require.NotContains(t, drafted.log, "no draft of this run can be decided")
			s.approved("")
			s.postJob(drafted.digest()).on(event, tc.file).start().is(0, "POSTED")
		})
	}
}

func TestAttempt1DraftsAndAttempt2Posts(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	s.hub.Fail("POST", "/repos/octo/demo/pulls/42/reviews", githubtest.Fault{Status: 403, Times: 1})
	s.postJob(drafted.digest()).start().is(1, "FAILED")
	s.run.Finish("failure")
	require.Empty(t, s.pull.Reviews())

	s.run.Rerun()
	s.approved("")
	before := len(s.hub.Requests())
	s.postJob(drafted.digest()).start().is(0, "POSTED")
	sameAsShown(t, s.opened(drafted).Review, s.posted())
	byREST := false
	for _, r := range s.hub.Requests()[before:] {
		byREST = byREST || strings.HasSuffix(r.Path, "/zip")
	}
	require.True(t, byREST, "attempt 2's runtime protocol does not have attempt 1's artifact")
}

func TestCheck12_ApprovalsFromBeforeTheDraftDoNotCount(t *testing.T) {
	s := setUp(t, scene{})
	first := s.parked()
	s.approved("")
	s.postJob(first.digest()).start().is(0, "POSTED")

	// The whole workflow runs again: another draft at another head.
	s.pull.Push(s.pull.Tree().With(githubtest.Tree{"ops/run.sh": "# DEFECT: major: Gone\n"}))
	s.run.Rerun()
	second := s.parked()
	require.NotEqual(t, first.digest(), second.digest())
	s.postJob(second.digest()).start().is(3, "REFUSED").says("nobody has approved this draft")
	require.Len(t, s.pull.Reviews(), 1)
	s.approved("")
	s.postJob(second.digest()).start().is(0, "POSTED")
	require.Len(t, s.pull.Reviews(), 2)
}

func TestCheck12_ApprovalsCountFromTheDraftOnAlsoWhereItNamesNoEnvironment(t *testing.T) {
	s := setUp(t, scene{})
	s.approved("")
	drafted := s.draftJob().with("environment", "").start().is(0, "PAUSED")
	s.postJob(drafted.digest()).start().is(3, "REFUSED")
	s.untouched()
}

func TestFilesThatGitHubGivesNoPatchForAreDecidedLikeOthers(t *testing.T) {
	head := baseTree().With(githubtest.Tree{"ledger/transfer.go": lines("package ledger", 40,
		"y // DEFECT: minor: Line %d")})
	s := setUp(t, scene{head: head, server: githubtest.Options{PatchLines: 30}})
	require.Empty(t, s.pull.Files()[0].Patch)
	drafted := s.parked()
	require.Equal(t, "40", drafted.outputs["findings"])
	s.approved("")
	s.postJob(drafted.digest()).start()
	s.posted()
}

func TestInstancesDoNotMeet(t *testing.T) {
	s := setUp(t, scene{})
	plain := s.parked()
	docs := s.draftJob().with("instance", "docs").start().is(0, "PAUSED")
	require.Equal(t, "octo/demo#42@docs:"+s.pull.HeadSHA(), docs.outputs["thread-id"])
	require.Equal(t, "pr-review-42-docs-"+docs.outputs["code"], docs.outputs["artifact-name"])
	s.approved("")
	s.postJob(docs.digest()).start().is(3, "REFUSED").says("no draft of this name was found")
	s.postJob(docs.digest()).with("instance", "docs").start().is(0, "POSTED")
	s.postJob(plain.digest()).start().is(0, "POSTED")
	require.Len(t, s.pull.Reviews(), 2)
	for _, w := range s.writes() {
		require.Equal(t, http.MethodPost, w.Method)
	}
}
