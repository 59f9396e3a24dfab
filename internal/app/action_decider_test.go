package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestT26_Check12_WhoMayNotDecideByDispatch(t *testing.T) {
	t.Parallel()
	as := func(login string) func(*job) {
		return func(j *job) { j.set("GITHUB_ACTOR", login).set("GITHUB_TRIGGERING_ACTOR", login) }
	}
	const write = "the decision is by somebody who may not write here"
	for name, tc := range map[string]struct {
		arm  func(*job)
		says []string
	}{
		"the author": {as("lee"), []string{"the author of the pull request decided",
			"let somebody else decide, or set allow-author: true"}},
		"a bot":                    {as("machine"), []string{"a bot decided", "a person decides"}},
		"an app, which is no user": {as("helper[bot]"), []string{"a bot decided"}},
		"an account that is gone":  {as("gone"), []string{write}},
		"a reader":                 {as("rob"), []string{write, `permission "read"`, "write, maintain or admin"}},
		"triage":                   {as("tess"), []string{write}}, // GitHub tells of triage as read
		"a stranger":               {as("eve"), []string{write}},
		"nobody who is told": {func(j *job) {
			j.set("GITHUB_ACTOR", "").set("GITHUB_TRIGGERING_ACTOR", "")
		}, []string{"dispatched by one person and started again by another"}},
		"nobody who started it": {func(j *job) {
			j.set("GITHUB_TRIGGERING_ACTOR", "")
		}, []string{`dispatched by "maya", started by ""`}},
		"nobody who dispatched it": {func(j *job) {
			j.set("GITHUB_ACTOR", "")
		}, []string{`dispatched by "", started by "maya"`}},
		"of nowhere that is told": {func(j *job) {
			j.set("GITHUB_REF", "")
		}, []string{"from a branch other than the default"}},
		"somebody else's re-run": {func(j *job) { j.set("GITHUB_TRIGGERING_ACTOR", "sam") },
			[]string{"dispatched by one person and started again by another", `dispatched by "maya", started by "sam"`,
				"Run workflow, not Re-run"}},
		"of a branch (T39)": {func(j *job) { j.set("GITHUB_REF", "refs/heads/topic") },
			[]string{"the decision was dispatched from a branch other than the default", "found   refs/heads/topic",
				"without --ref"}},
		"of a tag called like the branch (T39)": {func(j *job) {
			j.set("GITHUB_REF", "refs/tags/main")
		}, []string{"from a branch other than the default"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			s.repo.Permit("tess", "triage")
			s.hub.AddUser("eve", "User")
			s.hub.AddUser("machine", "Bot")
			s.repo.Permit("machine", "write")
			code := s.draftJob().with("environment", "").start().is(0, "PAUSED").outputs["code"]
			for _, decision := range []string{"approve", "abort"} {
				j := s.decideJob(code, decision)
				tc.arm(j)
				s.refused(j.start(), append(tc.says, "nothing was posted")...)
			}
			s.decideJob(code, "approve").start().is(0, "POSTED") // what was refused decided nothing
		})
	}
}

func TestT26_Check12_WhoMayNotDecideByApproval(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ who, says string }{
		"the author": {"lee", "the author of the pull request decided"},
		"a bot":      {"helper[bot]", "a bot decided"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			s.run.Approve(gateName, tc.who, "")
			s.refused(s.postJob(drafted.digest()).start(), tc.says, "let somebody")
		})
	}
}

func TestAVoidApprovalDoesNotSayThatNothingWasPosted(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.run.Approve(gateName, "lee", "")
	s.run.Approve(gateName, "maya", "/revise shorter")
	s.run.Approve(gateName, "sam", "")
	posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
	posted.says("::warning::an approval is void, lee: the author of the pull request decided\n",
		"void, maya: /revise needs a model, and the job that decides has none\n")
	require.NotContains(t, posted.summary, "nothing was posted")
}

