package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

// signalling is a dispatch that decides a draft and tells machines of it. The
// SARIF file is of a folder that is given back.
func (s *stage) signalling(code, decision string) (j *job, file string) {
	dir := s.t.TempDir()
	j = s.decideJob(code, decision).with("sarif", "out/found.sarif", "check-run", "true", "mark", "true", "fail-on",
		"major")
	j.may(map[string]string{"pull_requests": "write", "actions": "read", "contents": "read", "checks": "write",
		"statuses": "write"})
	return j.set("GITHUB_WORKSPACE", dir), filepath.Join(dir, "out", "found.sarif")
}

// markJob shows on the commit that a draft waits.
func (s *stage) markJob(digest string) *job {
	return s.recordJob(digest).with("mode", "mark", "environment",
		"").may(map[string]string{"pull_requests": "read", "actions": "read", "contents": "read", "statuses": "write"})
}

// sarifOf is how many results a SARIF file has, and its text.
func sarifOf(t *testing.T, file string) (results int, text string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var log struct {
		Version string `json:"version"`
		Runs    []struct {
			Results []json.RawMessage `json:"results"`
		} `json:"runs"`
	}
	require.NoError(t, json.Unmarshal(raw, &log))
	require.Equal(t, "2.1.0", log.Version)
	require.Len(t, log.Runs, 1)
	require.NotNil(t, log.Runs[0].Results, "code scanning demands the list, also where nothing was kept")
	return len(log.Runs[0].Results), string(raw)
}

func TestFailOnFailsTheJobByWhatTheDecisionKept(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failOn, commands string
		exit             int
	}{
		"none":                   {"none", "", 0},
		"reached":                {"major", "", 1},
		"the gravest":            {"blocker", "", 1},
		"dropped":                {"major", "/drop F1 F2", 0},
		"regraded below":         {"major", "/severity F1 minor\n/severity F2 minor", 0},
		"regraded up":            {"blocker", "/drop F1\n/severity F5 blocker", 1},
		"weaker than that alone": {"blocker", "/drop F1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{base: baseTree(), head: headTree()})
			drafted := s.parked()
			decide := s.decideJob(drafted.outputs["code"], "approve").with("fail-on", tc.failOn, "commands",
				tc.commands)
			posted := decide.start().is(tc.exit, "POSTED")
			s.failed(posted, drafted, tc.exit)
			require.Equal(t, posted.outputs, decide.start().is(tc.exit, "POSTED").outputs, "the same decision again")
			s.posted()
		})
	}
	t.Run("route A", func(t *testing.T) {
		s := across(t, scene{base: baseTree(), head: headTree()})
		drafted := s.parked()
		s.approved("")
		s.failed(s.postJob(drafted.digest()).with("fail-on", "nit").start().is(1, "POSTED"), drafted, 1)
	})
	t.Run("not where it was rejected", func(t *testing.T) {
		s := across(t, scene{base: baseTree(), head: headTree()})
		s.decideJob(s.parked().outputs["code"], "abort").with("fail-on", "nit").start().is(0, "ABORTED")
	})
}

// failed is a job that posted: its outputs are whole, whatever its exit code.
func (s *stage) failed(posted, drafted ended, exit int) {
	s.t.Helper()
	for _, name := range []string{"thread-id", "checkpoint-digest", "code", "artifact-name", "partial", "environment"} {
		require.Equal(s.t, drafted.outputs[name], posted.outputs[name], name)
	}
	require.Equal(s.t, s.pull.Reviews()[0].URL, posted.outputs["review-url"])
	posted.shows("Review of #42 was posted")
	require.Equal(s.t, exit == 1, strings.Contains(posted.log, "::error::"))
	if exit == 1 {
		posted.says("fail-on is", "next")
	}
}

