package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// shipWorkflows puts the shipped workflow files on the default branch, which a dispatch
// is held against.
func (s *stage) shipWorkflows() {
	s.t.Helper()
	files := githubtest.Tree{}
	for _, path := range []string{draftWorkflow, decidePath} {
		text, err := os.ReadFile(filepath.Join("..", "..", path))
		require.NoError(s.t, err)
		files[path] = string(text)
	}
	s.repo.Commit("main", "the workflows", s.repo.Tree("main").With(files))
}

// setUpDecided is a stage whose repository has the shipped workflows, and a draft that
// waits: for the environment, or by route B for a dispatch.
func setUpDecided(t *testing.T, byEnvironment bool) (s *stage, code string) {
	t.Helper()
	s = setUp(t, scene{})
	s.shipWorkflows()
	return s, s.waits(byEnvironment).outputs["code"]
}

// waits drafts, and lets the run wait where its environment decides.
func (s *stage) waits(byEnvironment bool, with ...string) ended {
	s.t.Helper()
	draft := s.draftJob().with("allow-dispatch", "false").with(with...)
	if !byEnvironment {
		draft.with("environment", "")
	}
	drafted := draft.start().is(0, "PAUSED")
	if s.run.Finish("success"); byEnvironment {
		s.run.Wait(gateName)
	}
	return drafted
}

// resume runs pr-review-action resume octo/demo#42 as maya.
func (s *stage) resume(args ...string) said {
	s.t.Helper()
	return s.cli(nil, append([]string{"resume", "octo/demo#42"}, args...)...)
}

// dispatched is the run that the command's last line names.
func (e said) dispatched(s *stage) *githubtest.Run {
	e.t.Helper()
	require.Regexp(e.t, `(?m)^PAUSED https://github\.com/octo/demo/actions/runs/[0-9]+\n$`, e.stdout)
	id, err := strconv.ParseInt(strings.TrimSpace(e.stdout[strings.LastIndexByte(e.stdout, '/')+1:]), 10, 64)
	require.NoError(e.t, err)
	run := s.repo.Run(id)
	require.NotNil(e.t, run)
	return run
}

// decides is the deciding job of a run that was dispatched.
func (s *stage) decides(run *githubtest.Run, by string) *job {
	values := map[string]string{}
	for _, name := range []string{"draft", "checkpoint-digest", "decision", "commands"} {
		values["${{ inputs."+name+" }}"] = run.Inputs()[name]
	}
	return s.job(run, decidePath, "decide", "workflow_dispatch", values).by(by)
}

func TestResumeDispatchesTheDecisionOfADraftOnGitHub(t *testing.T) {
	const credential = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	s, code := setUpDecided(t, false)
	shown := s.resume().ends(0)
	for _, want := range []string{"Moves money", "Code " + code + ", until", "resume octo/demo#42 --code " + code +
		" --approve", "gh workflow run pr-review-decide.yml --repo octo/demo -f draft=42-" + code} {
		require.Contains(t, shown.stdout, want)
	}
	changed := s.resume("--command", "/drop F2: as intended").ends(0)
	require.NotContains(t, changed.stdout, "The promise is not awaited")
	require.Contains(t, changed.stdout, "--code "+code+" --approve --command '/drop F2: as intended'")
	s.untouched()

	run := s.resume("--approve", "--command", "/drop F2: as intended", "--command",
		"/edit F3: Say "+credential).ends(0).dispatched(s)
	require.Equal(t, "approve", run.Inputs()["decision"])
	require.NotContains(t, fmt.Sprint(run.Inputs()), credential, "who may read the repository reads it there")
	require.Empty(t, s.pull.Reviews(), "the job posts, and no one else")
	s.decides(run, "maya").start().is(0, "POSTED")
	posted := fmt.Sprint(s.pull.Reviews())
	require.NotContains(t, posted, "The promise is not awaited")
	require.Contains(t, posted, "approved by maya")

	run.Finish("success")
	again := s.resume("--approve", "--command", "/drop F2: as intended", "--command",
		"/edit F3: Say "+credential).ends(0)
	require.Regexp(t, `^POSTED https://github\.com/octo/demo/pull/42#`, again.stdout)
	require.Contains(t, again.stderr, "maya decided this draft before")
	require.Contains(t, s.resume("--abort").ends(3).stderr, "already been decided differently")
	require.Contains(t, s.resume().ends(0).stdout, "Code "+code+", decided: approve by maya.")
}

