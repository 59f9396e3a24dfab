package setup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/setup"
)

const setupBranch = "pr-review-action/set-up"

// company is an organization acme on a fake GitHub, whose owner ada is the user.
type company struct {
	t         *testing.T
	hub       *githubtest.Server
	list      string // file
	out, errs bytes.Buffer
	environ   []string
	began     int // requests before the last run
}

func newCompany(t *testing.T, names ...string) *company {
	t.Helper()
	c := &company{t: t, hub: githubtest.New(t), list: filepath.Join(t.TempDir(), "repos.txt")}
	c.hub.AddUser("acme", "Organization")
	for _, name := range names {
		c.add(name, githubtest.RepoOptions{})
	}
	c.lists(names...)
	c.environ = []string{"GITHUB_API_URL=" + c.hub.URL, "GITHUB_TOKEN=" + c.hub.UserToken("ada")}
	return c
}

func (c *company) add(name string, o githubtest.RepoOptions) *githubtest.Repo {
	r := c.hub.AddRepo("acme/"+name, o)
	r.Permit("ada", "admin")
	return r
}

func (c *company) repo(name string) *githubtest.Repo { return c.hub.Repo("acme/" + name) }

func (c *company) lists(names ...string) {
	c.t.Helper()
	require.NoError(c.t, os.WriteFile(c.list, []byte("# ours\n"+strings.Join(names, "\n")+"\n"), 0o600))
}

func (c *company) command() *setup.Command {
	c.out.Reset()
	c.errs.Reset()
	c.began = len(c.hub.Requests())
	return &setup.Command{
		Front: driver.NewFront(driver.Process{
			Args: []string{"pr-review-action"}, Environ: c.environ, Stdin: strings.NewReader(""), Stdout: &c.out,
			Stderr: &c.errs, Workflows: map[string]string{draftPath: shipped(c.t, draftPath),
				decidePath: shipped(c.t, decidePath)},
		}),
		Name: "pr-review-action", Settings: settings.Defaults(), Org: "acme", Repos: c.list,
	}
}

// applied runs init --org --apply.
func (c *company) applied(change ...func(*setup.Command)) (string, error) {
	c.t.Helper()
	s := c.command()
	s.Apply = true
	for _, f := range change {
		f(s)
	}
	err := s.Run(c.t.Context(), nil)
	return c.out.String(), err
}

// sites are what a run prints with --json.
func (c *company) sites() (all []setup.Site) {
	c.t.Helper()
	var printed struct{ Repositories []setup.Site }
	require.NoError(c.t, json.Unmarshal(c.out.Bytes(), &printed), c.out.String())
	return printed.Repositories
}