func TestSARIFAndCheckRunHoldWhatTheDecisionKept(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	drafted := s.parked()
	j, file := s.signalling(drafted.outputs["code"], "approve")
	j.with("commands", "/drop F1 F3\n/severity F2 minor\n/edit F2: Await it first.")
	posted := j.start().is(0, "POSTED")
	results, text := sarifOf(t, file)
	require.Equal(t, "3", posted.outputs["findings"])
	require.Equal(t, 3, results)
	require.Contains(t, text, "Await it first.")
	holdsNone(t, "SARIF", text, "Moves money", "Logs and goes on", "Because of `web")

	checks := s.repo.Checks(s.pull.HeadSHA())
	require.Len(t, checks, 1)
	require.Equal(t, []string{"pr-review", "completed", "neutral"},
		[]string{checks[0].Name, checks[0].Status, checks[0].Conclusion})
	require.Contains(t, checks[0].Summary, posted.outputs["review-url"])
	require.Len(t, checks[0].Annotations, 3, "of findings on lines")
	for _, a := range checks[0].Annotations {
		holdsNone(t, "annotation", a.Title+a.Message, "Moves money", "Logs and goes on")
	}

	require.NoError(t, os.Remove(file))
	j.start().is(0, "POSTED")
	_, second := sarifOf(t, file)
	require.Equal(t, text, second, "the same bytes (P11)")
	require.Equal(t, checks, s.repo.Checks(s.pull.HeadSHA()), "once")
	require.Len(t, s.pull.Reviews(), 1)
}

func TestAnAbortLeavesAnEmptySARIFFileAndNoCheckRun(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(s *stage, drafted ended) (*job, string){
		"dispatch": func(s *stage, drafted ended) (*job, string) {
			return s.signalling(drafted.outputs["code"], "abort")
		},
		"comment": func(s *stage, drafted ended) (*job, string) {
			s.approved("/abort")
			dir := s.t.TempDir()
			return s.postJob(drafted.digest()).with("sarif", "found.sarif").set("GITHUB_WORKSPACE", dir),
				filepath.Join(dir, "found.sarif")
		},
		"rejection": func(s *stage, drafted ended) (*job, string) {
			s.run.Wait(gateName)
			s.run.Decide(gateName, "rejected", "maya", "")
			dir := s.t.TempDir()
			return s.recordJob(drafted.digest()).with("sarif", "found.sarif").set("GITHUB_WORKSPACE", dir),
				filepath.Join(dir, "found.sarif")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{base: baseTree(), head: headTree()})
			j, file := decide(s, s.parked())
			j.start().is(0, "ABORTED")
			results, text := sarifOf(t, file)
			require.Zero(t, results)
			holdsNone(t, "SARIF", text, words()...)
			require.Empty(t, s.repo.Checks(s.pull.HeadSHA()))
		})
	}
}

// TestTheSARIFFileOfARejectedDraftKeepsEarlierFindings holds that code scanning does not close what is still open.
func TestTheSARIFFileOfARejectedDraftKeepsEarlierFindings(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	_, posted := s.approve("")
	s.pushed(s.pull.Tree().With(githubtest.Tree{"more.go": goFile(0, badRange)}))
	j, file := s.signalling(s.parked().outputs["code"], "abort")
	ended := j.with("fail-on", "none").start().is(0, "ABORTED")
	results, text := sarifOf(t, file)
	require.Equal(t, posted.outputs["findings"], fmt.Sprint(results))
	require.Equal(t, ended.outputs["open-findings"], fmt.Sprint(results))
	require.NotContains(t, text, titleOf(badRange))
}

func TestWithoutThePermissionThereIsAWarningAndTheReviewStands(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	j, _ := s.signalling(s.parked().outputs["code"], "approve")
	j.may(map[string]string{"pull_requests": "write", "actions": "read"}).with("fail-on", "none")
	j.start().is(0, "POSTED").says("::warning::the token may not write check runs (checks: write)",
		"the mark that a draft waits could not be cleared", "statuses: write")
	s.posted()
}