func TestResumeAndShowFindAThreadsDraftOnGitHub(t *testing.T) {
	s, code := setUpDecided(t, false)
	thread := "octo/demo#42:" + s.pull.HeadSHA()
	for _, typed := range []string{thread, thread[:len("octo/demo#42:")+7], "Octo/DEMO#42:" + s.pull.HeadSHA()} {
		require.Contains(t, s.cli(nil, "show", typed).ends(0).stdout, code)
	}
	run := s.cli(nil, "resume", thread, "--approve", "--command", "/drop F2").ends(0).dispatched(s)
	s.decides(run, "maya").start().is(0, "POSTED")
	for _, other := range []string{"octo/demo#42:" + strings.Repeat("0", 40), "octo/demo#42@docs:" + s.pull.HeadSHA(),
		"octo/other#42:" + s.pull.HeadSHA()} {
		require.Regexp(t, "no draft of (thread .* is parked here|octo/demo#42 is parked on GitHub)",
			s.cli(nil, "resume", other, "--approve").ends(3).stderr)
	}
}

func TestResumeAnswersForTheEnvironmentThatADraftWaitsFor(t *testing.T) {
	t.Parallel()
	for decision, tc := range map[string]struct {
		flags   []string
		comment string
	}{
		"approved":           {[]string{"--approve"}, "/approve"},
		"approved, changed":  {[]string{"--approve", "--command", "/drop F2: known"}, "/drop F2: known"},
		"rejected":           {[]string{"--abort"}, "/abort"},
		"rejected, with why": {[]string{"--abort", "--command", "/abort: too noisy"}, "/abort: too noisy"},
	} {
		t.Run(decision, func(t *testing.T) {
			s := setUp(t, scene{})
			drafted := s.waits(true)
			e := s.resume(tc.flags...).ends(0)
			require.Equal(t, fmt.Sprintf("PAUSED https://github.com/octo/demo/actions/runs/%d\n", s.run.ID), e.stdout)
			require.Len(t, s.writes(), 1)
			require.Contains(t, string(s.writes()[0].Body), `"comment":"`+tc.comment+`"`)
			if strings.HasPrefix(decision, "rejected") {
				s.recordJob(drafted.digest()).start().is(0, "ABORTED")
				require.Empty(t, s.pull.Reviews())
				return
			}
			s.postJob(drafted.digest()).start().is(0, "POSTED")
			require.Equal(t, tc.comment == "/approve", strings.Contains(fmt.Sprint(s.pull.Reviews()),
				"The promise is not awaited"))
		})
	}
}

