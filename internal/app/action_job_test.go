package app_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// draftJob is the job draft of the shipped review workflow.
func (s *stage) draftJob() *job {
	return s.job(s.run, draftWorkflow, "draft", "pull_request_target", map[string]string{
		"${{ github.event.pull_request.number || inputs.pull-request }}":  "42",
		"${{ secrets.OPENAI_API_KEY }}":                                   modelKey,
		"${{ inputs.again || false }}":                                    "false",
		"${{ (inputs.code || inputs.feedback) && 'revise' || 'review' }}": "review", "${{ inputs.code }}": "",
		"${{ inputs.feedback }}": "",
	}).with("base-url", s.model.URL, "model", "story-1", "allow-dispatch", "true")
}

// postJob is the job post of the shipped review workflow, for a draft.
func (s *stage) postJob(digest string) *job {
	return s.job(s.run, draftWorkflow, "post", "pull_request_target", map[string]string{
		"${{ github.event.pull_request.number || inputs.pull-request }}": "42",
		"${{ needs.draft.outputs.checkpoint-digest }}":                   digest,
	})
}

// recordJob is the job record of the shipped review workflow, for a draft.
func (s *stage) recordJob(digest string) *job {
	return s.job(s.run, draftWorkflow, "record", "pull_request_target", map[string]string{
		"${{ github.event.pull_request.number || inputs.pull-request }}": "42",
		"${{ needs.draft.outputs.checkpoint-digest }}":                   digest,
	})
}

// decideJob is a dispatch of the shipped deciding workflow: a separate run.
func (s *stage) decideJob(code, decision string) *job {
	run := s.repo.AddRun(githubtest.RunOptions{Path: decidePath, Event: "workflow_dispatch", Actor: "maya"})
	return s.job(run, decidePath, "decide", "workflow_dispatch", map[string]string{
		"${{ inputs.draft }}": "42-" + code, "${{ inputs.checkpoint-digest }}": "",
		"${{ inputs.decision }}": decision, "${{ inputs.commands }}": "",
	}).set("GITHUB_ACTOR", "maya").set("GITHUB_TRIGGERING_ACTOR", "maya")
}

// job is a job of a shipped workflow; values are those of its expressions.
func (s *stage) job(run *githubtest.Run, path, name, event string, values map[string]string) *job {
	shipped := shippedJob(s.t, path, name)
	j := &job{s: s, run: run, path: path, event: event, file: event, inputs: map[string]string{},
		env: map[string]string{}}
	for input, value := range shipped.inputs {
		if strings.HasSuffix(value, "vars.PR_REVIEW_DEFAULTS }}") {
			value = s.defaults
		}
		if strings.Contains(value, "${{") {
			require.Contains(s.t, values, value, "input %s of job %s in %s", input, name, path)
			value = values[value]
		}
		j.inputs[input] = value
	}
	if event == "pull_request_target" {
		j.file = "pull_request"
	}
	j.token = s.hub.AppToken(s.repo, shipped.permissions)
	j.env["ACTIONS_RUNTIME_TOKEN"] = s.hub.RuntimeToken(run, name)
	if s.trust != "" {
		j.with("trust", s.trust, "checkpoint-key", checkpointKey)
	}
	return j
}

// with sets inputs, set a variable; both give the job back.
func (j *job) with(pairs ...string) *job {
	for i := 0; i < len(pairs); i += 2 {
		j.inputs[pairs[i]] = pairs[i+1]
	}
	return j
}

func (j *job) set(name, value string) *job {
	j.env[name] = value
	return j
}

// by makes it a job that somebody else started.
func (j *job) by(login string) *job {
	return j.set("GITHUB_ACTOR", login).set("GITHUB_TRIGGERING_ACTOR", login)
}

// on makes it a job of another event.
func (j *job) on(event, file string) *job {
	j.event, j.file, j.head = event, file, j.s.pull.HeadSHA()
	return j
}

// may gives the job a token with other permissions than the workflow's.
func (j *job) may(permissions map[string]string) *job {
	j.token = j.s.hub.AppToken(j.s.repo, permissions)
	return j
}

// ended is what a job left behind.
type ended struct {
	t       *testing.T
	code    int
	log     string // standard output without the masks, then standard error
	stdout  string
	outputs map[string]string
	summary string
}

