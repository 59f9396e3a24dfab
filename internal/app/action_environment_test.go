package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestCheck12_NoDispatchDecidesADraftThatWaitsForAnEnvironment(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := setUp(t, scene{trust: trust})
			drafted := s.draftJob().with("allow-dispatch", "false").start().is(0, "PAUSED")
			require.NotContains(t, drafted.summary, "decision=approve")
			for _, decision := range []string{"approve", "abort"} {
				// the draft job's word counts
				j := s.decideJob(drafted.outputs["code"], decision).with("allow-dispatch", "true")
				s.refused(j.start(), "the draft waits for an environment", `environment "ai-review"`,
					"decide in the dialog", "allow-dispatch: true in the drafting job")
			}
			s.approved("")
			s.postJob(drafted.digest()).start().is(0, "POSTED")
		})
	}
}

func TestCheck12_AllowDispatchOpensItToTheEnvironmentsReviewers(t *testing.T) {
	t.Parallel()
	const membership = "/orgs/octo/teams/leads/memberships/ann"
	for name, tc := range map[string]struct {
		who  string
		arm  func(*stage)
		says []string
	}{
		"a reviewer":           {"sam", nil, nil},
		"a reader among them":  {"rob", nil, nil},
		"a writer who is none": {"ann", nil, []string{"ann is not one of the environment's reviewers"}},
		"the author among them": {"lee", func(s *stage) { s.repo.AddEnvironment(gateName, "lee") },
			[]string{"the author of the pull request decided"}},
		"who started the run, where that is prevented": {"sam", func(s *stage) {
			s.repo.SetEnvironment(gateName, func(e *githubtest.Environment) { e.NoSelf = true })
			s.run = s.repo.AddRun(githubtest.RunOptions{Actor: "sam"})
		}, []string{"sam started the run", "prevents self-review"}},
		"another one there": {"rob", func(s *stage) {
			s.repo.SetEnvironment(gateName, func(e *githubtest.Environment) { e.NoSelf = true })
			s.run = s.repo.AddRun(githubtest.RunOptions{Actor: "sam"})
		}, nil},
		"a team that the token may not read": {"ann", func(s *stage) {
			s.hub.Fail("GET", membership, githubtest.Fault{Status: http.StatusForbidden})
		}, []string{"cannot tell whether ann", "team leads", "organization's members"}},
		"a team's member": {"ann", func(s *stage) {
			s.hub.Fail("GET", membership, githubtest.Fault{Status: http.StatusOK,
				Body: `{"url":"x","role":"member","state":"active"}`})
		}, nil},
		"a team's member, behind another team that may not be read": {"ann", func(s *stage) {
			s.repo.AddEnvironment(gateName, "@staff", "@leads")
			s.hub.Fail("GET", "/orgs/octo/teams/staff/memberships/ann", githubtest.Fault{Status: http.StatusNotFound})
			s.hub.Fail("GET", membership, githubtest.Fault{Status: http.StatusOK,
				Body: `{"url":"x","role":"member","state":"active"}`})
		}, nil},
		"invited to it": {"ann", func(s *stage) {
			s.hub.Fail("GET", membership, githubtest.Fault{Status: http.StatusOK,
				Body: `{"url":"x","role":"member","state":"pending"}`})
		}, []string{"ann is not one"}},
		"an environment that is gone": {"maya", func(s *stage) {
			s.repo.AddEnvironment(gateName)
		}, []string{"maya is not one"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			s.repo.Permit("ann", "write")
			s.repo.AddEnvironment(gateName, "sam", "rob")
			if len(name) > 6 && (name[:6] == "a team" || name[:6] == "invite") {
				s.repo.AddEnvironment(gateName, "sam", "@leads")
			}
			if tc.arm != nil && name != "an environment that is gone" {
				tc.arm(s)
			}
			drafted := s.parked().shows("**By dispatch**, for its reviewers", " -f decision=approve\n")
			if name == "an environment that is gone" {
				tc.arm(s)
			}
			e := s.decideJob(drafted.outputs["code"], "approve").by(tc.who).start()
			if tc.says == nil {
				e.is(0, "POSTED")
				s.posted()
				return
			}
			s.refused(e, tc.says...)
		})
	}
}

func TestCheck12_AReviewerWhoCannotBeAskedForDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/repos/octo/demo/environments/*", "/orgs/octo/teams/leads/memberships/ann",
		"/repos/octo/demo/collaborators/ann/permission", "/repos/octo/demo/actions/runs/*/approvals"} {
		t.Run(path, func(t *testing.T) {
			s := setUp(t, scene{})
			s.repo.Permit("ann", "write")
			s.repo.AddEnvironment(gateName, "sam", "@leads")
			drafted := s.parked()
			s.hub.Fail("GET", path, githubtest.Fault{Status: http.StatusInternalServerError})
			s.decideJob(drafted.outputs["code"], "approve").by("ann").start().is(1, "FAILED").says("500")
			s.untouched()
		})
	}
}

