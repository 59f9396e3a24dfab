package setup_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/githubtest"
)

// Where GitHub takes no more requests, the rest is left, and the next run does it.
func TestInitOfAListStopsAtARateLimit(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "a", "b", "m", "y", "z")
	c.hub.Fail("POST", "/repos/acme/b/pulls", githubtest.RateLimited(time.Now().Add(30*time.Minute)))
	shown, err := c.applied()
	require.Equal(t, 1, driver.ExitCode(err))
	t.Log("\n" + shown)
	require.Regexp(t, `[1-5] of 5 repositories could not be set up`, shown)
	require.Regexp(t, `run the same again in (29|30)m`, shown)
	wrote := c.wrote()
	require.Equal(t, "POST /repos/acme/b/pulls", wrote[len(wrote)-1], "nothing is written behind it")

	c.hub.ClearFaults()
	shown, err = c.applied()
	require.NoError(t, err, shown)
	for _, name := range []string{"a", "b", "m", "y", "z"} {
		c.one(name)
	}
}

// A run that is ended before or after any request of it is finished by the next one, with
// one branch, commit and pull request in each repository.
func TestInitOfAListGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"before", "after"} {
		for n := 1; ; n++ {
			c := newCompany(t, "a", "b")
			ctx, kill := context.WithCancel(t.Context())
			reached := false
			began := len(c.hub.Requests())
			c.hub.OnRequest(func(at int, _ *http.Request, now string) {
				if at == began+n && now == phase {
					reached = true
					kill()
				}
			})
			s := c.command()
			s.Apply = true
			err := s.Run(ctx, nil)
			c.hub.OnRequest(nil)
			kill()
			if !reached {
				require.NoError(t, err)
				require.Greater(t, n, 10)
				break
			}
			if n%2 == 0 { // somebody merges something meanwhile
				c.repo("a").Commit("main", "else", c.repo("a").Tree("main").With(githubtest.Tree{"else": "x"}))
			}
			shown, err := c.applied()
			require.NoError(t, err, "%s request %d: %s", phase, n, shown)
			c.one("a")
			c.one("b")
		}
	}
}

// An answer that was lost is looked for, not asked for again.
func TestInitOfAListFindsWhatALostAnswerMade(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/repos/acme/a/git/refs", "/graphql", "/repos/acme/a/pulls"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t, "a")
			c.hub.Fail("POST", path, githubtest.Fault{Status: http.StatusBadGateway, AfterWrite: true, Times: 1})
			shown, err := c.applied()
			require.NoError(t, err, shown)
			c.one("a")
		})
	}
}

// What somebody has pushed on top of the branch goes into no pull request of ours.
func TestInitOfAListOpensNoPullRequestOfOthersChanges(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "a")
	c.hub.Fail("POST", "/repos/acme/a/pulls", githubtest.Fault{Status: http.StatusBadGateway, Times: 1})
	_, err := c.applied()
	require.Error(t, err)
	c.repo("a").Commit(setupBranch, "more", c.repo("a").Tree(setupBranch).With(githubtest.Tree{
		".github/workflows/more.yml": "on: push\n"}))
	shown, err := c.applied()
	require.Error(t, err)
	require.Contains(t, shown, "has other changes than these")
	require.Empty(t, c.repo("a").Pulls())
}

// Two at once open one pull request in each.
func TestInitOfAListByTwoAtOnce(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "a", "b", "m")
	errs := make(chan error, 2)
	for range 2 {
		s := c.command()
		s.Stdout, s.Apply = new(bytes.Buffer), true
		go func() { errs <- s.Run(t.Context(), nil) }()
	}
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	for _, name := range []string{"a", "b", "m"} {
		c.one(name)
	}
}
