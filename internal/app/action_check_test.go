package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

// Every resume check is met here by its own attack, by both routes where
// an earlier test has it by one.

func TestCheck1_RunThatIsNotOfThisRepository(t *testing.T) {
	overRoutes(t, scene{}, func(s *stage, drafted ended, decide route) *job {
		theirs := s.hub.AddRepo("evil/demo", githubtest.RepoOptions{}).AddRun(githubtest.RunOptions{})
		return decide(s, drafted.digest()).with("run-id", fmt.Sprint(theirs.ID))
	}, "no draft of this name was found")
}

// TestCheck1_ListsThatLackADraftJustMade has neither list show the draft at first.
func TestCheck1_ListsThatLackADraftJustMade(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	unlisted := func(times int) {
		s.hub.Fail("POST", "**/ListArtifacts", githubtest.Fault{Status: 200, Body: "{}", Times: times})
		s.hub.Fail("GET", "**/actions/runs/*/artifacts", githubtest.Fault{Status: 200,
			Body: `{"total_count":0,"artifacts":[]}`, Times: times})
	}
	unlisted(0)
	s.postJob(drafted.digest()).start().is(3, "REFUSED").says("no draft of this name was found")
	s.hub.ClearFaults()
	unlisted(2)
	s.postJob(drafted.digest()).start().is(0, "POSTED")
}

func TestCheck3_TruncatedCheckpointByBothRoutes(t *testing.T) {
	overRoutes(t, scene{}, func(s *stage, drafted ended, decide route) *job {
		z := s.draftArtifact(drafted).Zip()
		return decide(s, s.stored(z[:len(z)-1]))
	}, "the checkpoint cannot be read", "run the workflow that drafts again")
}

func TestT19_Check4_RunsThatMayNotDraft(t *testing.T) {
	t.Parallel()
	of := func(o githubtest.RunOptions) func(*stage) *githubtest.Run {
		return func(s *stage) *githubtest.Run { return s.repo.AddRun(o) }
	}
	for name, tc := range map[string]struct {
		run  func(*stage) *githubtest.Run
		says []string
	}{
		"another workflow": {of(githubtest.RunOptions{Path: ".github/workflows/ci.yml"}),
			[]string{"workflow file", `found   ".github/workflows/ci.yml"`, "wanted  " + draftWorkflow}},
		"a push": {of(githubtest.RunOptions{Event: "push"}), []string{"event", "push"}},
		"a fork": {func(s *stage) *githubtest.Run {
			return s.repo.AddRun(githubtest.RunOptions{Event: "pull_request", HeadRepo: s.fork})
		}, []string{"head repository id", "no fork"}},
		"an issue's comment": {of(githubtest.RunOptions{Event: "issue_comment"}), []string{"event", "issue_comment"}},
		"a dispatch of a tag called like the default branch": {func(s *stage) *githubtest.Run {
			return s.repo.AddRun(githubtest.RunOptions{Event: "workflow_dispatch", HeadBranch: "main",
				HeadSHA: s.repo.Commit("edited", "its workflow", baseTree())})
		}, []string{"commit", "a tag of that name does not count"}},
		"a dispatch from a branch": {of(githubtest.RunOptions{Event: "workflow_dispatch", HeadBranch: "topic"}),
			[]string{"branch", "main, the default branch"}},
	} {
		t.Run(name, func(t *testing.T) {
			overRoutes(t, scene{fork: true, author: "sam"}, func(s *stage, drafted ended, decide route) *job {
				other := tc.run(s)
				forged := s.forged(drafted, func(m *checkpoint.Manifest) { m.RunID = other.ID })
				other.AddArtifact("pr-review-42-"+forged.Code, forged.Zip)
				return decide(s, forged.Digest).with("run-id", fmt.Sprint(other.ID))
			}, append(tc.says, "the draft was made by a run that may not make drafts",
				"only decide drafts of your own review workflow")...)
		})
	}
}

// tagged is a run of a tag that is called like the default branch, whose workflow
// its maker has edited.
func (s *stage) tagged(path string) *githubtest.Run {
	return s.repo.AddRun(githubtest.RunOptions{
		Path: path, Event: "workflow_dispatch", HeadBranch: "main",
		HeadSHA: s.repo.Commit("edited", "its workflow", baseTree()), Actor: "lee",
	})
}