// wrote are the requests since the last run began that change something.
func (c *company) wrote() (all []string) {
	for _, r := range c.hub.Requests()[c.began:] {
		if r.Method != http.MethodGet {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	return all
}

// one holds a repository to one branch of ours with one commit, and one pull request.
func (c *company) one(name string) *githubtest.Pull {
	c.t.Helper()
	r := c.repo(name)
	require.ElementsMatch(c.t, []string{"main", setupBranch}, r.Branches(), name)
	require.Len(c.t, r.Pulls(), 1, name)
	require.Equal(c.t, setupBranch, r.Pulls()[0].Head())
	require.Contains(c.t, r.Tree(setupBranch), draftPath)
	return r.Pulls()[0]
}

func TestInitOfAListWritesNothingWithoutApply(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "ledger", "docs", "old")
	c.add("payments", githubtest.RepoOptions{Private: true, Protected: []string{"main"}})
	c.lists("ledger", "acme/docs # with remarks", "", "old\r", "payments", "LEDGER")
	c.repo("docs").Commit("main", "theirs", githubtest.Tree{draftPath: "on: push\n"})
	c.repo("old").Set(func(o *githubtest.Settings) { o.Archived = true })
	for _, name := range []string{"ledger", "docs", "old", "payments"} {
		c.repo(name).Set(func(o *githubtest.Settings) { o.Plan = "team" })
	}
	err := c.command().Run(t.Context(), nil)
	require.Equal(t, 1, driver.ExitCode(err))
	require.Empty(t, c.wrote())
	t.Log("\n" + c.out.String())
	for _, line := range strings.Split(c.out.String(), "\n") {
		require.LessOrEqual(t, len([]rune(line)), 80, line)
	}
	for _, text := range []string{
		"4 repositories of acme\n", "to do   acme/ledger: public, route approval, 2 files\n",
		"kept    acme/docs: has pr-review.yml\n",
		"failed  acme/old: it is archived: nobody can write to it\n" +
			"          next: take it out of the list, or unarchive it",
		"to do   acme/payments: private, route dispatch, 3 files\n",
		"1 of 4 repositories could not be set up", "Nothing was written. --apply opens 2 pull requests.",
	} {
		require.Contains(t, c.out.String(), text)
	}
}

func TestInitOfAListOpensOnePullRequestInEach(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "ledger", "docs")
	c.add("payments", githubtest.RepoOptions{Private: true}).Set(func(o *githubtest.Settings) { o.Plan = "free" })
	c.lists("ledger", "docs", "payments")
	c.repo("docs").Commit("main", "theirs", githubtest.Tree{".github/pr-review.yml": "max-cost: 2\n"})
	shown, err := c.applied(func(s *setup.Command) {
		s.Reviewers, s.Settings.Model = []string{"acme/maintainers"}, "gpt-9"
	})
	require.NoError(t, err, shown)
	t.Log("\n" + shown)
	require.Equal(t, []string{"@maintainers"}, c.repo("ledger").Environment("ai-review").Reviewers)
	require.True(t, c.repo("payments").HasLabel("ai-review"))
	title, body := c.one("ledger").Text()
	require.True(t, c.one("ledger").IsDraft())
	require.Equal(t, "Review pull requests with pr-review-action", title)
	require.Contains(t, body, "`.github/pr-review.yml`: what is reviewed")
	require.NotContains(t, body, "gh api", "the environment is there")
	require.Contains(t, body, "- [ ] Settings, Actions, Policies: a policy for .github/workflows/pr-review.yml")
	c.one("docs")
	require.Equal(t, "max-cost: 2\n", c.repo("docs").Tree(setupBranch)[".github/pr-review.yml"])
	require.False(t, c.one("payments").IsDraft(), "on the Free plan private repositories have none")
	_, body = c.one("payments").Text()
	require.NotContains(t, body, "Policies", "a private repository needs none")
	written := c.repo("payments").Tree(setupBranch)
	require.Contains(t, written[draftPath], `    with: { environment: "", model: "gpt-9" }`)
	for _, path := range []string{draftPath, decidePath} {
		require.LessOrEqual(t, strings.Count(written[path], "\n"), 15, path)
	}
	require.Contains(t, shown, "gh secret set OPENAI_API_KEY --org acme --repos ledger,docs,payments")

	t.Run("again", func(t *testing.T) {
		shown, err := c.applied()
		require.NoError(t, err)
		require.Empty(t, c.wrote())
		require.Contains(t, shown, "there   https://github.com/acme/ledger/pull/1\n")
	})
	t.Run("merged", func(t *testing.T) {
		c.repo("ledger").Commit("main", "merged", c.repo("ledger").Tree(setupBranch))
		shown, err := c.applied()
		require.NoError(t, err)
		require.Contains(t, shown, "kept    acme/ledger: has pr-review.yml")
	})
	t.Run("closed by a person", func(t *testing.T) {
		c.one("docs").Close()
		c.repo("docs").DeleteBranch(setupBranch)
		shown, err := c.applied()
		require.NoError(t, err)
		require.Empty(t, c.wrote())
		require.Contains(t, shown, "kept    acme/docs: somebody closed https://github.com/acme/docs/pull/1")
	})
}

// One repository in which nothing can be done stops no other, and is listed with what to do.
func TestInitOfAListGoesOnWhereOneFails(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]struct {
		do    func(*company, *githubtest.Repo)
		shows []string
	}{
		"not there": {func(c *company, _ *githubtest.Repo) { c.lists("a", "none", "z") },
			[]string{"acme/none: reading repository acme/none: not found", "next: check the name"}},
		"archived": {func(_ *company, r *githubtest.Repo) {
			r.Set(func(o *githubtest.Settings) { o.Archived = true })
		}, []string{"is archived", "out of the list"}},
		"empty": {func(_ *company, r *githubtest.Repo) { r.DeleteBranch("main") },
			[]string{"is empty", "push a first commit"}},
		"settings broken": {func(_ *company, r *githubtest.Repo) {
			r.Commit("main", "theirs", githubtest.Tree{".github/pr-review.yml": "max-cos: 2\n"})
		}, []string{"max-cos", "did you mean"}},
		"may not push": {func(c *company, r *githubtest.Repo) { r.Permit("ada", "read") },
			[]string{"the token may not push", "gh auth refresh --scopes repo,workflow"}},
		"a rule forbids the branch": {func(c *company, _ *githubtest.Repo) {
			c.hub.Fail("POST", "/repos/acme/m/git/refs", githubtest.Fault{Status: http.StatusUnprocessableEntity,
				Body: `{"message":"Repository rule violations found\n\nCannot create ref."}`})
		}, []string{"Repository rule violations", "correct what the answer names, then run it again"}},
		"the server fails": {func(c *company, _ *githubtest.Repo) {
			c.hub.Fail("POST", "/repos/acme/m/pulls", githubtest.Fault{Status: http.StatusBadGateway})
		}, []string{"acme/m: ", "run it again"}},
		"another branch of that name": {func(_ *company, r *githubtest.Repo) {
			r.Commit(setupBranch, "a person's", githubtest.Tree{"x": "x"})
		}, []string{"has other changes than these", "delete the branch"}},
		"moved away": {func(c *company, r *githubtest.Repo) {
			c.hub.AddRepo("other/m", githubtest.RepoOptions{})
			c.hub.Fail("GET", "/repos/acme/m", githubtest.Fault{Status: http.StatusOK,
				Body: `{"id":7,"full_name":"other/m","default_branch":"main"}`})
		}, []string{"it has moved to other/m"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t, "a", "m", "z")
			p.do(c, c.repo("m"))
			shown, err := c.applied()
			require.Equal(t, 1, driver.ExitCode(err), shown)
			c.one("a")
			c.one("z")
			require.Empty(t, c.repo("m").Pulls())
			require.Contains(t, shown, "1 of 3 repositories could not be set up")
			for _, text := range p.shows {
				require.Contains(t, strings.Join(strings.Fields(shown), " "), text)
			}
		})
	}
}

