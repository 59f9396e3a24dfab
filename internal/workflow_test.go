package internal_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/injection"
	"github.com/org/pr-review-action/internal/settings"
)

// workflow is what the rules below look at. Text is the file's own.
type workflow struct {
	On          any
	Permissions any
	Jobs        map[string]job
	text        string
}

type job struct {
	Permissions any
	Environment any
	Uses        string
	Secrets     any
	Env         map[string]any
	Container   any
	Timeout     int `yaml:"timeout-minutes"`
	Steps       []step
}

type step struct {
	Uses, Run string
	With, Env map[string]any
}

const product = "org/pr-review-action@"

var (
	pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	// outside is text that somebody else chose, or that a job passed on from them.
	outside = regexp.MustCompile(`(?s)\$\{\{(?:[^}]|\}[^}])*?\b(github\W+(event|head_ref|ref_name)\b|inputs\b` +
		`|steps\b|needs\b|github\s*[)}])`)
	headRef = regexp.MustCompile(`head_ref|head\.(ref|sha|repo)|head_sha|head_branch|refs/pull|merge_commit_sha` +
		`|pull_request\.head`)
	secret     = regexp.MustCompile(`\bsecrets\b`)
	privileged = []string{"pull_request_target", "workflow_run", "issue_comment", "workflow_dispatch", "workflow_call",
		"issues", "discussion", "pull_request_review"}
)

// broken lists what of a workflow breaks a rule, each led by the rule's number.
func broken(w workflow) (bad []string) {
	say := func(rule, format string, args ...any) { bad = append(bad, rule+": "+fmt.Sprintf(format, args...)) }
	if top, ok := w.Permissions.(map[string]any); !ok || len(top) > 0 {
		say("D3", "the top does not say permissions: {}")
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		granted, named := j.Permissions.(map[string]any)
		if !named {
			say("D3", "job %s names no permissions", name)
		}
		writes, text := false, fmt.Sprint(j)
		for scope, level := range granted {
			if level == "write" {
				writes = true
				// a ticket's change needs a branch, and an issue that is told of it a comment
				ticket := strings.Contains(text, "ticket:") && slices.Contains([]string{"contents", "issues"}, scope)
				mark := scope == "statuses" && name == "mark"
				if scope != "pull-requests" && !ticket && !mark {
					say("T32", "job %s may write %s", name, scope)
				}
			}
		}
		if writes && secret.MatchString(text) {
			say("D3", "job %s may write and holds a secret", name)
		}
		if secret.MatchString(text) && j.Environment == nil {
			say("T39", "job %s reads a secret without an environment", name)
		}
		if j.Uses != "" && !pinned.MatchString(j.Uses) {
			say("T18", "job %s uses %s", name, j.Uses)
		}
		if j.Container != nil {
			say("T18", "job %s has a container", name)
		}
		for i, s := range j.Steps {
			for _, problem := range brokenStep(w, s, writes) {
				say(problem[0], "job %s, step %d: %s", name, i+1, problem[1])
			}
		}
	}
	return bad
}

func brokenStep(w workflow, s step, writes bool) (bad [][2]string) {
	if s.Uses != "" && !strings.HasPrefix(s.Uses, product) {
		if !pinned.MatchString(s.Uses) {
			bad = append(bad, [2]string{"T18", "uses " + s.Uses})
		}
		if writes {
			bad = append(bad, [2]string{"T18", s.Uses + " beside a token that may write"})
		}
	}
	if strings.HasPrefix(s.Uses, "actions/checkout@") && isPrivileged(w.On) {
		bad = append(bad, [2]string{"T16", "a checkout in a privileged workflow"})
	}
	if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
		bad = append(bad, [2]string{"D3", "a clone that keeps the token"})
	}
	if isPrivileged(w.On) && headRef.MatchString(fmt.Sprint(s)) {
		bad = append(bad, [2]string{"T16", "names the head"})
	}
	for _, script := range []any{s.Run, s.With["script"], s.With["args"], s.With["entrypoint"]} {
		if outside.MatchString(fmt.Sprint(script)) {
			bad = append(bad, [2]string{"T17", "an expression in a script"})
		}
	}
	return bad
}