func TestT39_ARecordOfARunThatMayNotDecideBlocksNothing(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*stage) *githubtest.Run{
		"a tag called like the default branch": func(s *stage) *githubtest.Run { return s.tagged(decidePath) },
		"a tag, in the drafting workflow":      func(s *stage) *githubtest.Run { return s.tagged(draftWorkflow) },
		"a schedule": func(s *stage) *githubtest.Run {
			return s.repo.AddRun(githubtest.RunOptions{Event: "schedule"})
		},
		"a push": func(s *stage) *githubtest.Run {
			return s.repo.AddRun(githubtest.RunOptions{Path: decidePath, Event: "push"})
		},
		"a pull request from the default branch": func(s *stage) *githubtest.Run {
			return s.repo.AddRun(githubtest.RunOptions{Event: "pull_request", HeadBranch: "main",
				HeadSHA: s.pull.HeadSHA()})
		},
	} {
		for route, decide := range routes() {
			t.Run(name+", "+route, func(t *testing.T) {
				s := setUp(t, scene{})
				drafted := s.parked()
				z, err := checkpoint.Protection{}.PackRecord(s.abortOf(drafted))
				require.NoError(t, err)
				run(s).AddArtifact("pr-review-decision-"+drafted.outputs["code"], z)
				run(s).AddArtifact("pr-review-decision-"+drafted.outputs["code"], []byte("garbage"))
				decide(s, drafted.digest()).start().is(0, "POSTED")
				s.posted()
			})
		}
	}
}

func TestCheck4_WithoutContentsReadADispatchedDraftIsRefusedAndThePermissionNamed(t *testing.T) {
	t.Parallel()
	for name, decide := range routes() {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			s.run = s.repo.AddRun(githubtest.RunOptions{Event: "workflow_dispatch", Actor: "maya"})
			drafted := s.draftJob().on("workflow_dispatch", "workflow_dispatch").start().is(0, "PAUSED")
			less := map[string]string{"pull_requests": "write", "actions": "read"}
			s.refused(decide(s, drafted.digest()).may(less).start(), "of the default branch",
				"give the job contents: read")
			decide(s, drafted.digest()).start().is(0, "POSTED")
		})
	}
}

func TestT19_Check4_TheSameFileOfAnotherRepository(t *testing.T) {
	overRoutes(t, scene{}, func(s *stage, drafted ended, decide route) *job {
		theirs := s.repo.ID + 1
		s.hub.Fail(http.MethodGet, fmt.Sprintf("/repos/octo/demo/actions/runs/%d", s.run.ID),
			githubtest.Fault{Status: http.StatusOK, Body: fmt.Sprintf(
				`{"id":%d,"path":%q,"event":"pull_request_target","head_branch":"main","repository":{"id":%d}`+
					`,"head_repository":{"id":%[3]d}}`, s.run.ID, draftWorkflow, theirs)})
		return decide(s, drafted.digest())
	}, "the draft was made by a run that may not make drafts", "repository id")
}

func TestCheck5_DraftsWithoutASoundSeal(t *testing.T) {
	t.Parallel()
	const none, wrong = "the draft carries no seal", "the key is not the one that sealed the draft, or it was changed"
	for name, tc := range map[string]struct {
		change func(s *stage, drafted ended) (digest string)
		says   string
	}{
		"another key": {func(s *stage, drafted ended) string {
			o := s.opened(drafted)
			packed, err := under(s.t, s.trust, anotherKey).Pack(o.Manifest, o.Snapshot, o.Shown)
			require.NoError(s.t, err)
			return s.stored(packed.Zip)
		}, wrong},
		"packed without a key": {func(s *stage, drafted ended) string {
			return s.stored(s.forged(drafted, func(*checkpoint.Manifest) {}).Zip)
		}, none},
		"seal cut out": {func(s *stage, drafted ended) string {
			return s.altered(drafted, func(m string) string { return sealMember.ReplaceAllString(m, "{") })
		}, none},
		"empty key": {func(s *stage, drafted ended) string {
			return s.altered(drafted, func(m string) string { return resealed(m, nil) })
		}, wrong},
		"algorithm none": {func(s *stage, drafted ended) string {
			return s.altered(drafted, func(m string) string { return strings.Replace(m, `"hmac-sha256:`, `"none:`, 1) })
		}, none},
		"another algorithm": {func(s *stage, drafted ended) string {
			return s.altered(drafted, func(m string) string {
				return strings.Replace(m, `"hmac-sha256:`, `"sha256:`, 1)
			})
		}, none},
		"a figure changed": {func(s *stage, drafted ended) string {
			return s.altered(drafted, func(m string) string {
				return strings.Replace(m, `"blockers": 1`, `"blockers": 0`, 1)
			})
		}, wrong},
		"checkpoint cut": {func(s *stage, drafted ended) string {
			all := entries(s.t, s.draftArtifact(drafted).Zip())
			all[1].content = all[1].content[:len(all[1].content)-1]
			return s.stored(zipped(s.t, all))
		}, wrong},
	} {
		for _, trust := range []string{checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
			t.Run(name+", trust "+trust, func(t *testing.T) {
				overRoutes(t, scene{trust: trust}, func(s *stage, drafted ended, decide route) *job {
					return decide(s, tc.change(s, drafted))
				}, tc.says, "give both jobs the same")
			})
		}
	}
}

