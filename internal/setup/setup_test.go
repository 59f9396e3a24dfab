package setup_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/setup"
)

const (
	draftPath  = ".github/workflows/pr-review.yml"
	decidePath = ".github/workflows/pr-review-decide.yml"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// stage is a clone of a repository on a fake GitHub. Tests that are on it change the
// working folder, so that none of them is parallel.
type stage struct {
	t       *testing.T
	hub     *githubtest.Server
	repo    *githubtest.Repo
	dir     string
	out     bytes.Buffer
	errs    bytes.Buffer
	environ []string
}

// cloned makes a clone of acme/ledger the current folder; ada, its administrator, is the user.
func cloned(t *testing.T, o githubtest.RepoOptions) *stage {
	t.Helper()
	hub, err := githubtest.Start(githubtest.Options{Violation: func(reason string) { t.Errorf("github: %s", reason) }})
	require.NoError(t, err)
	t.Cleanup(hub.Close)
	hub.AddUser("acme", "Organization")
	s := &stage{t: t, hub: hub, repo: hub.AddRepo("acme/ledger", o), dir: t.TempDir()}
	s.repo.Permit("ada", "admin")
	s.environ = []string{"GITHUB_API_URL=" + hub.URL, "GITHUB_TOKEN=" + hub.UserToken("ada")}
	t.Chdir(s.dir)
	require.NoError(t, os.CopyFS(s.dir, justCloned))
	return s
}

// justCloned is what git init and git remote add make.
var justCloned = fstest.MapFS{
	".git/HEAD": {Data: []byte("ref: refs/heads/main\n")}, ".git/objects": {Mode: fs.ModeDir},
	".git/refs": {Mode: fs.ModeDir},
	".git/config": {Data: []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n" +
		"\turl = git@github.com:acme/ledger.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n")},
}

func (s *stage) git(args ...string) {
	s.t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	require.NoError(s.t, err, string(out))
}

func (s *stage) command() *setup.Command {
	s.t.Helper()
	s.out.Reset()
	s.errs.Reset()
	return &setup.Command{
		Front: driver.NewFront(driver.Process{
			Args: []string{"pr-review-action"}, Environ: s.environ, Stdin: strings.NewReader(""), Stdout: &s.out,
			Stderr: &s.errs, Workflows: map[string]string{draftPath: shipped(s.t, draftPath),
				decidePath: shipped(s.t, decidePath)},
		}),
		Name: "pr-review-action", Settings: settings.Defaults(),
	}
}

// shipped is a file of this repository.
func shipped(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(text)
}

var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

func (s *stage) run(c *setup.Command) error { return c.Run(s.t.Context(), nil) }

// report is what init prints with --json.
func (s *stage) report(c *setup.Command) (r setup.Report) {
	s.t.Helper()
	c.JSON = true
	require.NoError(s.t, s.run(c))
	require.NoError(s.t, json.Unmarshal(s.out.Bytes(), &r))
	return r
}

func (s *stage) file(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, path))
	require.NoError(s.t, err)
	return string(text)
}

// left is nothing in the clone but these files, none of them half.
func (s *stage) left(paths ...string) {
	s.t.Helper()
	var found []string
	require.NoError(s.t, filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(s.dir, path)
			found = append(found, filepath.ToSlash(path))
		}
		return err
	}))
	require.ElementsMatch(s.t, paths, found)
}

func TestInitPicksTheRouteByWhatTheRepositoryCanHave(t *testing.T) {
	for name, c := range map[string]struct {
		o     githubtest.RepoOptions
		do    func(*stage)
		route setup.Route
		why   string
	}{
		"public": {route: setup.Approval, why: "public repositories"},
		"private, Enterprise": {githubtest.RepoOptions{Private: true}, onPlan("enterprise"),
			setup.Approval, "with Enterprise"},
		"private, Team": {githubtest.RepoOptions{Private: true}, onPlan("team"),
			setup.Dispatch, "on this plan"},
		"private, plan not shown": {githubtest.RepoOptions{Private: true}, func(s *stage) {
			s.repo.Permit("bob", "write")
			s.environ = append(s.environ, "GITHUB_TOKEN="+s.hub.UserToken("bob"))
		}, setup.Dispatch, "the plan cannot be seen"},
		"private, of a person": {githubtest.RepoOptions{Private: true}, func(s *stage) {
			s.hub.AddUser("acme", "User")
		},
			setup.Dispatch, "a person's private"},
		"private, no token": {githubtest.RepoOptions{Private: true}, func(s *stage) {
			s.environ = append(s.environ, "GITHUB_TOKEN=")
		}, setup.Dispatch, "the plan cannot be seen"},
	} {
		t.Run(name, func(t *testing.T) {
			s := cloned(t, c.o)
			if c.do != nil {
				c.do(s)
			}
			r := s.report(s.command())
			require.Equal(t, c.route, r.Route)
			require.Contains(t, r.Why, c.why)
			if strings.Contains(c.why, "not be seen") {
				require.NotEmpty(t, r.Unseen, "it says what it could not see")
			}
			pinned := strings.ReplaceAll(s.file(draftPath), "@v1\n", "@0123456789abcdef0123456789abcdef01234567 # v1.0.0\n")
			require.NoError(t, os.WriteFile(filepath.Join(s.dir, draftPath), []byte(pinned), 0o644))
			again := s.report(s.command())
			require.Equal(t, c.route, again.Route, "what is here already stays")
			require.Contains(t, s.file(draftPath), " # v1.0.0", "also the commit that it is pinned to")
			require.Equal(t, []string{"there"}, []string{again.Files[0].State})
		})
	}
}