func isPrivileged(on any) bool {
	var events []string
	switch on := on.(type) {
	case string:
		events = []string{on}
	case []any:
		for _, e := range on {
			events = append(events, fmt.Sprint(e))
		}
	case map[string]any:
		events = slices.Collect(maps.Keys(on))
	}
	return slices.ContainsFunc(events, func(e string) bool { return slices.Contains(privileged, e) })
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	require.NoError(t, err)
	return string(text)
}

func parsed(t *testing.T, text string) (w workflow) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text), &w))
	w.text = text
	return w
}

// shipped are the workflow files by name, without their folder.
func shipped(t *testing.T) map[string]workflow {
	t.Helper()
	all := map[string]workflow{}
	paths, err := filepath.Glob("../.github/workflows/*.y*ml")
	require.NoError(t, err)
	for _, path := range paths {
		all[filepath.Base(path)] = parsed(t, read(t, path))
	}
	require.Contains(t, all, "pr-review.yml")
	require.Contains(t, all, "pr-review-decide.yml")
	return all
}

func TestT16_T17_T18_T32_T39_ShippedWorkflowsKeepTheRules(t *testing.T) {
	t.Parallel()
	for name, w := range shipped(t) {
		require.NotEmpty(t, w.Jobs, name)
		if name != "release.yml" { // the one that writes to this repository
			require.Empty(t, broken(w), name)
		}
	}
}

// A job without a limit holds a runner for six hours if it hangs. A draft has until max-time, and first waits for
// linters.
func TestJobsOfTheShippedWorkflowsEndInTime(t *testing.T) {
	t.Parallel()
	limit := func(name string, w workflow) {
		for of, j := range w.Jobs {
			if j.Uses != "" {
				continue // GitHub takes no limit there: the called jobs have theirs
			}
			require.Positive(t, j.Timeout, "%s: %s", name, of)
			if of == "draft" {
				least := settings.DefaultMaxTime + settings.Defaults().FindingsWait + 15*time.Minute
				require.GreaterOrEqual(t, time.Duration(j.Timeout)*time.Minute, least, name)
			}
		}
	}
	for name, w := range shipped(t) {
		limit(name, w)
	}
	for path, page := range documents(t) {
		for _, block := range yamlOf(page) {
			if strings.Contains(block, "\njobs:\n") {
				limit(path, parsed(t, block))
			}
		}
	}
}

// A draft that waits for a dispatch is a green run: the commit shows that it waits, until it is decided.
func TestTheShippedWorkflowsMarkTheCommit(t *testing.T) {
	t.Parallel()
	for name, needs := range map[string]string{"pr-review.yml": "draft", "pr-review-decide.yml": "decide"} {
		w := shipped(t)[name]
		j, ok := w.Jobs["mark"]
		require.True(t, ok, name)
		require.Equal(t, map[string]any{"pull-requests": "read", "actions": "read", "contents": "read",
			"statuses": "write"}, j.Permissions)
		require.Equal(t, "mark", j.Steps[0].With["mode"])
		require.Contains(t, w.text, "  mark:\n    needs: "+needs+" #")
	}
	require.Contains(t, shipped(t)["pr-review.yml"].text,
		"if: needs.draft.outputs.outcome == 'PAUSED' && needs.draft.outputs.environment == ''")
	// fail-on fails a job that has decided, and without always() the jobs after it do not run
	require.Contains(t, shipped(t)["pr-review-decide.yml"].text,
		"    if: always() && (needs.decide.outputs.outcome == 'POSTED' || needs.decide.outputs.outcome == 'ABORTED')\n")
}