func TestCheck6_FormatsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, new, says string }{
		"a later format": {`"format": 3`, `"format": 4`,
			"the checkpoint has a format that this version does not know"},
		"another graph": {`"name": "reviewpr"`, `"name": "ticketpr"`,
			"the draft comes from a graph that this version does not know"},
		// by check 3: a partial has no review.md
		"a partial's mark": {`"trust": "digest",`, `"trust": "digest", "partial": 1,`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			overRoutes(t, scene{}, func(s *stage, drafted ended, decide route) *job {
				return decide(s, s.altered(drafted, func(m string) string {
					return strings.Replace(m, tc.old, tc.new, 1)
				}))
			}, tc.says)
		})
	}
}

func TestCheck7_AnotherPullRequestByRouteA(t *testing.T) {
	s := setUp(t, scene{})
	forged := s.forged(s.parked(), func(m *checkpoint.Manifest) { m.Subject.Number = 7 })
	s.refused(routes()["route A"](s, s.stored(forged.Zip)).start(), "the draft is of another pull request",
		"wanted  \"octo/demo#42:")
}

func TestCheck8_TrustDiffersBetweenTheJobs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ drafted, decides, says string }{
		{"", "seal", "the draft carries no seal, and this job says trust: seal"}, // check 5
		{"", "encrypt", "the draft carries no seal, and this job says trust: encrypt"},
		{"seal", "digest", "the draft was made under trust: seal, this job says digest"},
		{"seal", "encrypt", "the draft was made under trust: seal, this job says encrypt"},
		{"encrypt", "digest", "the draft was made under trust: encrypt, this job says digest"},
		{"encrypt", "seal", "the draft was made under trust: encrypt, this job says seal"},
	} {
		t.Run(tc.drafted+" and "+tc.decides, func(t *testing.T) {
			overRoutes(t, scene{trust: tc.drafted}, func(s *stage, drafted ended, decide route) *job {
				return decide(s, drafted.digest()).with("trust", tc.decides, "checkpoint-key", checkpointKey)
			}, tc.says, "give both jobs the same trust")
		})
	}
}

func TestCheck8_AnotherEnvironment(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.repo.AddEnvironment("staging", "lee")
	s.run.Approve("staging", "sam", "")
	s.refused(s.postJob(drafted.digest()).with("environment", "staging").start(),
		"the draft waits for the approval of another environment", `environment "ai-review"`, `environment "staging"`)
	s.approved("")
	s.postJob(drafted.digest()).with("environment", "AI-Review").start().is(0, "POSTED")
}

func TestCheck8_WhatGovernsNothingIsShownAndRefusesNothing(t *testing.T) {
	t.Parallel()
	for name, decide := range routes() {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			forged := s.forged(s.parked(), func(m *checkpoint.Manifest) {
				m.ToolVersion, m.PromptFingerprint = "v0.0.1-`x`", strings.Repeat("0", len(m.PromptFingerprint))
			})
			e := decide(s, s.stored(forged.Zip)).start().is(0, "POSTED")
			e.shows("**Changed since the draft**", "v0.0.1", "the prompts were changed since the draft")
			s.posted()
		})
	}
}

func TestCheck10_ExpiredDraftByRouteB(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.draftJob().with("expires", "1h").start().is(0, "PAUSED")
	end := s.opened(drafted).Manifest.ExpiresAt
	late := s.decideJob(drafted.outputs["code"], "approve").set("NOW",
		end.Add(time.Second).Format(time.RFC3339)).start()
	late.is(3, "EXPIRED").says("the draft was not decided in time", "start a new draft").
		shows("The draft for #42 has expired", "gh workflow run pr-review.yml --repo octo/demo -f pull-request=42")
	s.untouched()
}

func TestCheck11_CommandsThatDoNotParseByRouteB(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ decision, commands, says string }{
		"unknown id":             {"approve", "/drop F9", "F1 to F5"},
		"unknown command":        {"approve", "/dorp F1", "/dorp"},
		"contradicts itself":     {"approve", "/drop F1\n/edit F1: x", "F1"},
		"contradicts the choice": {"approve", "/abort", "/abort"},
		"the other way round":    {"abort", "/approve", "/approve"},
		"hostile":                {"approve", "/drop F1\n/dorp \u202e\x1b[31m\r::stop-commands::x", "/dorp"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			s.refused(s.decideJob(s.parked().outputs["code"], tc.decision).with("commands", tc.commands).start(),
				tc.says)
		})
	}
}