// start runs the job to its end. One that reads files of its workspace has a
// process of its own.
func (j *job) start() ended {
	j.s.t.Helper()
	if apart() || j.program != "" || j.inputs["test-results"] != "" {
		return j.begin().end()
	}
	env := j.environ(j.s.t.TempDir())
	code, stdout, stderr := j.s.within(env)
	return j.after(code, stdout, stderr, env["GITHUB_OUTPUT"], env["GITHUB_STEP_SUMMARY"])
}

// running is a job under way.
type running struct {
	*job
	cmd             *exec.Cmd
	stdout, stderr  bytes.Buffer
	output, summary string
}

// begin starts the job.
func (j *job) begin() *running {
	t := j.s.t
	t.Helper()
	path := j.program
	if path == "" {
		found, err := exec.LookPath("pr-review-action") // of the scripts' TestMain
		require.NoError(t, err)
		path = found
	}
	dir := t.TempDir()
	env := j.environ(dir)
	r := &running{job: j, cmd: program(t, path, dir, env), output: env["GITHUB_OUTPUT"],
		summary: env["GITHUB_STEP_SUMMARY"]}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	require.NoError(t, r.cmd.Start())
	return r
}

// end waits for the job's end; the exit code is -1 where it was killed.
func (r *running) end() ended {
	r.s.t.Helper()
	if err := r.cmd.Wait(); !errors.As(err, new(*exec.ExitError)) {
		require.NoError(r.s.t, err)
	}
	return r.after(r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String(), r.output, r.summary)
}

// environ is what the runner sets for the job, in a folder that is its own.
func (j *job) environ(dir string) map[string]string {
	t := j.s.t
	output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
	require.NoError(t, errors.Join(os.WriteFile(output, nil, 0o600), os.WriteFile(summary, nil, 0o600)))
	event, err := filepath.Abs(filepath.Join("testdata", "events", j.file+".json"))
	require.NoError(t, err)
	if j.file == "labeled" {
		event = j.labeled(event, dir)
	}
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "CI": "true", "HOME": dir, "GITHUB_WORKSPACE": dir,
		"GITHUB_EVENT_NAME": j.event, "GITHUB_EVENT_PATH": event, "GITHUB_OUTPUT": output,
		"GITHUB_STEP_SUMMARY": summary,
		"GITHUB_REPOSITORY":   j.s.repo.FullName(), "GITHUB_REPOSITORY_ID": strconv.FormatInt(j.s.repo.ID, 10),
		"GITHUB_RUN_ID": strconv.FormatInt(j.run.ID, 10), "GITHUB_RUN_ATTEMPT": strconv.Itoa(j.run.RunAttempt),
		"GITHUB_WORKFLOW_REF": "octo/demo/" + j.path + "@refs/heads/main", "GITHUB_REF": "refs/heads/main",
		"GITHUB_ACTOR": "lee", "GITHUB_TRIGGERING_ACTOR": "lee", "GITHUB_RETENTION_DAYS": "90",
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": j.s.hub.URL,
		"ACTIONS_RESULTS_URL": j.s.hub.ResultsURL + "/",
		"RUNNER_TEMP":         dir, "RUNNER_OS": "Linux",
	}
	for name, value := range defaults(t) {
		env["INPUT_"+strings.ToUpper(name)] = strings.ReplaceAll(value, "${{ github.token }}", j.token)
	}
	for name, value := range j.inputs {
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	maps.Copy(env, j.env)
	return env
}

// labeled writes the event of a label that was set on the head of then.
func (j *job) labeled(event, dir string) string {
	text, err := os.ReadFile(event)
	require.NoError(j.s.t, err)
	own := filepath.Join(dir, "event.json")
	require.NoError(j.s.t, os.WriteFile(own, bytes.Replace(text, []byte(strings.Repeat("0", 40)), []byte(j.head), 1),
		0o600))
	return own
}

// program is a job's process: the binary, or the image that PR_REVIEW_IMAGE
// names, which sees of this machine the job's folder, its events and the network.
func program(t *testing.T, path, dir string, env map[string]string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), path)
	image := os.Getenv("PR_REVIEW_IMAGE")
	if image != "" {
		events, err := filepath.Abs(filepath.Join("testdata", "events"))
		require.NoError(t, err)
		cmd = exec.CommandContext(t.Context(), "docker", "run", "--rm", "--network", "host", "--volume", dir+":"+dir,
			"--volume", events+":"+events, "--workdir", dir)
	}
	cmd.Env = tuned()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if image != "" {
			cmd.Args = append(cmd.Args, "--env", name+"="+env[name])
			continue
		}
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	if image != "" {
		cmd.Args = append(cmd.Args, image)
	}
	cmd.Dir = dir
	return cmd
}