// A merge of the branch below points a pull request at another one, and all that GitHub sends is an edit. Other
// edits, and labels that ask for nothing, neither draft nor cancel a waiting draft.
func TestTheShippedWorkflowsDraftAgainstAnotherBase(t *testing.T) {
	t.Parallel()
	const idle = "github.event.action == 'labeled' && github.event.label.name != 'ai-review' || " +
		"github.event.action == 'edited' && !github.event.changes.base"
	for _, name := range []string{"pr-review.yml", "review.yml"} {
		text := shipped(t)[name].text
		require.Contains(t, text, "-${{ ("+idle+") && github.run_id || 'review' }}\n", name)
		require.Contains(t, text, "    if: ${{ !("+idle+") }}\n", name)
	}
	for _, path := range []string{"../.github/workflows/pr-review.yml", "setup/caller-review.yml",
		"../.github/REUSABLE.md"} {
		require.Contains(t, read(t, path), "types: [opened, synchronize, reopened, ready_for_review, labeled, edited]", path)
	}
}

// Their two files are all that a repository copies, so the README leads to them.
func TestTheREADMELeadsToTheWorkflowsToCopy(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pr-review.yml", "pr-review-decide.yml"} {
		require.Contains(t, read(t, "../README.md"), "](.github/workflows/"+name+")")
	}
}

func TestTheWorkflowTestSeesEveryBrokenRule(t *testing.T) {
	t.Parallel()
	const sha = "11bd71901bbe5b1630ceea73d27597364c9af683"
	const top = "on: pull_request_target\npermissions: {}\njobs:\n  a:\n"
	const steps = top + "    permissions: { contents: read }\n    steps:\n"
	for name, c := range map[string]struct{ rule, text string }{
		"no permissions at the top": {"D3", "on: push\njobs:\n  a:\n    permissions: {}\n"},
		"read-all at the top":       {"D3", "on: push\npermissions: read-all\njobs:\n  a:\n    permissions: {}\n"},
		"no permissions of a job":   {"D3", top + "    steps: []\n"},
		"write-all of a job":        {"D3", top + "    permissions: write-all\n"},
		"a key beside write": {"D3", top +
			"    environment: e\n    permissions: { pull-requests: write }\n    steps: [{ uses: " +
			"org/pr-review-action@v1, with: { api-key: \"${{ secrets.K }}\" } }]\n"},
		"contents: write": {"T32", top + "    permissions: { contents: write }\n"},
		"statuses: write": {"T32", top + "    permissions: { statuses: write }\n"},
		"a secret, no environment": {"T39", steps +
			"      - { uses: org/pr-review-action@v1, with: { api-key: \"${{ secrets.K }}\" } }\n"},
		"a tag":             {"T18", steps + "      - uses: actions/setup-go@v5\n"},
		"a short commit":    {"T18", steps + "      - uses: actions/setup-go@" + sha[:12] + "\n"},
		"an image":          {"T18", steps + "      - uses: docker://alpine:3\n"},
		"a foreign product": {"T18", steps + "      - uses: evil/pr-review-action@v1\n"},
		"another action at the gate": {"T18", top +
			"    permissions: { pull-requests: write }\n    steps: [{ uses: a/b@" + sha + " }]\n"},
		"a reusable workflow": {"T18", top +
			"    permissions: {}\n    uses: a/b/.github/workflows/c.yml@main\n"},
		"a container": {"T18", top + "    permissions: {}\n    container: node:20\n"},
		"checkout":    {"T16", steps + "      - uses: actions/checkout@" + sha + "\n"},
		"checkout, events in a map": {"T16", "on: { workflow_run: {} }\npermissions: {}\njobs:\n  a:\n    " +
			"permissions: {}\n    steps: [{ uses: actions/checkout@" + sha + " }]\n"},
		"checkout, events in a list": {"T16", "on: [push, issue_comment]\npermissions: {}\njobs:\n  a:\n    " +
			"permissions: {}\n    steps: [{ uses: actions/checkout@" + sha + " }]\n"},
		"a clone with the token": {"D3", "on: push\npermissions: {}\njobs:\n  a:\n    permissions: " +
			"{ contents: read }\n    steps: [{ uses: actions/checkout@" + sha + " }]\n"},
		"head by hand": {"T16", steps + "      - run: git fetch origin refs/pull/1/head\n"},
		"head in the environment": {"T16", steps +
			"      - { run: git checkout $X, env: { X: \"${{ github.event.pull_request.head.sha }}\" } }\n"},
		"title in a script":  {"T17", steps + "      - run: echo \"${{ github.event.pull_request.title }}\"\n"},
		"branch in a script": {"T17", steps + "      - run: echo ${{ format('{0}', github.head_ref) }}\n"},
		"title by index":     {"T17", steps + "      - run: echo ${{ github['event'].pull_request.title }}\n"},
		"the whole event":    {"T17", steps + "      - run: echo ${{ toJSON(github) }}\n"},
		"input in a script":  {"T17", steps + "      - run: echo ${{inputs.commands}}\n"},
		"output in a script": {"T17", steps + "      - run: echo ${{ steps.x.outputs.y }}\n"},
		"need in a script":   {"T17", steps + "      - run: echo ${{ needs.draft.outputs.outcome }}\n"},
		"event in a script of an action": {"T17", steps + "      - uses: actions/github-script@" + sha +
			"\n        with: { script: \"x('${{ github.event.comment.body }}')\" }\n"},
		"input in an argument": {"T17", steps + "      - { uses: org/pr-review-action@v1, with: { args: \"${{ " +
			"inputs.commands }}\" } }\n"},
	} {
		found := broken(parsed(t, c.text))
		require.True(t, slices.ContainsFunc(found, func(s string) bool {
			return strings.HasPrefix(s, c.rule+":")
		}), "%s: %v", name, found)
	}
	require.Empty(t, broken(parsed(t, steps+"      - { run: echo \"$X\", env: { X: \"${{ inputs.commands }}\" } }\n")),
		"a value may pass through the environment")
}

