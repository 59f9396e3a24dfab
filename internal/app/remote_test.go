package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
)

// said is what the command line printed.
type said struct {
	t              *testing.T
	code           int
	stdout, stderr string
}

// cli runs the command line as maya does at home, with more in the environment.
func (s *stage) cli(more map[string]string, args ...string) said {
	s.t.Helper()
	if !apart() {
		code, stdout, stderr := s.within(s.home(s.t.TempDir(), more), args...)
		return said{s.t, code, stdout, stderr}
	}
	var stdout, stderr bytes.Buffer
	cmd := s.command(more, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); !errors.As(err, new(*exec.ExitError)) {
		require.NoError(s.t, err)
	}
	require.NotContains(s.t, stdout.String()+stderr.String(), "goroutine ", "a crash")
	return said{s.t, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (s *stage) command(more map[string]string, args ...string) *exec.Cmd {
	s.t.Helper()
	path, err := exec.LookPath("pr-review-action")
	require.NoError(s.t, err)
	cmd := exec.CommandContext(s.t.Context(), path, args...)
	cmd.Dir = s.t.TempDir()
	cmd.Env = append(tuned(), listed(s.home(cmd.Dir, more))...)
	return cmd
}

// home are the variables of maya's command line, with more.
func (s *stage) home(dir string, more map[string]string) map[string]string {
	env := map[string]string{
		"HOME": dir, "XDG_STATE_HOME": dir, "USER": "maya", "GITHUB_API_URL": s.hub.URL,
		"GITHUB_TOKEN":    s.hub.UserToken("maya"),
		"OPENAI_BASE_URL": s.model.URL, "OPENAI_API_KEY": modelKey, "OPENAI_MODEL": "story-1",
	}
	maps.Copy(env, more)
	return env
}

func (e said) ends(code int) said {
	e.t.Helper()
	require.Equal(e.t, code, e.code, "%s\n%s", e.stdout, e.stderr)
	return e
}

func fault200(body string) githubtest.Fault {
	return githubtest.Fault{Status: http.StatusOK, Body: body}
}

// rows are the drafts that threads octo/demo lists, by code.
func (s *stage) rows(more map[string]string) (rows map[string]row, stderr string) {
	s.t.Helper()
	e := s.cli(more, "threads", "octo/demo", "--json").ends(0)
	var list struct{ Threads []row }
	require.NoError(s.t, json.Unmarshal([]byte(e.stdout), &list), e.stdout)
	rows = map[string]row{}
	for _, r := range list.Threads {
		require.NotContains(s.t, rows, r.Code, "listed twice")
		rows[r.Code] = r
	}
	return rows, e.stderr
}

type row struct {
	Outcome, Code, State, Where string
	Thread                      string `json:"thread_id"`
	Artifact                    string `json:"artifact_name"`
	Run                         int64  `json:"run_id"`
	Findings, Blockers          int
	Expires                     time.Time `json:"expires_at"`
}

func TestThreadsListsTheDraftsOnGitHub(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustEncrypt} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := setUp(t, scene{trust: trust})
			var key map[string]string
			if trust != "" {
				key = map[string]string{"PR_REVIEW_CHECKPOINT_KEY": checkpointKey}
			}
			decided := s.draftJob().with("instance", "done").start().is(0, "PAUSED").outputs["code"]
			s.decideJob(decided, "abort").with("instance", "done").start().is(0, "ABORTED")
			superseded := s.parked().outputs["code"]
			s.pull.Push(s.pull.Tree().With(githubtest.Tree{"ops/run.sh": "#!/bin/sh\nset -e # DEFECT: nit: Says " +
				"nothing\n"}))
			s.anew(githubtest.RunOptions{})
			withdrawn := s.draftJob().with("environment", "").start().is(0, "PAUSED").outputs["code"]
			s.anew(githubtest.RunOptions{})
			waits := s.draftJob().with("again", "true").start().is(0, "PAUSED").outputs["code"]
			docs := s.draftJob().with("instance", "docs", "environment", "", "expires", "1h").start().is(0,
				"PAUSED").outputs["code"]

			rows, stderr := s.rows(key)
			require.Empty(t, stderr)
			states := map[string]string{}
			for code, r := range rows {
				states[code] = r.State
				require.Equal(t, "pr-review-42-", r.Artifact[:13])
			}
			require.Equal(t, map[string]string{superseded: "superseded", withdrawn: "withdrawn", waits: "waits",
				docs: "waits"}, states)
			page := fmt.Sprintf("https://github.com/octo/demo/actions/runs/%d", s.run.ID)
			dispatch := "gh workflow run pr-review-decide.yml --repo octo/demo -f draft=42-" + docs +
				" -f checkpoint-digest=" + docs
			require.Equal(t, page, rows[waits].Where)
			require.Regexp(t, "^"+dispatch+"[0-9a-f]{48} -f decision=approve$", rows[docs].Where)
			require.Empty(t, rows[superseded].Where+rows[withdrawn].Where)
			require.Equal(t, "octo/demo#42:"+s.pull.HeadSHA(), rows[waits].Thread)
			require.Equal(t, []int{5, 1}, []int{rows[waits].Findings, rows[waits].Blockers})

			late := map[string]string{"NOW": rows[docs].Expires.Add(time.Second).Format(time.RFC3339)}
			maps.Copy(late, key)
			rows, _ = s.rows(late)
			require.Equal(t, "expired", rows[docs].State)
			require.Empty(t, rows[docs].Where)
			require.Equal(t, "waits", rows[waits].State)

			text := s.cli(key, "threads", "octo/demo").ends(0)
			for _, want := range []string{"pull request", "state", "#42@docs", "waits\n  " + dispatch,
				"waits\n  " + page, "superseded", "withdrawn", "PAUSED"} {
				require.Contains(t, text.stdout, want)
			}
			require.NotContains(t, text.stdout, "#42@done")
			holdsNone(t, "the list", text.stdout+text.stderr, words()...)

			s.decideJob(waits, "approve").start().is(0, "POSTED")
			rows, _ = s.rows(key)
			require.NotContains(t, rows, waits)
			s.pull.Close()
			before := len(s.hub.Requests())
			rows, _ = s.rows(key)
			require.Equal(t, "superseded", rows[docs].State, "a closed pull request's draft cannot be decided")
			for _, r := range s.hub.Requests()[before:] {
				require.NotContains(t, r.Path, "/reviews", "where no draft waits, no review needs to be looked for")
			}
		})
	}
}

