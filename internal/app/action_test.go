package app_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// The story of the action: the program as a process per job, with the
// environment that the runner gives a container action, a GitHub and a model
// on loopback, and nothing else. Jobs have permissions and inputs of
// the shipped workflow files, and the defaults of action.yml.

const (
	modelKey      = "sk-story-5d41402abc4b2a76b9719d911017c592"
	checkpointKey = "YSBrZXkgb2YgYSBzdG9yeSwgZm9yIGl0cyBkcmFmdHM=" // 32 bytes
	anotherKey    = "YW5vdGhlciBrZXksIHRoYXQgaXMgbm90IHRoZSBvbmU="
	draftWorkflow = ".github/workflows/pr-review.yml"
	decidePath    = ".github/workflows/pr-review-decide.yml"
	gateName      = "ai-review"
)

// baseTree and headTree are the change under review: three files with findings
// of every severity, and two that nobody reads.
func baseTree() githubtest.Tree {
	return githubtest.Tree{
		"README.md": "# ledger\n", "go.sum": "",
		"ledger/transfer.go": lines("package ledger", 30, "// line %d"),
		"web/cart.ts":        lines("export {}", 20, "// line %d"),
		"ops/run.sh":         "#!/bin/sh\nset -e\n",
	}
}

func headTree() githubtest.Tree {
	t := baseTree()
	t["ledger/transfer.go"] = strings.Replace(t["ledger/transfer.go"], "// line 12\n",
		"move(a, b) // DEFECT: blocker: Moves money without a lock\n", 1)
	t["ledger/transfer.go"] = strings.Replace(t["ledger/transfer.go"], "// line 25\n",
		"log(err) // DEFECT: minor: Logs and goes on\n", 1)
	t["web/cart.ts"] = strings.Replace(t["web/cart.ts"], "// line 7\n",
		"save(cart) // DEFECT: major: The promise is not awaited\n", 1)
	t["ops/run.sh"] += "echo done # DEFECT: nit: Says too little\n"
	t["go.sum"] = "example.com/a v1.0.0 h1:AAAA=\n"
	return t.Without("README.md")
}