// TestT32_NothingInTheProgramApprovesOrMerges looks at every string of the
// code that is linked into the binary.
func TestT32_NothingInTheProgramApprovesOrMerges(t *testing.T) {
	t.Parallel()
	acts := regexp.MustCompile(`"(APPROVE|REQUEST_CHANGES|/?merges?|git/refs)"|/merge"|pulls/.*/merge`)
	calls := regexp.MustCompile(`PullRequests\.(Merge|Edit|UpdateBranch|DismissReview)|Issues\.(AddLabels` +
		`|RemoveLabel|ReplaceLabels|Edit|Lock)|Git\.(UpdateRef|DeleteRef)|Repositories\.(Merge|CreateFile` +
		`|UpdateFile|DeleteFile)`)
	pushes := regexp.MustCompile(`Git\.CreateRef|createCommitOnBranch\(|PullRequests\.Create\(`)
	var sent, pushed []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "testdata") || floors[filepath.ToSlash(filepath.Dir(path))] == testFloor {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		text := read(t, path)[file.Name.End():]
		require.NotRegexp(t, acts, text, path)
		require.NotRegexp(t, calls, text, path)
		for range strings.Count(text, "CreateReview(") + strings.Count(text, "SubmitReview(") {
			sent = append(sent, path)
		}
		for range len(pushes.FindAllString(text, -1)) {
			pushed = append(pushed, path)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"github/write/write.go", "github/write/write.go"}, sent,
		"a pending review and its submission, whose event is constant")
	require.Equal(t, slices.Repeat([]string{"github/write/branch.go"}, 3), pushed,
		"a new branch, a commit whose parent is the expected one, and a draft pull request")
}

func TestWhatInitWritesAddressesNoReviewer(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../.github/workflows/*.yml")
	require.NoError(t, err)
	for _, file := range append(files, "setup/pr-review.yml") {
		require.Empty(t, injection.Scan(string(read(t, file))), file)
	}
}