// after reads what the job left, and checks what holds for every job.
func (j *job) after(code int, stdout, stderr, output, summary string) ended {
	t := j.s.t
	written, err := os.ReadFile(output)
	require.NoError(t, err)
	shown, err := os.ReadFile(summary)
	require.NoError(t, err)
	e := ended{t: t, code: code, stdout: stdout, log: unmasked(stdout) + stderr,
		outputs: readOutputs(t, string(written)), summary: string(shown)}
	for _, secret := range []string{j.token, modelKey, j.env["ACTIONS_RUNTIME_TOKEN"], j.inputs["checkpoint-key"]} {
		if strings.TrimSpace(secret) == "" {
			continue
		}
		require.NotContains(t, e.log, secret, "the log holds a credential")
		require.NotContains(t, e.summary+string(written), secret)
	}
	checkLog(t, e.log)
	require.NotContains(t, e.log, "goroutine ", "a crash")
	if code == 2 {
		require.Contains(t, e.summary, "The settings of this job are wrong", "every such mistake stands in the summary")
		require.Empty(t, e.outputs)
	}
	return e
}

// unmasked is the log without the commands that hide values, which the runner
// takes out.
func unmasked(stdout string) string {
	var kept []string
	for _, line := range strings.Split(stdout, "\n") {
		if !strings.HasPrefix(line, "::add-mask::") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// checkLog is T13: no command but the product's own annotations, and no
// control characters.
func checkLog(t *testing.T, log string) {
	t.Helper()
	for _, line := range strings.Split(log, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "::") && !strings.HasPrefix(line, "::error::") &&
			!strings.HasPrefix(line, "::warning::") && !strings.HasPrefix(line, "::notice::") ||
			strings.HasPrefix(trimmed, "##[") {
			require.Fail(t, "the log has a command that is not ours", "%q", line)
		}
	}
	for _, r := range log {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
			require.Fail(t, "the log has a control character", "%q", r)
		}
	}
}

// readOutputs reads the output file as the runner does.
func readOutputs(t *testing.T, text string) map[string]string {
	t.Helper()
	out, used := map[string]string{}, map[string]bool{}
	for rest := text; rest != ""; {
		head, tail, ended := strings.Cut(rest, "\n")
		require.True(t, ended, "a line without an end")
		name, delimiter, heredoc := strings.Cut(head, "<<")
		require.True(t, heredoc && !strings.Contains(name, "="), "%q", head)
		value, after, closed := strings.Cut("\n"+tail, "\n"+delimiter+"\n")
		require.True(t, closed, "%q is not closed", head)
		require.NotContains(t, out, name, "an output appears twice")
		require.False(t, used[delimiter], "a delimiter that could be known")
		used[delimiter] = true
		out[name], rest = strings.TrimPrefix(value, "\n"), after
	}
	return out
}

// is checks exit code and outcome; an empty outcome is a run that set none.
func (e ended) is(code int, outcome string) ended {
	e.t.Helper()
	require.Equal(e.t, code, e.code, "%s\n%s", e.log, e.summary)
	require.Equal(e.t, outcome, e.outputs["outcome"], "%s", e.log)
	if outcome == "" {
		require.Empty(e.t, e.outputs)
	}
	return e
}

// says checks that the log's annotation holds all texts.
func (e ended) says(texts ...string) ended {
	e.t.Helper()
	log := strings.ReplaceAll(e.log, "%0A", "\n")
	for _, text := range texts {
		require.Contains(e.t, log, text)
	}
	return e
}

func (e ended) shows(texts ...string) ended {
	e.t.Helper()
	for _, text := range texts {
		require.Contains(e.t, e.summary, text)
	}
	return e
}

func (e ended) digest() string { return e.outputs["checkpoint-digest"] }

// tuned are variables of Go's own for the processes that tests start: they collect
// seldom, and have the race detector's, since unless told each rests for a second
// before it ends.
func tuned() []string {
	list := []string{fmt.Sprintf("GOGC=%d", growth)}
	if options := os.Getenv("GORACE"); options != "" {
		list = append(list, "GORACE="+options)
	}
	return list
}