func TestResumeSaysWhatATokenLacks(t *testing.T) {
	t.Parallel()
	read := map[string]string{"contents": "read", "pull_requests": "write", "actions": "read"}
	for name, tc := range map[string]struct {
		byEnvironment bool
		token         func(*stage) string
		code          int
		says          []string
	}{
		"no dispatch": {false, func(s *stage) string { return s.hub.AppToken(s.repo, read) }, 1,
			[]string{"may not start workflows (actions: write)", "actions: write"}},
		"no deployments": {true, func(s *stage) string { return s.hub.UserToken("rob") }, 3,
			[]string{"takes no answer from this token's account", "let one of its reviewers decide", "maya, sam"}},
		"an app": {true, func(s *stage) string { return s.hub.AppToken(s.repo, read) }, 3,
			[]string{"takes no answer from this token's account", "maya, sam"}},
		"who may read": {false, func(s *stage) string { return s.hub.UserToken("rob") }, 1,
			[]string{"may not start workflows (actions: write)", "next"}},
		"no token": {false, func(*stage) string { return "" }, 2, []string{"there is no token", "GITHUB_TOKEN"}},
		"no download": {false, func(s *stage) string {
			s.hub.Fail("GET", "/repos/octo/demo/actions/artifacts/*/zip",
				githubtest.Fault{Status: http.StatusForbidden})
			return s.hub.UserToken("maya")
		}, 1, []string{"downloading artifact", "the token has no access", "GITHUB_TOKEN"}},
		"no actions": {false, func(s *stage) string {
			return s.hub.AppToken(s.repo, map[string]string{"contents": "read"})
		}, 2, []string{"give the job actions: read"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := setUpDecided(t, tc.byEnvironment)
			e := s.cli(map[string]string{"GITHUB_TOKEN": tc.token(s)}, "resume", "octo/demo#42",
				"--approve").ends(tc.code)
			for _, want := range tc.says {
				require.Contains(t, e.stderr, want)
			}
			line := map[int]string{1: "FAILED octo/demo#42", 3: "REFUSED octo/demo#42:"}[tc.code] // "" for 2
			require.True(t, strings.HasPrefix(e.stdout, line), e.stdout)
			require.Equal(t, line == "", e.stdout == "")
			require.Empty(t, s.pull.Reviews())
		})
	}
	t.Run("deployments: write", func(t *testing.T) {
		s, _ := setUpDecided(t, true)
		s.hub.Fail("POST", "/repos/octo/demo/actions/runs/*/pending_deployments", githubtest.Fault{
			Status:  http.StatusForbidden,
			Headers: map[string]string{"X-Accepted-GitHub-Permissions": "deployments=write"},
		})
		require.Contains(t, s.resume("--approve").ends(1).stderr, "deployments: write")
	})
}

func TestResumeRefusesWhatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	push := func(s *stage) {
		s.pull.Push(s.pull.Tree().With(githubtest.Tree{"ops/run.sh": "#!/bin/sh\n"}))
		s.run.Finish("cancelled") // the concurrency group of its workflow
	}
	onAnswer := func(s *stage, do func()) {
		s.hub.OnRequest(func(_ int, r *http.Request, phase string) {
			if phase == "before" && r.Method == http.MethodPost &&
				strings.HasSuffix(r.URL.Path, "/pending_deployments") {
				do()
			}
		})
	}
	for name, tc := range map[string]struct {
		byEnvironment bool
		before        func(*stage)
		code          int
		says          []string
	}{
		"a push": {false, push, 3, []string{"#42 has moved since this draft was made", "decide the new draft"}},
		"a push in the last moment": {true, func(s *stage) { onAnswer(s, func() { push(s) }) }, 3,
			[]string{"does not wait for this answer any more", "/actions/runs/"}},
		"two people at once": {true, func(s *stage) {
			onAnswer(s, func() { s.run.Approve(gateName, "sam", "") })
		}, 3, []string{"somebody has decided meanwhile", "/actions/runs/"}},
		"closed": {true, func(s *stage) { s.pull.Close() }, 3,
			[]string{"was closed, so none of its drafts can be decided"}},
		"merged": {true, func(s *stage) { s.pull.Merge() }, 3,
			[]string{"was merged, so none of its drafts can be decided"}},
		"the run ended without an answer": {true, func(s *stage) { s.run.Finish("failure") }, 3,
			[]string{"not waiting for this answer (completed failure)", "re-run its failed jobs", "/actions/runs/"}},
		"the run is not there yet": {true, func(s *stage) { s.run.Finish(""); s.run.Rerun() }, 3,
			[]string{"not waiting for this answer (in_progress), ", "it waits later"}},
		"answered before": {true, func(s *stage) { s.run.Approve(gateName, "sam", "") }, 3,
			[]string{"not waiting for this answer", "somebody may have answered", "/actions/runs/"}},
		"drafted again in the same run": {true, func(s *stage) {
			s.run.AddArtifact("pr-review-42-0123456789abcdef", []byte("newer"))
		}, 3, []string{"has drafted again since"}},
		"the workflow is gone": {false, func(s *stage) {
			s.hub.Fail("POST", "/repos/octo/demo/actions/workflows/*/dispatches", githubtest.Fault{Status: 404})
		}, 1, []string{"the workflow cannot be started", "--decide-workflow"}},
		"another form": {false, func(s *stage) {
			s.hub.Fail("POST", "/repos/octo/demo/actions/workflows/*/dispatches", githubtest.Fault{Status: 422,
				Body: `{"message":"Unexpected inputs provided: [\"code\"]"}`})
		}, 1, []string{"Unexpected inputs provided"}},
		"reviewed by hand": {false, func(s *stage) {
			s.cli(nil, "review", "octo/demo#42", "--approve", "--store", s.t.TempDir()).ends(0)
		}, 3, []string{"a review of this commit has already been posted", "/pull/42#"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := setUpDecided(t, tc.byEnvironment)
			tc.before(s)
			e := s.resume("--approve").ends(tc.code)
			for _, want := range tc.says {
				require.Contains(t, e.stderr, want)
			}
			require.NotContains(t, e.stdout, "PAUSED")
		})
	}
}