func TestThreadsAndShowBesideHostileArtifacts(t *testing.T) {
	s := setUp(t, scene{fork: true, author: "sam"})
	drafted := s.parked()
	code := drafted.outputs["code"]
	z := s.draftArtifact(drafted).Zip()
	theirs := s.repo.AddRun(githubtest.RunOptions{Event: "pull_request", HeadRepo: s.fork})
	forged := s.forged(drafted, func(m *checkpoint.Manifest) { m.RunID = theirs.ID })
	garbage := []byte("no zip \x1b[31m\n::error::owned")
	bomb := []byte("PK\x05\x06" + strings.Repeat("\xff", 18))
	name := func(z []byte) string { return "pr-review-42-" + checkpoint.Code(checkpoint.Digest(z)) }
	told := []string{name(garbage), name(bomb), name(forged.Zip), "pr-review-42-0123456789abcdef"}
	theirs.AddArtifact(name(forged.Zip), forged.Zip)
	theirs.AddArtifact(drafted.outputs["artifact-name"], z) // a newer one of our draft's name
	for at, content := range map[string][]byte{
		name(garbage): garbage, name(bomb): bomb, "pr-review-42-0123456789abcdef": z, "pr-review-42-": z,
		"pr-review-x-" + code:           z,
		"pr-review-99999999999-" + code: z, "pr-review-42-partial-1-" + code: z, "pr-review-decision-" + code + "0": z,
		"pr-review-42-\x1b[31m\u202eevil": z, "pr-review-decision-" +
			checkpoint.Code(checkpoint.Digest(garbage)): garbage,
	} {
		s.run.AddArtifact(at, content)
	}
	rows, stderr := s.rows(nil)
	require.Len(t, rows, 1)
	require.Equal(t, "waits", rows[code].State)
	for _, each := range told {
		require.Contains(t, stderr, "warning: "+each)
	}
	for _, stream := range []string{stderr, s.cli(nil, "threads", "octo/demo").ends(0).stderr} {
		require.NotContains(t, stream, "\x1b")
		require.NotContains(t, stream, "\u202e")
	}
	shown := s.cli(nil, "show", "octo/demo#42").ends(0)
	require.Contains(t, shown.stdout, "Moves money")
	require.Contains(t, shown.stdout, "Code "+code)
	unknown := s.cli(nil, "show", "octo/demo#42", "--code", "0123456789abcdef").ends(3)
	require.Contains(t, unknown.stderr, "no draft of octo/demo#42 with code 0123456789abcdef is parked on GitHub")
	other := s.cli(nil, "show", "octo/demo#42", "--instance", "docs").ends(3)
	require.Contains(t, other.stderr, "no draft of octo/demo#42 is parked on GitHub")
	require.Contains(t, other.stderr, "threads octo/demo lists the ones that are")
}