func TestAMarkSaysThatADraftWaitsUntilItIsDecided(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		decide func(s *stage, drafted ended)
		says   string
	}{
		"approved": {func(s *stage, d ended) {
			j, _ := s.signalling(d.outputs["code"], "approve")
			j.with("fail-on", "none").start().is(0, "POSTED")
		}, "decided: posted"},
		"posted and failed on": {func(s *stage, d ended) {
			j, _ := s.signalling(d.outputs["code"], "approve")
			j.start().is(1, "POSTED")
		}, "decided: posted"},
		"approved, and marked once more": {func(s *stage, d ended) {
			s.decideJob(d.outputs["code"], "approve").start().is(0, "POSTED")
			s.markJob(d.digest()).start().is(0, "").says("was decided, so the commit is not marked")
		}, "decided: posted"},
		"being posted, and marked once more": {func(s *stage, d ended) {
			s.hub.Fail("POST", "/repos/octo/demo/pulls/42/reviews/*/events", githubtest.Fault{Status: 403, Times: 1})
			s.approved("")
			j := s.postJob(d.digest()).with("mark", "true")
			j.may(map[string]string{"pull_requests": "write", "actions": "read", "statuses": "write"})
			j.start().is(1, "FAILED")
			s.markJob(d.digest()).start().is(0, "").says("was decided, so the commit is not marked")
			j.start().is(0, "POSTED")
		}, "decided: posted"},
		"aborted, and marked once more": {func(s *stage, d ended) {
			s.decideJob(d.outputs["code"], "abort").start().is(0, "ABORTED")
			s.markJob(d.digest()).start().is(0, "")
		}, "decided: rejected"},
		"aborted": {func(s *stage, d ended) {
			j, _ := s.signalling(d.outputs["code"], "abort")
			j.start().is(0, "ABORTED")
		}, "decided: rejected"},
		"rejected": {func(s *stage, d ended) {
			s.run.Wait(gateName)
			s.run.Decide(gateName, "rejected", "maya", "not now")
			j := s.recordJob(d.digest()).with("mark",
				"true").may(map[string]string{"pull_requests": "read", "actions": "read", "statuses": "write"})
			j.start().is(0, "ABORTED")
		}, "decided: rejected"},
		"expired": {func(s *stage, d ended) {
			expire(s, d)
			j, _ := s.signalling(d.outputs["code"], "approve")
			j.start().is(3, "EXPIRED")
		}, "expired, not decided"},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{base: baseTree(), head: headTree()})
			drafted := s.parked()
			s.markJob(strings.Repeat("0", 64)).start().is(3, "REFUSED").shows("## The commit of #42 was not marked")
			s.markJob(drafted.digest()).start().is(0, "")
			set := s.repo.Statuses(s.pull.HeadSHA())
			require.Len(t, set, 1)
			require.Equal(t, []string{"pr-review", "pending"}, []string{set[0].Context, set[0].State})
			require.Contains(t, set[0].Description,
				"waits for a decision: 5 findings, 1 blocker; code "+drafted.outputs["code"]+", until ")
			require.Equal(t, fmt.Sprintf("https://github.com/octo/demo/actions/runs/%d", s.run.ID), set[0].URL)
			holdsNone(t, "the mark", set[0].Description, words()...)
			end.decide(s, drafted)
			now := s.repo.Statuses(s.pull.HeadSHA())
			require.Len(t, now, 2)
			state := map[bool]string{true: "error", false: "success"}[name == "expired"]
			require.Equal(t, []string{"pr-review", state, end.says},
				[]string{now[1].Context, now[1].State, now[1].Description})
		})
	}
}

func TestAMarkNeedsItsDraftAndItsPermission(t *testing.T) {
	s := across(t, scene{base: baseTree(), head: headTree()})
	drafted := s.parked()
	s.markJob(drafted.digest()).may(map[string]string{"pull_requests": "read", "actions": "read"}).start().is(1,
		"FAILED").says("the token may not write commit statuses (statuses: write)")
	s.markJob(strings.Repeat("a", 64)).start().is(3, "REFUSED").says("no draft of this name was found")
	s.markJob("").start().is(2, "").says("neither checkpoint-digest nor code says which draft is meant")
	j, _ := s.signalling(drafted.outputs["code"], "approve")
	j.with("fail-on", "none").start().is(0, "POSTED")
	require.Empty(t, s.repo.Statuses(s.pull.HeadSHA()), "where none was set, none is cleared")
}