func TestDropIsNotForTheFindingsOfAReview(t *testing.T) {
	s, _ := setUpDecided(t, false)
	for _, args := range [][]string{{"octo/demo#42"}, {"octo/demo#42:" + s.pull.HeadSHA()}, {"octo/demo", "--next"}} {
		e := s.cli(nil, append([]string{"resume", "--drop", "F2", "--approve"}, args...)...).ends(2)
		require.Contains(t, e.stderr, `--command "/drop F2"`, args)
	}
	store := t.TempDir()
	s.cli(nil, "review", "octo/demo#42", "--store", store).ends(0)
	s.resume("--store", store, "--drop", "F2", "--approve").ends(2)
	s.untouched()
}

func TestASecondApprovalWithoutWordsIsAnAnswer(t *testing.T) {
	s := setUp(t, scene{})
	s.run.Approve(gateName, "sam", "")
	s.waits(true)
	s.run.Approve(gateName, "sam", "")
	require.Contains(t, s.resume("--approve").ends(3).stderr, "somebody may have answered")
}

func TestALostAnswerToADispatchIsSentOnce(t *testing.T) {
	t.Parallel()
	for name, byEnvironment := range map[string]bool{"dispatch": false, "environment": true} {
		t.Run(name, func(t *testing.T) {
			s, _ := setUpDecided(t, byEnvironment)
			s.hub.Fail("POST", "/repos/**", githubtest.Fault{DropConnection: true, AfterWrite: true})
			e := s.resume("--approve").ends(1)
			require.Contains(t, e.stderr, "whether GitHub took the decision is not known")
			require.Contains(t, e.stderr, "before you decide again")
			require.Len(t, s.writes(), 1)
		})
	}
	t.Run("a server that names no run", func(t *testing.T) {
		s, _ := setUpDecided(t, false)
		s.hub.Fail("POST", "/repos/**", githubtest.Fault{Status: http.StatusNoContent, AfterWrite: true})
		require.Equal(t, "PAUSED https://github.com/octo/demo/actions/workflows/pr-review-decide.yml\n",
			s.resume("--approve").ends(0).stdout)
	})
}

func TestAnExpiredDraftOnGitHubIsNotDecided(t *testing.T) {
	s, _ := setUpDecided(t, false)
	late := map[string]string{"NOW": time.Now().Add(40 * 24 * time.Hour).UTC().Format(time.RFC3339)}
	e := s.cli(late, "resume", "octo/demo#42", "--approve").ends(3)
	require.Contains(t, e.stderr, "the draft was not decided in time")
	s.untouched()
}

