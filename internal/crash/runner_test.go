package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// world is a GitHub with one pull request, a model, and the runs of the shipped
// workflows.
type world struct {
	t     *testing.T
	hub   *githubtest.Server
	repo  *githubtest.Repo
	pull  *githubtest.Pull
	model *llmtest.Server
	bill  *bill
	runs  map[string]*githubtest.Run // by workflow file
	known map[string]string          // values of the workflows' expressions, by a word in them

	dispatched bool // the draft names no environment, so that a dispatch decides it
}

const (
	draftFile  = ".github/workflows/pr-review.yml"
	decideFile = ".github/workflows/pr-review-decide.yml"
	gateName   = "ai-review"
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, hub: githubtest.New(t, githubtest.Options{}), bill: newBill(), runs: map[string]*githubtest.Run{}}
	w.model = llmtest.Start(t, w.bill.answer)
	base, head := githubtest.Tree{"README.md": "# demo\n"}, githubtest.Tree{"README.md": "# demo\n"}
	for i := range 4 {
		base[path(i)] = "package part\n"
		head[path(i)] = "package part\n\nvar n = 0 // DEFECT: is never set\n"
	}
	w.repo = w.hub.AddRepo("octo/demo", githubtest.RepoOptions{Files: base, Protected: []string{"main"}})
	w.repo.Permit("lee", "write")
	w.repo.Permit("maya", "write")
	w.repo.AddEnvironment(gateName, "maya")
	w.pull = w.repo.AddPull(githubtest.PullOptions{Number: 42, Title: "Count", Author: "lee", Head: "topic",
		HeadFiles: head})
	w.runs[draftFile] = w.repo.AddRun(githubtest.RunOptions{Actor: "lee"})
	w.known = map[string]string{"pull-request": "42", "pull_request": "42", "API_KEY": "sk-of-the-fake",
		"inputs.decision": "approve"}
	return w
}

// task is a job of a shipped workflow.
type task struct {
	name, file, event string
	actor             string
}

var (
	draftJob  = task{"draft", draftFile, "pull_request_target", "lee"}
	postJob   = task{"post", draftFile, "pull_request_target", "lee"}
	decideJob = task{"decide", decideFile, "workflow_dispatch", "maya"}
)

// done is how a job ended.
type done struct {
	struck  bool // the point was reached
	code    int  // -1 where it was killed
	log     string
	outputs map[string]string
}

// start runs a job as the runner does: with nothing but its inputs and the
// environment that a container action is given. What at says happens to it.
func (w *world) start(j task, at point) done {
	w.t.Helper()
	dir := w.t.TempDir()
	output := filepath.Join(dir, "output")
	require.NoError(w.t, errors.Join(
		os.WriteFile(output, nil, 0o600), os.WriteFile(filepath.Join(dir, "summary"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "event.json"),
			[]byte(`{"action":"opened","number":42,"pull_request":{"number":42},"inputs":{"pull-request":"42"}}`),
			0o600),
	))
	ctx, kill := context.WithCancel(w.t.Context())
	defer kill()
	cmd := exec.CommandContext(ctx, built) // killed as by kill -9 when the context ends
	cmd.Dir, cmd.Env = dir, []string{"GOGC=400"}
	for name, value := range w.environment(j, dir) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	struck := w.watch(at, kill)
	require.NoError(w.t, cmd.Start())
	_ = cmd.Wait() // its state says the same
	w.watch(point{}, func() {})
	written, err := os.ReadFile(output)
	require.NoError(w.t, err)
	return done{struck: struck.Load(), code: cmd.ProcessState.ExitCode(), log: log.String(),
		outputs: outputs(string(written))}
}

// watch strikes at a request, counted from now on: before the server acted, or
// when it has acted and not answered.
func (w *world) watch(at point, kill func()) (struck *atomic.Bool) {
	struck = &atomic.Bool{}
	first := len(w.hub.Requests())
	w.hub.OnRequest(func(n int, r *http.Request, phase string) {
		if n != first+at.request || phase != at.phase {
			return
		}
		struck.Store(true)
		if at.what == cutOff {
			panic(http.ErrAbortHandler) // closes the connection
		}
		kill()
		<-r.Context().Done()
	})
	w.bill.killAt(at.question, func() {
		struck.Store(true)
		kill()
	})
	return struck
}

