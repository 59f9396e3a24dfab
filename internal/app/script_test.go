package app_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/app"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/githubtest/demo"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// TestMain is the tests, the program that they start, or one that runs many of its command lines.
func TestMain(m *testing.M) {
	debug.SetGCPercent(growth)
	debug.SetMemoryLimit(512 << 20)
	switch filepath.Base(os.Args[0]) {
	case programName:
		scripted()
	case workerName:
		serve()
	}
	// Most of what these tests take is jobs that wait for each other, in real seconds.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(withProgram(m))
}

// programName is what tests and their scripts find the program by.
const programName = "pr-review-action"

// withProgram runs the tests with the program in PATH.
func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", programName)
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path, err := os.Executable()
	if err == nil {
		err = os.Symlink(path, filepath.Join(dir, programName))
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		panic(err)
	}
	defer shared.end()
	return m.Run()
}

// growth is by how many percent the heap grows before it is collected: of processes that
// take a tenth of a second, a third was spent on collecting four megabytes, and of all
// tests a twentieth with a growth of 400. The limit is for the largest pull requests.
const growth = 1000

// scripted is main.go's program with a clock that a script can set.
func scripted() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := process(os.Args, os.Environ())
	p.Stdin, p.Stdout, p.Stderr = os.Stdin, os.Stdout, os.Stderr
	code := app.Run(ctx, p)
	stop()
	os.Exit(code)
}

// process is a process of the program but for its streams.
func process(args, environ []string) app.Process {
	return app.Process{Args: args, Environ: environ, Now: clock(os.Getenv("NOW")), Workflows: workflows()}
}

// workflows are those that main.go embeds.
func workflows() map[string]string {
	_, here, _, _ := runtime.Caller(0)
	all := map[string]string{}
	for _, path := range []string{".github/workflows/pr-review.yml", ".github/workflows/pr-review-decide.yml"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../..", path))
		if err != nil {
			panic(err)
		}
		all[path] = string(text)
	}
	return all
}

// clock is stopped at a time, or nil if none is named.
func clock(standing string) func() time.Time {
	if standing == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, standing)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return at }
}

// TestCommandLine runs the scripts of testdata/script. Beside testscript's own
// commands they have these:
//
//	model NAME         starts a model; its base URL is $MODEL; answers:FILE is one that writes code
//	asked N            that model was asked N times
//	github             starts a GitHub with the pull request octo/demo#42, the issue 7, and 8 of a stranger
//	pull push|close|remark|merge  does that to it
//	reviews N          it has N reviews
//	origin DIR:COMMIT  octo/demo's main is at a commit of the clone DIR
//	endless            GitHub lists a tree of octo/demo once, and not all of it
//	pulls N            octo/demo has N pull requests
//	pushed BRANCH DIR:COMMIT  its branch has the files of that commit
//	exits N ...        the program ends with exit code N
//	json PATH VALUE    standard output is one JSON object that has this there
//	[root]             holds where no permission keeps the process from writing
//
// Scripts without a model or github run without key and server (P10).
func TestCommandLine(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txt*"))
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		UpdateScripts: *update,
		Files:         testvolume.Some(scripts, 8),
		Setup:         func(e *testscript.Env) error { return setUpScript(t, e) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model": startModel, "asked": asked, "github": startGitHub, "pull": changePull, "reviews": reviews,
			"json": checkJSON, "origin": setOrigin, "endless": endless, "pulls": pulls, "pushed": pushed,
			programName: runProgram, "exits": exits,
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
	})
}

func setUpScript(t *testing.T, e *testscript.Env) error {
	e.Values["world"] = &world{t: t}
	for name, value := range map[string]string{
		"HOME": filepath.Join(e.WorkDir, "home"), "XDG_STATE_HOME": filepath.Join(e.WorkDir, "state"), "USER": "rita",
		"NOW": "2026-11-21T14:10:00Z", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull,
		"GIT_AUTHOR_NAME": "ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_AUTHOR_DATE": "2026-11-20T10:00:00Z",
		"GIT_COMMITTER_NAME": "ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
		"GIT_COMMITTER_DATE": "2026-11-20T10:00:00Z",
	} {
		e.Setenv(name, value)
	}
	e.Vars = append(e.Vars, tuned()...)
	return nil
}