func TestCheck12_TheAuthorMayWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	t.Run("route A", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.run.Approve(gateName, "lee", "")
		s.postJob(drafted.digest()).with("allow-author", "true").start().is(0, "POSTED")
		require.Contains(t, s.posted().Body, "approved by lee")
	})
	t.Run("route B", func(t *testing.T) {
		s := setUp(t, scene{})
		code := s.draftJob().with("environment", "").start().is(0, "PAUSED").outputs["code"]
		j := s.decideJob(code, "approve").with("allow-author", "true")
		j.set("GITHUB_ACTOR", "lee").set("GITHUB_TRIGGERING_ACTOR", "lee").start().is(0, "POSTED")
	})
	t.Run("and no bot with them", func(t *testing.T) {
		s := setUp(t, scene{author: "helper[bot]",
			base: baseTree().With(map[string]string{".github/pr-review.yml": "admission:\n  bots: review\n"})})
		s.repo.Permit("helper[bot]", "write")
		j := s.decideJob(s.parked().outputs["code"], "approve").with("allow-author", "true")
		s.refused(j.set("GITHUB_ACTOR", "helper[bot]").set("GITHUB_TRIGGERING_ACTOR", "helper[bot]").start(),
			"a bot decided")
	})
}

// rerun runs the failed jobs again and has the deciding job's environment approved.
func (s *stage) rerun(who, comment string) {
	s.run.Finish("failure")
	s.run.Rerun()
	s.run.Wait(gateName)
	s.run.Approve(gateName, who, comment)
}

func TestCheck12_OneSlipCostsNothing(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("/drop F9: not ours")
	s.refused(s.postJob(drafted.digest()).start(), "/drop F9", "Re-run failed jobs")
	s.rerun("maya", "/drop F5: not ours")
	posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
	posted.says("::warning::an approval is void, maya: line 1 /drop F9").shows("**Void**", "maya: line 1")
	require.Equal(t, "4", posted.outputs["findings"])
	require.Equal(t, 3, s.reviews(), "paid once")
	s.posted()
}

func TestCheck12_AColleaguesYesOfTheRerunCountsAfterAFault(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ first, second, findings string }{
		"both say yes":                     {"", "looks good", "5"},
		"the second takes nothing back":    {"/drop F1", "", "4"},
		"one effect in other words":        {"/drop F2 F1: noise", "/drop F1\n/drop F2: known", "3"},
		"what may not decide says nothing": {"/drop F1", "/revise be kinder", "4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			s.approved(tc.first)
			s.hub.Fail("POST", "/repos/octo/demo/pulls/42/reviews", githubtest.Fault{Status: 403, Times: 1})
			s.postJob(drafted.digest()).start().is(1, "FAILED")
			s.rerun("sam", tc.second)
			posted := s.postJob(drafted.digest()).start().is(0, "POSTED")
			require.Equal(t, tc.findings, posted.outputs["findings"])
			s.posted()
		})
	}
}

func TestCheck12_ApprovalsThatSayDifferentThingsAreBothNamed(t *testing.T) {
	t.Parallel()
	for name, comments := range map[string][2]string{
		"two drops":       {"/drop F1", "/drop F2"},
		"one of them all": {"/approve", "/drop F2"},
		"an abort":        {"/abort", "/drop F2"},
		"two texts":       {"/edit F1: a", "/edit F1: b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.parked()
			s.approved(comments[0])
			s.run.Approve(gateName, "sam", comments[1])
			s.refused(s.postJob(drafted.digest()).start(), "two approvals of this draft say different things",
				"maya and sam")
		})
	}
	t.Run("a rejection ends the draft", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.parked()
		s.approved("/dorp F1")
		s.rerun("sam", "/drop F2")
		s.run.Decide(gateName, "rejected", "lee", "")
		s.refused(s.postJob(drafted.digest()).start(), "this draft has already been rejected")
	})
}