func TestPathRulesOfTheBaseChooseTheEnvironment(t *testing.T) {
	t.Parallel()
	rules := "environments:\n  - { paths: ['infra/**'], environment: ai-review-infra }\n  - { paths: ['*.ts'], " +
		"environment: ai-review-web }\n"
	base := baseTree().With(githubtest.Tree{".github/pr-review.yml": rules, "infra/main.tf": "a\n"})
	bad := "x // DEFECT: major: Bad\n"
	for name, tc := range map[string]struct {
		head  githubtest.Tree
		moved string // which is not there any more
		want  string
	}{
		"no rule":          {githubtest.Tree{"ops/run.sh": bad}, "", gateName},
		"one":              {githubtest.Tree{"web/cart.ts": bad}, "", "ai-review-web"},
		"the first of two": {githubtest.Tree{"web/cart.ts": bad, "infra/b.tf": bad}, "", "ai-review-infra"},
		"moved out of there": {githubtest.Tree{"elsewhere.tf": "a\n", "ops/run.sh": bad}, "infra/main.tf",
			"ai-review-infra"},
		"rules of the head": {githubtest.Tree{".github/pr-review.yml": "environments: []\n", "web/cart.ts": bad}, "",
			"ai-review-web"},
		"an unreviewed file":  {githubtest.Tree{"infra/go.sum": "x\n", "ops/run.sh": bad}, "", "ai-review-infra"},
		"a name as it is not": {githubtest.Tree{"infrastructure/a.txt": "x\n", "ops/run.sh": bad}, "", gateName},
	} {
		t.Run(name, func(t *testing.T) {
			s := across(t, scene{base: base, head: base.With(tc.head).Without(tc.moved)})
			s.repo.AddEnvironment("ai-review-infra", "sam")
			s.repo.AddEnvironment("ai-review-web", "sam")
			drafted := s.parked().shows("tick `" + tc.want + "`")
			require.Equal(t, tc.want, drafted.outputs["environment"])
			for _, other := range []string{gateName, "ai-review-infra", "ai-review-web"} {
				if other == tc.want {
					continue
				}
				s.run.Wait(other)
				s.run.Approve(other, "maya", "")
				refused := s.postJob(drafted.digest()).with("environment", other).start()
				s.refused(refused, "environment", tc.want)
			}
			s.run.Wait(tc.want)
			s.run.Approve(tc.want, "sam", "")
			s.postJob(drafted.digest()).with("environment", tc.want).start().is(0, "POSTED")
		})
	}
	t.Run("one that asks nobody", func(t *testing.T) {
		s := across(t, scene{base: base, head: base.With(githubtest.Tree{"infra/b.tf": bad})})
		s.draftJob().start().is(2, "").says(`the environment "ai-review-infra" does not exist, so nobody would be` +
			` asked`)
		require.Zero(t, s.model.Calls())
	})
	t.Run("files that GitHub does not list", func(t *testing.T) {
		s := across(t, scene{base: base, head: base.With(githubtest.Tree{"web/cart.ts": bad})})
		s.repo.AddEnvironment("ai-review-infra", "sam")
		s.repo.AddEnvironment("ai-review-web", "sam")
		q, err := http.NewRequestWithContext(t.Context(), "GET", s.hub.URL+"/repos/octo/demo/pulls/42", nil)
		require.NoError(t, err)
		q.Header.Set("Authorization", "Bearer "+s.hub.UserToken("maya"))
		resp, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer resp.Body.Close()
		listed, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		more := strings.Replace(string(listed), `"changed_files":1,`, `"changed_files":3001,`, 1)
		require.NotEqual(t, string(listed), more)
		s.hub.Fail("GET", "/repos/octo/demo/pulls/42", githubtest.Fault{Status: 200, Body: more,
			Headers: map[string]string{"Content-Type": "application/json"}})
		require.Equal(t, "ai-review-infra", s.parked().outputs["environment"], "one of them may be below infra")
	})
	t.Run("for what is revised too", func(t *testing.T) {
		s := across(t, scene{base: base, head: base.With(githubtest.Tree{"infra/b.tf": bad})})
		s.repo.AddEnvironment("ai-review-infra", "maya")
		revised := s.reviseJob(s.parked().outputs["code"], "be kinder").start().is(0, "PAUSED")
		require.Equal(t, "ai-review-infra", revised.outputs["environment"])
	})
	t.Run("by dispatch there is none to choose", func(t *testing.T) {
		s := across(t, scene{base: base, head: base.With(githubtest.Tree{"infra/b.tf": bad}),
			trust: checkpoint.TrustSeal})
		drafted := s.draftJob().with("environment", "").start().is(0, "PAUSED")
		require.Empty(t, drafted.outputs["environment"])
		s.decideJob(drafted.outputs["code"], "approve").start().is(0, "POSTED")
	})
}