func lines(first string, n int, format string) string {
	var b strings.Builder
	fmt.Fprintln(&b, first)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// critic reports the marked lines with the severity in the mark. About the
// cart it also has something to say at a line that does not exist.
func critic(r llmtest.Request) llmtest.Answer {
	var found []llmtest.Finding
	for _, l := range r.Lines {
		_, mark, marked := strings.Cut(l.Text, llmtest.Marker)
		severity, title, _ := strings.Cut(strings.TrimSpace(mark), ": ")
		if l.Op != '+' || !marked {
			continue
		}
		found = append(found, llmtest.Finding{
			Side: "RIGHT", StartLine: l.New, Line: l.New, Quote: l.Text, Title: title,
			Body:     "Because of `" + r.Path + "`.",
			Category: "correctness", Severity: severity, Confidence: 0.9, Suggestion: "fixed()",
		})
	}
	if r.Path == "web/cart.ts" {
		found = append(found, llmtest.Finding{
			Side: "RIGHT", StartLine: 9000, Line: 9000, Title: "The cart is never emptied",
			Body:     "Nothing calls `clear`.",
			Category: "correctness", Severity: "minor", Confidence: 0.8,
		})
	}
	return llmtest.Findings(found...)
}

// scene is what a story starts from. Zero values make a pull request of the
// repository's own branch by a collaborator.
type scene struct {
	base, head githubtest.Tree
	baseBranch string
	fork       bool
	private    bool
	author     string
	draft      bool
	title      string
	script     llmtest.Script
	server     githubtest.Options
	trust      string // of all jobs, under checkpointKey; empty for the default
}

// stage is a GitHub with one pull request, one run of the review workflow, and
// a model.
type stage struct {
	t        *testing.T
	hub      *githubtest.Server
	repo     *githubtest.Repo
	fork     *githubtest.Repo
	pull     *githubtest.Pull
	run      *githubtest.Run
	model    *llmtest.Server
	trust    string
	defaults string // the organization's variable

	patient bool // every wait is as long as in a process: GitHub takes real time
}

// ran has the subtest that ran first, by test.
var ran sync.Map

// cell leaves a subtest out under the race detector where another one of the same test ran before it: for a table whose
// cells take one goroutine's way again and again.
func cell(t *testing.T) {
	t.Helper()
	test, _, sub := strings.Cut(t.Name(), "/")
	if first, any := ran.LoadOrStore(test, t.Name()); testvolume.Sampled() && sub && any && first != t.Name() {
		t.Skip(testvolume.Unwatched)
	}
}

// setUp is a stage for jobs that run one after the other, so that the race
// detector needs one cell of a table.
func setUp(t *testing.T, sc scene) *stage {
	t.Helper()
	cell(t)
	return setUpRace(t, sc)
}

// setUpRace is a stage for jobs that run at one time, or are killed.
func setUpRace(t *testing.T, sc scene) *stage {
	t.Helper()
	t.Parallel()
	return newStage(t, sc)
}

func newStage(t *testing.T, sc scene) *stage {
	t.Helper()
	if sc.base == nil {
		sc.base = baseTree()
	}
	if sc.head == nil {
		sc.head = headTree()
	}
	if sc.script == nil {
		sc.script = critic
	}
	s := &stage{t: t, hub: githubtest.New(t, sc.server), trust: sc.trust}
	s.model = llmtest.Start(t, sc.script, func(m *llmtest.Server) { m.Key = modelKey })
	s.repo = s.hub.AddRepo("octo/demo", githubtest.RepoOptions{Files: sc.base, Protected: []string{"main"},
		Private: sc.private})
	if sc.private {
		s.hub.AddUser("octo", "Organization")
	}
	o := githubtest.PullOptions{
		Number: 42, Title: cmp.Or(sc.title, "Move money"), Author: cmp.Or(sc.author, "lee"), Draft: sc.draft,
		Head: "topic", HeadFiles: sc.head,
	}
	if sc.baseBranch != "" {
		o.Base, o.BaseFiles = sc.baseBranch, sc.base
	}
	if sc.fork {
		s.fork = s.hub.AddRepo("lee/demo", githubtest.RepoOptions{ForkOf: s.repo})
		o.From = s.fork
	} else {
		s.repo.Permit("lee", "write")
	}
	s.repo.Permit("maya", "write")
	s.repo.Permit("sam", "write")
	s.repo.Permit("rob", "read")
	s.repo.AddEnvironment(gateName, "maya", "sam")
	s.pull = s.repo.AddPull(o)
	s.run = s.repo.AddRun(githubtest.RunOptions{Actor: "lee"})
	return s
}

// job is one job of a run, about to start.
type job struct {
	s      *stage
	run    *githubtest.Run
	path   string // of the workflow file
	event  string
	file   string // of the event, in testdata/events
	head   string // that the event names where it is a label's
	token  string
	inputs map[string]string
	env    map[string]string

	program string // the one of TestMain where empty
}

// parked drafts and gives the draft job's results.
func (s *stage) parked() ended {
	s.t.Helper()
	return s.draftJob().start().is(0, "PAUSED")
}

// approved lets maya approve what waits.
func (s *stage) approved(comment string) {
	s.run.Wait(gateName)
	s.run.Approve(gateName, "maya", comment)
}

// draftArtifact is the artifact of a draft.
func (s *stage) draftArtifact(drafted ended) *githubtest.Artifact {
	s.t.Helper()
	for _, a := range s.run.Artifacts() {
		if a.Name == drafted.outputs["artifact-name"] {
			return &a
		}
	}
	require.Fail(s.t, "the draft has no artifact")
	return nil
}

func (s *stage) opened(drafted ended) checkpoint.Draft {
	s.t.Helper()
	z, err := checkpoint.Unzip(s.draftArtifact(drafted).Zip())
	require.NoError(s.t, err)
	opened, err := s.protection().Open(z)
	require.NoError(s.t, err)
	return opened
}

// protection is what the stage's jobs give their drafts.
func (s *stage) protection() checkpoint.Protection {
	s.t.Helper()
	if s.trust == "" {
		return checkpoint.Protection{}
	}
	return under(s.t, s.trust, checkpointKey)
}

func under(t *testing.T, trust, key string) checkpoint.Protection {
	t.Helper()
	k, err := checkpoint.ParseKey(key)
	require.NoError(t, err)
	return checkpoint.Protection{Trust: trust, Key: k}
}

// writes are the requests that changed or tried to change something on the
// API, artifacts aside: a question of GraphQL comes by POST and changes nothing.
func (s *stage) writes() []githubtest.Request {
	var out []githubtest.Request
	for _, r := range s.hub.Requests() {
		if r.Host == "api" && r.Method != http.MethodGet && r.Method != http.MethodHead &&
			!strings.HasPrefix(r.Path, "/twirp/") && !strings.HasPrefix(string(r.Body), `{"query":"query`) {
			out = append(out, r)
		}
	}
	return out
}

// untouched is P1: nothing was written to the pull request, nor tried.
func (s *stage) untouched() {
	s.t.Helper()
	require.Empty(s.t, s.writes())
	require.Empty(s.t, s.pull.Reviews())
}

// posted returns the one review there is, T32 checked.
func (s *stage) posted() githubtest.Review {
	s.t.Helper()
	reviews := s.pull.Reviews()
	require.Len(s.t, reviews, 1)
	require.Equal(s.t, "COMMENTED", reviews[0].State)
	for _, w := range s.writes() {
		if strings.HasPrefix(w.Path, "/repos/octo/demo/actions/") { // a person's decision, for a job to carry out
			continue
		}
		require.Regexp(s.t, `^(POST|DELETE) /repos/octo/demo/pulls/42/reviews(/[0-9]+(/events)?)?$`,
			w.Method+" "+w.Path)
		require.Equal(s.t, strings.HasSuffix(w.Path, "/events"), strings.Contains(string(w.Body), `"event":"COMMENT"`))
	}
	return reviews[0]
}

// submissions are the requests that made a review visible, or tried to.
func (s *stage) submissions() (sent []githubtest.Request) {
	for _, w := range s.writes() {
		if strings.HasSuffix(w.Path, "/events") {
			sent = append(sent, w)
		}
	}
	return sent
}

// read reads a YAML file of the project.
func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}