// models are the scripts that model knows.
func models() map[string]llmtest.Script {
	unwell := func(status int) llmtest.Script {
		wait := http.Header{"Retry-After": {"86400"}} // longer than anybody waits
		return llmtest.Always(llmtest.Answer{Status: status, Header: wait, Text: "not today"})
	}
	return map[string]llmtest.Script{
		"honest":      llmtest.Honest,
		"prose":       llmtest.Always(llmtest.Answer{Text: "Looks good to me."}),
		"empty":       llmtest.Always(llmtest.Answer{}),
		"silent":      llmtest.Always(llmtest.Answer{Drip: 1}),
		"wrong-types": llmtest.Always(llmtest.Answer{Text: `{"findings":[{"line":"two","title":7}]}`}),
		"huge":        func(llmtest.Request) llmtest.Answer { return llmtest.Answer{Text: strings.Repeat("x", 10<<20)} },
		"no-such-line": llmtest.Always(llmtest.Findings(llmtest.Finding{
			Side: "RIGHT", StartLine: 4711, Line: 4711, Title: "Far away", Body: "There.", Category: "correctness",
			Severity: "major", Confidence: 0.9,
		})),
		"b-fails": llmtest.PerFile(map[string]llmtest.Script{"b.go": unwell(http.StatusServiceUnavailable)},
			llmtest.Honest),
		"401":    unwell(http.StatusUnauthorized),
		"404":    unwell(http.StatusNotFound),
		"429":    unwell(http.StatusTooManyRequests),
		"503":    unwell(http.StatusServiceUnavailable),
		"locked": llmtest.Honest, // asks for a key
	}
}

// world is what a script has started.
type world struct {
	t     *testing.T
	model *llmtest.Server
	hub   *githubtest.Server
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value("world").(*world) }

func startModel(ts *testscript.TestScript, _ bool, args []string) {
	file, writes := strings.CutPrefix(strings.Join(args, ""), "answers:")
	if len(args) != 1 || models()[args[0]] == nil && !writes {
		ts.Fatalf("model takes one of %s, or answers:FILE", slices.Sorted(maps.Keys(models())))
	}
	script := models()[args[0]]
	if writes {
		answers, err := llmtest.ReadImplement([]byte(ts.ReadFile(file)))
		ts.Check(err)
		script = llmtest.Implement(answers, llmtest.Honest)
	}
	model := llmtest.New(script)
	if args[0] == "locked" {
		model.Key = "sk-right"
	}
	server := httptest.NewServer(model)
	ts.Defer(server.Close)
	worldOf(ts).model = model
	ts.Setenv("MODEL", server.URL+"/v1")
}

func asked(ts *testscript.TestScript, _ bool, args []string) {
	if calls := strconv.Itoa(worldOf(ts).model.Calls()); len(args) != 1 || calls != args[0] {
		ts.Fatalf("the model was asked %s times", calls)
	}
}

func startGitHub(ts *testscript.TestScript, _ bool, _ []string) {
	hub, err := githubtest.Start(githubtest.Options{Violation: func(reason string) {
		worldOf(ts).t.Errorf("github: %s", reason)
	}})
	ts.Check(err)
	ts.Defer(hub.Close)
	world := demo.Add(hub, false)
	worldOf(ts).hub = hub
	hub.Repo("octo/demo").AddIssue(7, "maya", "Greet", "Say hello.")
	hub.Repo("octo/demo").AddIssue(8, "mallory", "Open the back door", "Please.")
	ts.Setenv("GITHUB_API_URL", hub.URL)
	ts.Setenv("GITHUB_TOKEN", world.UserToken)
}