func TestCheck12_TheSettingsOfTheBaseNameWhoDecides(t *testing.T) {
	s := setUp(t, scene{
		base: baseTree().With(githubtest.Tree{".github/pr-review.yml": "deciders: [Sam, lee]\n"}),
		head: headTree().With(githubtest.Tree{".github/pr-review.yml": "deciders: [maya]\n"}),
	})
	code := s.draftJob().with("environment", "").start().is(0, "PAUSED").outputs["code"]
	e := s.decideJob(code, "approve").start()
	s.refused(e, "the settings name who decides", "maya", "Sam, lee")
	require.Equal(t, code, e.outputs["code"], "the outputs name what was read")
	s.refused(s.decideJob(code, "approve").by("lee").start(), "the author of the pull request decided")
	s.repo.Permit("sam", "triage")
	own := s.cli(map[string]string{"GITHUB_TOKEN": s.hub.UserToken("sam")}, "resume", "octo/demo#42", "--post",
		"--approve")
	require.Contains(t, own.ends(3).stderr, "somebody who may not write here", "later runs could not tell it is ours")
	s.decideJob(code, "approve").by("sam").start().is(0, "POSTED")
}

func TestAgain_ByNobodyWithdrawsNothing(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.anew(githubtest.RunOptions{Event: "workflow_dispatch", Actor: "maya"})
	s.draftJob().with("again", "true").by("").start().is(3, "REFUSED").says("nobody is named who decided")
	s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
}

// silenced drafts, then has the draft made again by somebody while the model says nothing.
func silenced(s *stage, quiet *bool, environment, who string) (old, newer ended) {
	old = s.draftJob().with("environment", environment).start().is(0, "PAUSED")
	*quiet = true
	s.anew(githubtest.RunOptions{Event: "workflow_dispatch", Actor: who})
	return old, s.draftJob().with("environment", environment, "again", "true").by(who).on("workflow_dispatch",
		"workflow_dispatch").start()
}

// Results of one commit are taken over at the next.
func TestAgain_WhoMayNotDecideDoesNotRollAFindingOfTheNextCommitAway(t *testing.T) {
	quiet := false
	s := setUp(t, scene{trust: checkpoint.TrustSeal, script: func(r llmtest.Request) llmtest.Answer {
		if quiet {
			return llmtest.Findings()
		}
		return critic(r)
	}})
	_, newer := silenced(s, &quiet, "", "lee")
	newer.is(0, "PAUSED")
	asked := s.reviews()
	s.pushed(headTree().With(githubtest.Tree{"more.go": goFile(3, "")}))
	next := s.draftJob().with("environment", "").start().is(0, "PAUSED")
	require.Equal(t, "5", next.outputs["findings"])
	require.Equal(t, asked+1, s.reviews(), "of the draft before the withdrawn one is taken over what it has")
}

func TestAgain_WhoMayNotDecideDoesNotRollAFindingAway(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		environment, who string
		stays            bool
	}{
		"the author":                    {"", "lee", true},
		"the author, of an environment": {gateName, "lee", true},
		"a reader":                      {"", "rob", true},
		"a writer, of an environment":   {gateName, "ann", true},
		"a writer":                      {"", "ann", false},
		"a reviewer of the environment": {gateName, "sam", false},
	} {
		for _, trust := range []string{"", checkpoint.TrustSeal} {
			t.Run(name+", trust "+trust, func(t *testing.T) {
				quiet := false
				s := setUp(t, scene{trust: trust, script: func(r llmtest.Request) llmtest.Answer {
					if quiet {
						return llmtest.Findings()
					}
					return critic(r)
				}})
				s.repo.Permit("ann", "write")
				old, newer := silenced(s, &quiet, tc.environment, tc.who)
				if !tc.stays {
					newer.is(0, "CLEAN")
					return
				}
				newer.is(0, "PAUSED").shows("The findings of the withdrawn draft `"+old.outputs["code"]+
					"` stay in this one", "may not decide", "Moves money without a lock")
				require.Equal(t, []string{"5", "1"}, []string{newer.outputs["findings"], newer.outputs["blockers"]})

				s.anew(githubtest.RunOptions{Event: "workflow_dispatch", Actor: "lee"})
				third := s.draftJob().with("environment", tc.environment, "again",
					"true").by("lee").on("workflow_dispatch", "workflow_dispatch").start().is(0, "PAUSED")
				require.Equal(t, "5", third.outputs["findings"], "rolled twice, and each finding is there once")

				if trust == checkpoint.TrustSeal { // its silent answers are taken over
					s.anew(githubtest.RunOptions{})
					third = s.draftJob().with("environment", tc.environment).start().is(0, "PAUSED").
						shows("stay in this one: `lee` had it drafted again")
					require.Equal(t, "5", third.outputs["findings"])
				}
				s.decideJob(third.outputs["code"], "approve").start().is(0, "POSTED")
				require.Contains(t, s.posted().Comments[0].Body, "Moves money without a lock")
			})
		}
	}
}