func (w *world) environment(j task, dir string) map[string]string {
	run := w.runs[j.file]
	inputs, permissions := shipped(w.t, j, w.known)
	token := w.hub.AppToken(w.repo, permissions)
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "CI": "true", "HOME": dir, "GITHUB_WORKSPACE": dir, "RUNNER_TEMP": dir,
		"RUNNER_OS":         "Linux",
		"GITHUB_EVENT_NAME": j.event, "GITHUB_EVENT_PATH": filepath.Join(dir, "event.json"),
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
		"GITHUB_REPOSITORY": w.repo.FullName(), "GITHUB_REPOSITORY_ID": strconv.FormatInt(w.repo.ID, 10),
		"GITHUB_RUN_ID": strconv.FormatInt(run.ID, 10), "GITHUB_RUN_ATTEMPT": strconv.Itoa(run.RunAttempt),
		"GITHUB_WORKFLOW_REF": "octo/demo/" + j.file + "@refs/heads/main", "GITHUB_REF": "refs/heads/main",
		"GITHUB_ACTOR": j.actor, "GITHUB_TRIGGERING_ACTOR": j.actor, "GITHUB_RETENTION_DAYS": "90",
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": w.hub.URL,
		"ACTIONS_RESULTS_URL": w.hub.ResultsURL + "/", "ACTIONS_RUNTIME_TOKEN": w.hub.RuntimeToken(run, j.name),
	}
	for name, value := range inputs {
		env["INPUT_"+strings.ToUpper(name)] = strings.ReplaceAll(value, "${{ github.token }}", token)
	}
	if j.name == "draft" {
		env["INPUT_BASE-URL"], env["INPUT_MODEL"] = w.model.URL, "fake"
		if w.dispatched {
			env["INPUT_ENVIRONMENT"] = ""
		}
	}
	return env
}

// shipped reads a job's inputs, the action's defaults among them, and its
// permissions. An expression comes to what is known by a word in it, or to
// nothing.
func shipped(t *testing.T, j task, known map[string]string) (inputs, permissions map[string]string) {
	t.Helper()
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	var workflow struct {
		Jobs map[string]struct {
			Permissions map[string]string
			Steps       []struct{ With map[string]string }
		}
	}
	decode(t, "action.yml", &action)
	decode(t, j.file, &workflow)
	inputs, permissions = map[string]string{}, map[string]string{}
	for name, in := range action.Inputs {
		inputs[name] = in.Default
	}
	job := workflow.Jobs[j.name]
	require.NotEmpty(t, job.Steps, "%s has no job %s", j.file, j.name)
	for name, value := range job.Steps[0].With {
		inputs[name] = expression(value, known)
	}
	for scope, level := range job.Permissions {
		permissions[strings.ReplaceAll(scope, "-", "_")] = level
	}
	return inputs, permissions
}

func expression(value string, known map[string]string) string {
	if !strings.Contains(value, "${{") || strings.Contains(value, "github.token") {
		return value
	}
	for _, word := range slices.Sorted(maps.Keys(known)) {
		if strings.Contains(value, word) {
			return known[word]
		}
	}
	return ""
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}

// outputs reads the file in which a step leaves its outputs.
func outputs(text string) map[string]string {
	out := map[string]string{}
	for rest := text; rest != ""; {
		head, tail, _ := strings.Cut(rest, "\n")
		name, delimiter, _ := strings.Cut(head, "<<")
		value, after, _ := strings.Cut("\n"+tail, "\n"+delimiter+"\n")
		out[name], rest = strings.TrimPrefix(value, "\n"), after
	}
	return out
}

// dispatch starts a run of its own workflow.
func (w *world) dispatch(j task) *githubtest.Run {
	return w.repo.AddRun(githubtest.RunOptions{Path: j.file, Event: j.event, Actor: j.actor})
}

// text makes a value comparable, whatever it is.
func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(out)
}