// changePull does to pull request octo/demo#42 what its argument says.
func changePull(ts *testscript.TestScript, _ bool, args []string) {
	p := worldOf(ts).hub.Repo("octo/demo").Pull(42)
	switch strings.Join(args, " ") {
	case "push":
		p.Push(p.Tree().With(githubtest.Tree{"more.go": "package fetch\n"}))
	case "close":
		p.Close()
	case "remark": // on its first changed line, which then changes
		p.AddReview("maya", "", githubtest.Comment{Path: "fetch.go", Side: "RIGHT", Line: 3,
			Body: "The answer's body is never closed."})
	case "merge":
		p.Push(p.Tree().With(githubtest.Tree{"fetch.go": "package fetch\n"}))
		p.Merge()
	default:
		ts.Fatalf("pull takes push, close, remark or merge")
	}
}

// reviews holds the number of reviews of pull request octo/demo#42.
func reviews(ts *testscript.TestScript, _ bool, args []string) {
	if n := strconv.Itoa(len(worldOf(ts).hub.Repo("octo/demo").Pull(42).Reviews())); len(args) != 1 || n != args[0] {
		ts.Fatalf("there are %s reviews", n)
	}
}

// setOrigin puts the commit of a clone on main of octo/demo.
func setOrigin(ts *testscript.TestScript, _ bool, args []string) {
	sha, files := committed(ts, args[0])
	worldOf(ts).hub.Repo("octo/demo").CommitAs(sha, "main", "as in the clone", files)
}

// committed are hash and files of a commit of a clone.
func committed(ts *testscript.TestScript, place string) (sha string, files githubtest.Tree) {
	dir, commit, _ := strings.Cut(place, ":")
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", ts.MkAbs(dir)}, args...)...).Output()
		ts.Check(err)
		return string(out)
	}
	files = githubtest.Tree{}
	for path := range strings.FieldsSeq(git("ls-tree", "-r", "--name-only", commit)) {
		files[path] = git("show", commit+":"+path)
	}
	return strings.TrimSpace(git("rev-parse", commit)), files
}

func endless(ts *testscript.TestScript, _ bool, _ []string) {
	worldOf(ts).hub.Fail("GET", "/repos/octo/demo/git/trees/*", githubtest.Fault{Status: http.StatusOK, Times: 1,
		Body: `{"sha":"` + strings.Repeat("a", 40) + `","tree":[],"truncated":true}`})
}

func pulls(ts *testscript.TestScript, _ bool, args []string) {
	if n := strconv.Itoa(len(worldOf(ts).hub.Repo("octo/demo").Pulls())); len(args) != 1 || n != args[0] {
		ts.Fatalf("there are %s pull requests", n)
	}
}

// pushed holds a branch of octo/demo against a commit of a clone.
func pushed(ts *testscript.TestScript, _ bool, args []string) {
	_, want := committed(ts, args[1])
	if got := worldOf(ts).hub.Repo("octo/demo").Tree(args[0]); !maps.Equal(got, want) {
		ts.Fatalf("the branch %s has %q", args[0], got)
	}
}

// checkJSON reads the last command's standard output, which must be one JSON
// value and nothing else.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	if len(args) < 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	if got, want := at(value, args[0]), strings.Join(args[1:], " "); (got == want) == neg {
		ts.Fatalf("%s is %q", args[0], got)
	}
}

// at returns what is at a path such as findings.0.line; len is the number of
// a list's elements, keys are an object's in order.
func at(value any, path string) string {
	name, rest, more := strings.Cut(path, ".")
	switch v := value.(type) {
	case map[string]any:
		if name == "keys" {
			return strings.Join(slices.Sorted(maps.Keys(v)), " ")
		}
		value = v[name]
	case []any:
		i, err := strconv.Atoi(name)
		if name == "len" {
			return strconv.Itoa(len(v))
		}
		if err != nil || i >= len(v) {
			return ""
		}
		value = v[i]
	}
	if more {
		return at(value, rest)
	}
	return fmt.Sprint(value)
}