func TestT19_ThreadsBelievesNoForksDecision(t *testing.T) {
	s := setUp(t, scene{fork: true, author: "sam"})
	drafted := s.parked()
	z, err := checkpoint.Protection{}.PackRecord(s.abortOf(drafted))
	require.NoError(t, err)
	s.repo.AddRun(githubtest.RunOptions{Event: "pull_request", HeadRepo: s.fork}).AddArtifact("pr-review-decision-"+
		drafted.outputs["code"], z)
	rows, _ := s.rows(nil)
	require.Equal(t, "waits", rows[drafted.outputs["code"]].State)
}

func TestThreadsSaysThatAReviewedCommitsOtherDraftWaitsNoMore(t *testing.T) {
	s := setUp(t, scene{})
	first := s.parked()
	s.anew(githubtest.RunOptions{})
	second := s.parked()
	s.decideJob(first.outputs["code"], "approve").start().is(0, "POSTED")
	rows, _ := s.rows(nil)
	require.NotEqual(t, "waits", rows[second.outputs["code"]].State)
	s.decideJob(second.outputs["code"], "approve").start().is(3, "REFUSED").says("next")
	s.posted()
}

func TestThreadsOfARepositoryWithoutDrafts(t *testing.T) {
	s := setUp(t, scene{})
	e := s.cli(nil, "threads", "octo/demo").ends(0)
	require.Empty(t, e.stdout)
	require.Contains(t, e.stderr, "No draft waits in octo/demo")
	require.JSONEq(t, `{"threads":[]}`, s.cli(nil, "threads", "octo/demo", "--json").ends(0).stdout)
	require.Contains(t, s.cli(nil, "threads", "octo").ends(2).stderr, "name it owner/repo")
	for _, args := range [][]string{{"threads", "octo/demo"}, {"show", "octo/demo#42"}} {
		e := s.cli(map[string]string{"GITHUB_TOKEN": ""}, args...).ends(2)
		require.Contains(t, e.stderr, "  where   octo/demo on ")
		require.Contains(t, e.stderr, "set GITHUB_TOKEN")
	}
	require.Contains(t, s.cli(nil, "threads", "octo/none").ends(1).stderr, "check the name")
	require.Contains(t, s.cli(map[string]string{"GITHUB_TOKEN": s.hub.AppToken(s.repo,
		map[string]string{"contents": "read"})}, "threads", "octo/demo").ends(2).stderr, "give the job actions: read")
}