// A pull request that was opened is told of, although its environment could not be made.
func TestInitOfAListNamesThePullRequestOfAFailure(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "m")
	c.repo("m").Permit("ada", "write")
	shown, err := c.applied(func(s *setup.Command) { s.Reviewers = []string{"acme/maintainers"} })
	require.Equal(t, 1, driver.ExitCode(err), shown)
	require.Contains(t, strings.Join(strings.Fields(shown), " "),
		"failed acme/m: not made: environment ai-review, whose reviewers decide: acme/maintainers "+
			"https://github.com/acme/m/pull/1 next: ")
	require.Contains(t, shown, "\nOpened: 1. There before: 0. Not needed: 0.\n")
}

// A default branch that is protected and what the token is not shown keep nothing back.
func TestInitOfAListSaysWhatItCouldNotSee(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.add("guarded", githubtest.RepoOptions{Private: true, Protected: []string{"main"}})
	c.repo("guarded").Permit("bob", "write")
	c.lists("guarded")
	c.environ = append(c.environ, "GITHUB_TOKEN="+c.hub.UserToken("bob"))
	require.NoError(t, c.command().Run(t.Context(), nil), c.out.String())
	require.Contains(t, c.out.String(), "to do   acme/guarded: private, route dispatch, 3 files\n")
	for _, text := range []string{"the plan of acme: only its owners can see it", "reads no secret of its organization"} {
		require.Contains(t, strings.Join(strings.Fields(c.out.String()), " "), text)
	}
}

func TestInitOfAListOfAHundred(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("service-%03d", i))
	}
	c := newCompany(t, names...)
	began := time.Now()
	shown, err := c.applied(func(s *setup.Command) { s.JSON = true })
	require.NoError(t, err, shown)
	require.Len(t, c.sites(), 100)
	require.NotContains(t, shown, "null")
	for i, s := range c.sites() {
		require.Equal(t, "acme/"+names[i], s.Repository, "in the list's order")
		require.Equal(t, "done", s.State)
		c.one(names[i])
	}
	requests := len(c.hub.Requests()) - c.began
	require.Less(t, requests, 100*20, "GitHub admits 5,000 an hour")
	require.Len(t, c.wrote(), 100*4, "branch, commit, pull request and label; GitHub admits 500 in an hour")
	t.Logf("100 repositories: %.1f s, %d requests", time.Since(began).Seconds(), requests)
}

func TestInitOfAListRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]struct {
		change func(*company, *setup.Command)
		shows  string
	}{
		"no list":         {func(_ *company, s *setup.Command) { s.Repos = "" }, "--org and --repos go together"},
		"no organization": {func(_ *company, s *setup.Command) { s.Org = "" }, "--org and --repos go together"},
		"an empty list":   {func(c *company, _ *setup.Command) { c.lists() }, "lists 0 repositories"},
		"of another": {func(c *company, _ *setup.Command) { c.lists("a", "", "other/x") },
			"other/x"},
		"a path":  {func(c *company, _ *setup.Command) { c.lists("../x") }, "is not a repository of acme"},
		"no file": {func(_ *company, s *setup.Command) { s.Repos += ".none" }, "no such file"},
		"a check": {func(_ *company, s *setup.Command) { s.Check = true }, "are for one repository"},
		"no token": {func(c *company, s *setup.Command) {
			s.Environ = c.environ[:1]
			s.Front = driver.NewFront(s.Process)
		}, "there is no token"},
		"a server": {func(c *company, s *setup.Command) {
			s.Environ = append(c.environ, "GITHUB_SERVER_URL=https://git.acme.example")
			s.Front = driver.NewFront(s.Process)
		}, "git.acme.example is not GitHub.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t, "a")
			s := c.command()
			p.change(c, s)
			err := s.Run(t.Context(), nil)
			require.ErrorContains(t, err, p.shows)
			require.Equal(t, 2, driver.ExitCode(err))
			require.Empty(t, c.hub.Requests())
		})
	}
}