// The files are this repository's own, which the README shows; a route by dispatch has
// less of them.
func TestInitWritesTheWorkflowsOfThisRepository(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	require.NoError(t, s.run(s.command()))
	require.Equal(t, shipped(t, draftPath), s.file(draftPath))
	s.left(draftPath, config.DefaultPath)

	s = cloned(t, githubtest.RepoOptions{})
	c := s.command()
	c.Route = setup.Dispatch
	require.NoError(t, s.run(c))
	draft := s.file(draftPath)
	require.Equal(t, shipped(t, decidePath), s.file(decidePath))
	s.left(draftPath, decidePath, config.DefaultPath)
	for _, gone := range []string{"          environment: ai-review\n", "\n  post:", "\n  record:",
		"pull-requests: write"} {
		require.Contains(t, shipped(t, draftPath), gone)
		require.NotContains(t, draft, gone)
	}
	require.Contains(t, draft, "\n  mark:")
	require.Contains(t, draft, "environment: { name: ai-review-model, deployment: false }")
	for line := range strings.Lines(draft) {
		require.Contains(t, shipped(t, draftPath), line, "nothing is in it that the README does not show")
	}
}

func TestInitFillsInWhatDiffers(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	require.NoError(t, os.Mkdir(".github", 0o755))
	require.NoError(t, os.WriteFile(config.DefaultPath, []byte("admission:\n  label: needs-review\n"), 0o600))
	c := s.command()
	c.Settings.BaseURL, c.Settings.Model = "https://gate.example/v1", `odd: "name" # `
	r := s.report(c)
	require.Equal(t, "kept", r.Files[1].State, "settings that are there are the repository's")
	draft := s.file(draftPath)
	require.Contains(t, draft, "if: ${{ !(github.event.action == 'labeled' && github.event.label.name != 'needs-review' ")
	require.NotContains(t, draft, "'ai-review'")
	require.Contains(t, draft, `          base-url: "https://gate.example/v1"`+"\n"+
		`          model: "odd: \"name\" # "`+"\n")

	require.NoError(t, os.RemoveAll(".github"))
	c = s.command()
	c.Settings.Model = "${{ secrets.X }}"
	require.ErrorContains(t, s.run(c), "a workflow expression") // which GitHub evaluates, however it is escaped
	s.left()
	s.environ = append(s.environ, "OPENAI_BASE_URL=http://127.0.0.1:11434/v1")
	r = s.report(s.command())
	require.NotContains(t, s.file(draftPath), "base-url", "no runner reaches this machine")
	require.Contains(t, r.Notes[0], "base-url is left out")
}

func TestTheSettingsThatInitWritesAreReadWithAndWithoutItsExamples(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	require.NoError(t, s.run(s.command()))
	text := s.file(config.DefaultPath)
	plain, err := config.Parse("", []byte(text))
	require.NoError(t, err)
	require.Equal(t, config.Default(), plain)
	_, examples, ok := strings.Cut(text, "\n\n")
	require.True(t, ok)
	var lines strings.Builder
	for line := range strings.Lines(examples) {
		lines.WriteString(strings.TrimPrefix(line, "# "))
	}
	all, err := config.Parse("", []byte(lines.String()))
	require.NoError(t, err)
	require.Equal(t, "German", all.Language)
	require.Equal(t, 10, all.Comments.Most())
}

func TestInitOverwritesNothingWithoutForce(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	require.NoError(t, os.MkdirAll(filepath.Dir(draftPath), 0o755))
	require.NoError(t, os.WriteFile(draftPath, []byte("name: mine\n"), 0o600))
	c := s.command()
	c.Apply = true
	err := s.run(c)
	require.ErrorContains(t, err, "there is another "+draftPath)
	require.Equal(t, problem.Misuse, problem.KindOf(err))
	require.ErrorContains(t, err, "rename it", "it is a workflow of the project's own")
	s.left(draftPath)
	require.Equal(t, "name: mine\n", s.file(draftPath))
	require.False(t, s.repo.HasLabel("ai-review"), "nothing was done on GitHub either")

	c = s.command()
	c.Force = true
	require.NoError(t, s.run(c))
	require.Equal(t, shipped(t, draftPath), s.file(draftPath))
	s.left(draftPath, config.DefaultPath)
}