func TestResumeOfTwoDraftsThatWaitNoneIsDecidedUnseen(t *testing.T) {
	s, first := setUpDecided(t, false)
	s.anew(githubtest.RunOptions{})
	second := s.waits(false, "model", "story-2").outputs["code"]
	require.NotEqual(t, first, second)
	two := s.resume("--approve").ends(2)
	require.Contains(t, two.stderr, "2 drafts of octo/demo#42 wait")
	require.Contains(t, two.stderr, "--code "+second+" or --code "+first)
	s.untouched()
	newest := s.resume().ends(0)
	require.Contains(t, newest.stdout, "Code "+second)
	require.Contains(t, newest.stderr, "--code "+first)
	run := s.resume("--approve", "--code", first).ends(0).dispatched(s)
	require.Equal(t, "42-"+first, run.Inputs()["draft"])
}

func TestResumeMeansTheDraftOfTheNewestCommit(t *testing.T) {
	s, first := setUpDecided(t, false)
	s.pull.Push(s.pull.Tree().With(githubtest.Tree{"ops/run.sh": "#!/bin/sh\nset -e # DEFECT: nit: Says nothing\n"}))
	s.anew(githubtest.RunOptions{})
	second := s.waits(false).outputs["code"]
	require.Equal(t, "42-"+second, s.resume("--abort").ends(0).dispatched(s).Inputs()["draft"])
	require.Contains(t, s.resume("--abort", "--code", first).ends(3).stderr, "has moved since this draft was made")
}

func TestResumePrefersTheLocalStoresDraftOfThePresentCommit(t *testing.T) {
	s, code := setUpDecided(t, false)
	store := t.TempDir()
	s.cli(nil, "review", "octo/demo#42", "--store", store).ends(0)
	e := s.resume("--store", store, "--code", code, "--approve").ends(0)
	require.Contains(t, e.stdout, "PAUSED ", "that draft is GitHub's")
	posted := s.resume("--store", store, "--approve").ends(0)
	require.Regexp(t, `^POSTED https://github\.com/octo/demo/pull/42#`, posted.stdout)
	require.Equal(t, posted.stdout, s.resume("--store", store, "--approve").ends(0).stdout)
}

func TestResumeAsksAtTheTerminalAboutADraftOnGitHub(t *testing.T) {
	s, code := setUpDecided(t, false)
	later := s.typing("resume", "octo/demo#42")([]string{"/drop F2: known"}, "later")
	require.Contains(t, later, "--code "+code+" --approve --command")
	s.untouched()
	shown := s.typing("resume", "--next", "octo/demo")([]string{"/drop F2: known"}, "yes")
	require.Contains(t, shown, "Moves money")
	require.Contains(t, shown, "PAUSED https://github.com/octo/demo/actions/runs/")
	require.Contains(t, string(s.writes()[0].Body), "/drop F2: known")
}

func TestReviseOfADraftOnGitHubDispatchesTheDraftJob(t *testing.T) {
	s, code := setUpDecided(t, true)
	run := s.resume("--revise", "be kinder to the cart").ends(0).dispatched(s)
	require.Equal(t, map[string]string{"pull-request": "42", "code": code, "feedback": "be kinder to the cart"},
		run.Inputs())
}

func TestResumePrintsOneObjectWithJSON(t *testing.T) {
	s, code := setUpDecided(t, false)
	var shown struct{ Outcome, Code, Message string }
	read := func(e said) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(e.stdout), &shown), e.stdout)
		require.Equal(t, code, shown.Code)
	}
	read(s.resume("--json").ends(0))
	require.Equal(t, "PAUSED", shown.Outcome)
	read(s.resume("--json", "--quiet", "--approve").ends(0))
	require.Equal(t, "PAUSED", shown.Outcome)
	require.Contains(t, shown.Message, "https://github.com/octo/demo/actions/runs/")
	bad := s.resume("--approve", "--command", "/drop F99", "--json").ends(3)
	require.Contains(t, bad.stdout, `"thread_id": "octo/demo#42:`)
	require.Contains(t, bad.stderr, "this draft has F1 to F")
	require.Contains(t, s.cli(nil, "resume", "octo/demo#41", "--approve").ends(3).stderr,
		"no draft of octo/demo#41 is parked on GitHub")
}