func TestCheck11_ARefusedDecisionShowsOnTheMark(t *testing.T) {
	t.Parallel()
	for name, decide := range routes() {
		for _, summary := range []string{"full", "counts"} {
			t.Run(name+", "+summary, func(t *testing.T) {
				s := across(t, scene{base: baseTree(), head: headTree()})
				drafted := s.parked()
				s.markJob(drafted.digest()).start().is(0, "")
				j := decide(s, drafted.digest()).with("commands", "/drop F9 transfer", "mark", "true", "summary",
					summary)
				j.may(map[string]string{"pull_requests": "write", "actions": "read", "contents": "read",
					"statuses": "write"})
				j.start().is(3, "REFUSED").shows("line 1", "F1 to F5")
				all := s.repo.Statuses(s.pull.HeadSHA())
				require.Len(t, all, 2)
				require.Equal(t, "pending", all[1].State)
				require.Regexp(t, "^decision refused: line 1 .*; draft "+drafted.outputs["code"]+" waits$",
					all[1].Description)
				require.LessOrEqual(t, len([]rune(all[1].Description)), 140)
				require.Equal(t, summary == "full", strings.Contains(all[1].Description, "transfer"))
				require.Equal(t, fmt.Sprintf("https://github.com/octo/demo/actions/runs/%d", j.run.ID), all[1].URL)

				j.with("commands", "").start().is(0, "POSTED")
				all = s.repo.Statuses(s.pull.HeadSHA())
				require.Equal(t, "decided: posted", all[len(all)-1].Description)
			})
		}
	}
}

// TestCheck12_APersonsTokenPostsTheirOwnDecisionsAlone holds OWN-ACCOUNT.md: a review in
// maya's name is one that maya decided.
func TestCheck12_APersonsTokenPostsTheirOwnDecisionsAlone(t *testing.T) {
	t.Parallel()
	const says = "the job's token is sam's own, and somebody else decided, nothing was posted"
	t.Run("dispatch", func(t *testing.T) {
		s := setUp(t, scene{})
		s.repo.Permit("sam", "write")
		code := s.draftJob().with("environment", "").start().is(0, "PAUSED").outputs["code"]
		j := s.decideJob(code, "approve")
		j.token = s.hub.UserToken("sam")
		j.start().is(3, "REFUSED").says(says, "decided  maya", "leave out github-token", "let sam decide")
		require.Empty(t, s.pull.Reviews())
		j = s.decideJob(code, "approve").set("GITHUB_ACTOR", "sam").set("GITHUB_TRIGGERING_ACTOR", "sam")
		j.token = s.hub.UserToken("sam")
		j.start().is(0, "POSTED")
	})
	t.Run("dispatch, an abort posts nothing", func(t *testing.T) {
		s := setUp(t, scene{})
		j := s.decideJob(s.draftJob().with("environment", "").start().is(0, "PAUSED").outputs["code"], "abort")
		j.token = s.hub.UserToken("sam")
		s.repo.Permit("sam", "write")
		j.start().is(0, "ABORTED")
	})
	approved := func(t *testing.T, comment string) (s *stage, postAsSam func() *job) {
		s = setUp(t, scene{})
		s.repo.Permit("sam", "write")
		drafted := s.parked()
		s.approved(comment)
		return s, func() *job {
			j := s.postJob(drafted.digest())
			j.token = s.hub.UserToken("sam")
			return j
		}
	}
	t.Run("approval", func(t *testing.T) {
		s, postAsSam := approved(t, "")
		postAsSam().start().is(3, "REFUSED").says(says)
		require.Empty(t, s.pull.Reviews())
		s.run.Approve(gateName, "sam", "")
		postAsSam().start().is(0, "POSTED")
	})
	t.Run("approval, another's words", func(t *testing.T) {
		s, postAsSam := approved(t, "/edit F1: Look at this.")
		s.run.Approve(gateName, "sam", "")
		postAsSam().start().is(3, "REFUSED").says(says)
		require.Empty(t, s.pull.Reviews())
	})
}

func TestAnEnvironmentThatAsksTheAuthorAloneIsToldBeforehand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reviewers []string
		allowed   string
		told      bool
	}{
		"the author alone":   {[]string{"lee"}, "false", true},
		"who may":            {[]string{"lee"}, "true", false},
		"one of two":         {[]string{"lee", "sam"}, "false", false},
		"another one":        {[]string{"sam"}, "false", false},
		"a team may have it": {[]string{"@leads"}, "false", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			s.repo.AddEnvironment(gateName, c.reviewers...)
			drafted := s.draftJob().with("allow-author", c.allowed).start().is(0, "PAUSED")
			require.Equal(t, c.told, strings.Contains(drafted.log, "::warning::nobody may approve this draft: lee wrote"))
		})
	}
}