// once keeps what a file of the repository says by name: every job of every test asks.
var once sync.Map

// defaults are the inputs of action.yml, which the runner passes all, with the
// empty string where there is no default.
func defaults(t *testing.T) map[string]string {
	t.Helper()
	if known, ok := once.Load("action.yml"); ok {
		return known.(map[string]string)
	}
	var file struct {
		Inputs map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"inputs"`
	}
	read(t, "action.yml", &file)
	out := map[string]string{}
	for name, in := range file.Inputs {
		out[name] = in.Default
	}
	once.Store("action.yml", out)
	return out
}

// shipped is a job of a shipped workflow.
type shipped struct{ permissions, inputs map[string]string }

func shippedJob(t *testing.T, path, name string) shipped {
	t.Helper()
	if known, ok := once.Load(path + name); ok {
		return known.(shipped)
	}
	var file struct {
		Jobs map[string]struct {
			Permissions map[string]string `yaml:"permissions"`
			Steps       []struct {
				With map[string]string `yaml:"with"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	read(t, path, &file)
	job := file.Jobs[name]
	require.NotEmpty(t, job.Permissions, "%s has no job %s with permissions", path, name)
	require.Len(t, job.Steps, 1)
	out := shipped{permissions: map[string]string{}, inputs: job.Steps[0].With}
	for scope, level := range job.Permissions {
		out.permissions[strings.ReplaceAll(scope, "-", "_")] = level
	}
	once.Store(path+name, out)
	return out
}

// less is a review's body without what is added when it is posted: the line
// about the approval and the marker.
func less(t *testing.T, body string) (text, approval string) {
	t.Helper()
	found := regexp.MustCompile(`(?s)^(.*)\n\n([^\n]+)\n<!-- pr-review:v1 [^\n]+ -->$`).FindStringSubmatch(body)
	require.NotNil(t, found, "%s", body)
	return found[1], found[2]
}
