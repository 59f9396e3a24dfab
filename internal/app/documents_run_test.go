package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// sample makes a clone with a change on the branch work.
const sample = `git init -q -b main .; git remote add origin https://github.com/acme/payments
 echo 'package a' >a.go; git add .; git commit -qm one; git checkout -qb work
printf 'package a\n\nimport "crypto/tls"\n\nvar c = tls.Config{InsecureSkipVerify: true}\n' >a.go; git commit -qam two
cat >lint.sarif <<'END'
{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"golangci-lint"}},"results":[{"ruleId":"unused","level":"warning",
"message":{"text":"var c is unused"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},
"region":{"startLine":5}}}]}]}]}
END`

// run marks a block whose commands are run, one after the other, in one place for a page: a clone without key or
// network, one whose GitHub has a pull request with a draft, or one with a ticket and a model.
var run = regexp.MustCompile("(?ms)^ *<!-- run(?: (on GitHub|with a ticket))? -->\n *```console\n(.*?)^ *```$")

var assignment = regexp.MustCompile(`^\w+=`)

// modelOfThePages is the address that pages give a model of one's own.
const modelOfThePages = "http://localhost:11434/v1"

// A block's other lines are what the command above them prints, in this order; … stands for what is left out.
func TestMarkedBlocksOfTheDocumentsPrintWhatTheyShow(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"README.md", ".github/GUIDES.md", ".github/CONTRIBUTING.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("../..", page))
			require.NoError(t, err)
			blocks := run.FindAllStringSubmatch(string(text), -1)
			require.NotEmpty(t, blocks)
			stand := strings.NewReplacer("go run . ", "pr-review-action ", "OWNER/REPO", "octo/demo",
				modelOfThePages, llmtest.Start(t, llmtest.Honest).URL)
			at := places(t, string(text))
			for _, block := range blocks {
				for _, step := range strings.Split("\n"+strings.ReplaceAll(block[2], "\n   ", "\n"), "\n$ ")[1:] {
					line, shown, _ := strings.Cut(step, "\n")
					holds(t, line, at[block[1]].run(t, stand.Replace(line)), stand.Replace(shown))
				}
			}
		})
	}
}

// holds requires that a command printed what a page shows of it.
func holds(t *testing.T, line, printed, shown string) {
	t.Helper()
	rest := printed
	for _, want := range strings.FieldsFunc(shown, func(r rune) bool { return r == '\n' || r == '…' }) {
		_, after, found := strings.Cut(rest, want)
		require.True(t, found, "%s: no %q (in this order) in:\n%s", line, want, printed)
		rest = after
	}
}

// place is a folder in which lines of a page are run.
type place struct {
	dir      string
	env      []string
	assigned string // variables of the lines before
}

func (p *place) run(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", p.assigned+line)
	if assignment.MatchString(line) {
		p.assigned += line + "\n"
	}
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, out)
	return string(out)
}

// placed makes a folder with what a line puts there, on one day.
func placed(t *testing.T, name, seed string, env ...string) *place {
	t.Helper()
	home := t.TempDir()
	p := &place{dir: filepath.Join(home, name), env: append(append(tuned(), "PATH="+os.Getenv("PATH"),
		"HOME="+home, "USER=rita", "NOW=2026-11-21T14:10:00Z", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-11-20T10:00:00Z", "GIT_COMMITTER_DATE=2026-11-20T10:00:00Z"), env...)}
	require.NoError(t, os.Mkdir(p.dir, 0o755))
	p.run(t, seed)
	return p
}

// places are where the blocks of a page are run, by what their marks name.
func places(t *testing.T, page string) map[string]*place {
	t.Helper()
	return map[string]*place{
		"": placed(t, "payments", sample), "on GitHub": onGitHub(t, page), "with a ticket": withTicket(t),
	}
}

// onGitHub has a pull request whose draft waits for a dispatch, and which names a ticket of the page's tracker.
func onGitHub(t *testing.T, page string) *place {
	t.Helper()
	_, settings, _ := strings.Cut(page, "# .github/pr-review.yml\ncontext:\n")
	settings, _, _ = strings.Cut("context:\n"+settings, "```")
	settings = strings.Replace(settings, "https://acme.atlassian.net", atlassian(t), 1)
	base := baseTree().With(githubtest.Tree{".github/pr-review.yml": settings})
	head := base.With(githubtest.Tree{"client.go": "package a\n\nvar c = tls.Config{InsecureSkipVerify: true}\n"})
	s := newStage(t, scene{title: "PAY-123: move money", base: base, head: head, script: llmtest.Honest})
	s.shipWorkflows()
	s.waits(false)
	return placed(t, "demo", "git init -q", "NOW=", "GITHUB_API_URL="+s.hub.URL,
		"GITHUB_TOKEN="+s.hub.UserToken("maya"), "JIRA_USER=mei@acme.example", "JIRA_TOKEN=jira-token-of-mei")
}

// withTicket is a clone with a ticket, and a model that writes its change.
func withTicket(t *testing.T) *place {
	t.Helper()
	folder, err := filepath.Abs("../../testdata/implement/go")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(folder, "TASK-101.json"))
	require.NoError(t, err)
	answers, err := llmtest.ReadImplement(text)
	require.NoError(t, err)
	model := llmtest.Start(t, llmtest.Implement(answers, llmtest.Honest))
	return placed(t, "tasks", "cp -r "+folder+"/. .; git init -qb main; git add .; git commit -qm one",
		"OPENAI_BASE_URL="+model.URL)
}