func TestInitKnowsItsFilesWithTheLineEndsOfWindows(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	c := s.command()
	c.Route = setup.Dispatch
	require.NoError(t, s.run(c))
	for _, path := range []string{draftPath, decidePath} {
		text := strings.ReplaceAll(s.file(path), "\n", "\r\n")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, s.run(s.command()))
}

// Where one file is in the way none is written, also none before it.
func TestInitWritesAllOrNothing(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	require.NoError(t, os.MkdirAll(filepath.Dir(decidePath), 0o755))
	require.NoError(t, os.WriteFile(decidePath, []byte("name: mine\n"), 0o600))
	c := s.command()
	c.Route = setup.Dispatch
	require.ErrorContains(t, s.run(c), "there is another "+decidePath)
	s.left(decidePath)
}

func TestInitWritesNothingOutsideOfItsFolder(t *testing.T) {
	for _, name := range []string{".github", ".github/workflows", draftPath, config.DefaultPath} {
		t.Run(name, func(t *testing.T) {
			s, away := cloned(t, githubtest.RepoOptions{}), t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			to := away
			if strings.HasSuffix(name, ".yml") {
				to = filepath.Join(away, "x")
			}
			require.NoError(t, os.Symlink(to, name))
			for _, force := range []bool{false, true} {
				c := s.command()
				c.Force = force
				require.Error(t, s.run(c))
				there, err := os.ReadDir(away)
				require.NoError(t, err)
				require.Empty(t, there)
			}
		})
	}
}

func TestInitSaysWhatIsInItsWay(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*stage)
		says []string
	}{
		"no clone": {func(s *stage) { s.t.Chdir(s.t.TempDir()) }, []string{"not in a clone", "run init in a clone"}},
		"no origin": {func(s *stage) { s.git("remote", "remove", "origin") },
			[]string{"names no origin", "git remote add origin"}},
		"a folder as origin": {func(s *stage) { s.git("remote", "set-url", "origin", "/srv/git/x.git") },
			[]string{"not a repository on a server", "git remote set-url origin"}},
		"another forge": {func(s *stage) {
			s.git("remote", "set-url", "origin", "https://u:s3cret@gitlab.com/acme/ledger")
		}, []string{"gitlab.com", "not GitHub.com"}},
		"Enterprise Server": {func(s *stage) {
			s.git("remote", "set-url", "origin", "ssh://git@git.acme.example:2222/acme/ledger.git")
		}, []string{"git.acme.example is not GitHub.com", "Enterprise Server has no artifacts",
			"#5-enterprise-server"}},
		"settings with mistakes": {func(s *stage) {
			require.NoError(s.t, os.Mkdir(".github", 0o755))
			require.NoError(s.t, os.WriteFile(config.DefaultPath, []byte("ignores: x\n"), 0o600))
		}, []string{".github/pr-review.yml:1:1", "ignores"}},
		"a file as .github": {func(s *stage) {
			require.NoError(s.t, os.WriteFile(".github", nil, 0o600))
		}, []string{".github"}},
		"a link to a folder of the clone": {func(s *stage) {
			require.NoError(s.t, os.MkdirAll("ci", 0o755))
			require.NoError(s.t, os.Mkdir(".github", 0o755))
			require.NoError(s.t, os.Symlink("../ci", filepath.Dir(draftPath)))
		}, []string{".github/workflows is not a folder, or is a link to one", "make it a folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := cloned(t, githubtest.RepoOptions{})
			c.do(s)
			err := s.run(s.command())
			require.Error(t, err)
			for _, says := range c.says {
				require.Contains(t, driver.Explain(err), says)
			}
			require.NotContains(t, driver.Explain(err), "s3cret")
			require.Empty(t, s.out.String())
		})
	}
}

// Two that start at once both end well, and leave one whole file of each name.
func TestTwoInitsAtOnce(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{})
	ended := make(chan error)
	for range 8 {
		c := s.command()
		c.Stdout, c.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
		go func() { ended <- c.Run(t.Context(), nil) }()
	}
	for range 8 {
		require.NoError(t, <-ended)
	}
	s.left(draftPath, config.DefaultPath)
	require.Equal(t, shipped(t, draftPath), s.file(draftPath))
}

func onPlan(name string) func(*stage) {
	return func(s *stage) { s.repo.Set(func(o *githubtest.Settings) { o.Plan = name }) }
}

func TestAPrivateRepositoryNeedsNoPolicyForItsEvent(t *testing.T) {
	s := cloned(t, githubtest.RepoOptions{Private: true, Files: githubtest.Tree{draftPath: shipped(t, draftPath)}})
	require.NoError(t, s.run(s.command()))
	require.NotContains(t, s.out.String(), "pull_request_target")
	s.out.Reset()
	found, _ := s.checked()
	require.Contains(t, found, draftPath)
	require.NotContains(t, found, "event pull_request_target")
}
