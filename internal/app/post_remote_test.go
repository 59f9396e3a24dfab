package app_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestPostWantsAPersonsToken(t *testing.T) {
	s, _ := setUpDecided(t, false)
	s.hub.Fail("GET", "/user", githubtest.Fault{Status: 403, Times: 10})
	refused := s.resume("--approve", "--post").ends(3).stderr
	require.Contains(t, refused, "the token is an app's or a job's, so no person decides")
	require.Contains(t, refused, "$(gh auth token)")
	s.untouched()
}

func TestPostPostsUnderOnesOwnAccount(t *testing.T) {
	s, code := setUpDecided(t, false)
	require.Contains(t, s.resume("--post", "--abort").ends(2).stderr, "leave out --post")
	for login, why := range map[string]string{"lee": "the author of the pull request decided",
		"rob": "somebody who may not write here"} {
		e := s.cli(map[string]string{"GITHUB_TOKEN": s.hub.UserToken(login)}, "resume", "octo/demo#42", "--post",
			"--approve").ends(3)
		require.Contains(t, e.stderr, why)
	}
	require.Empty(t, s.pull.Reviews())

	require.Contains(t, s.resume("--post").ends(0).stdout, " --code "+code+" --post --approve\n")
	e := s.cli(nil, "resume", "octo/DEMO#42:"+s.pull.HeadSHA(), "--post", "--approve", "--command",
		"/drop F2: as intended").ends(0)
	require.Regexp(t, `^POSTED https://github\.com/octo/demo/pull/42#pullrequestreview-[0-9]+\n$`, e.stdout)
	review := s.posted()
	require.Equal(t, "maya", review.User)
	require.NotContains(t, fmt.Sprint(review), "The promise is not awaited")

	again := s.resume("--post", "--approve", "--command", "/drop F2: as intended").ends(0)
	require.Equal(t, e.stdout, again.stdout)
	s.posted()
	require.Contains(t, s.resume("--post", "--approve").ends(3).stderr,
		"another review of this commit has already been posted")
	require.Contains(t, s.resume("--abort").ends(3).stderr, "a review of this commit has already been posted")
	rows, _ := s.rows(nil)
	require.NotContains(t, rows, code, "it was decided")
	require.Contains(t, s.cli(nil, "show", "octo/demo#42").ends(0).stdout, "Code "+code+", posted: https://")
	require.Contains(t, s.cli(nil, "resume", "--next", "octo/demo").ends(0).stderr, "No draft waits in octo/demo")
	s.decideJob(code, "approve").with("commands", "/drop F3").start().is(3, "REFUSED")
	s.posted()
}

func TestPostRefusesADraftThatWaitsForAnEnvironment(t *testing.T) {
	s, _ := setUpDecided(t, true)
	e := s.resume("--post", "--approve").ends(3)
	require.Contains(t, e.stderr, "waits for an environment")
	require.Contains(t, e.stderr, "leave out --post")
	s.untouched()
}
