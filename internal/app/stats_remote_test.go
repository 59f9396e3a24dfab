package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/githubtest"
)

// summary is what stats --json prints of an owner.
type summary struct {
	Posted, Aborted int
	Findings        struct{ Found, Kept, Dropped int }
	ByModel         []struct{ Name string } `json:"by_model"`
	Outcomes        map[string]int
	Repositories    []struct {
		Name    string
		Drafts  int
		Seconds *struct{ P50, P95 float64 }
	}
	Runs   struct{ Drafts int }
	Unread []struct{ Repository, Reason string }
}

func (s *stage) summary(more map[string]string, args ...string) (sum summary, stderr string) {
	s.t.Helper()
	e := s.cli(more, append(args, "--json")...).ends(0)
	require.NoError(s.t, json.Unmarshal([]byte(e.stdout), &sum), e.stdout)
	return sum, e.stderr
}

func TestDecisionsOnGitHubAreSummedForAllRepositoriesOfAnOwner(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"", checkpoint.TrustSeal, checkpoint.TrustEncrypt} {
		t.Run("trust "+trust, func(t *testing.T) {
			s := setUp(t, scene{trust: trust})
			s.hub.AddRepo("octo/quiet", githubtest.RepoOptions{})
			s.hub.AddRepo("octo/broken", githubtest.RepoOptions{})
			s.hub.AddRepo("other/demo", githubtest.RepoOptions{})
			s.hub.Fail("GET", "/repos/octo/broken/actions/artifacts", githubtest.Fault{Status: 403,
				Body: `{"message":"Resource not accessible"}`})
			code := s.draftJob().with("environment", "").start().is(0, "PAUSED").outputs["code"]
			s.decideJob(code, "approve").with("commands", "/drop F2: as intended").start().is(0, "POSTED")
			s.draftJob().with("instance", "docs", "environment", "").start().is(0, "PAUSED")
			key := map[string]string{}
			if trust != "" {
				key["PR_REVIEW_CHECKPOINT_KEY"] = checkpointKey
			}
			for _, args := range [][]string{{"stats", "octo/*"}, {"show", "--stats", "octo/*", "--since", "30d"}} {
				sum, stderr := s.summary(key, args...)
				require.Equal(t, []int{1, 0}, []int{sum.Posted, sum.Aborted}, stderr)
				require.Equal(t, map[string]int{"POSTED": 1, "PAUSED": 1}, sum.Outcomes)
				require.Equal(t, 1, sum.Findings.Dropped)
				require.Equal(t, sum.Findings.Found-1, sum.Findings.Kept)
				require.Equal(t, "story-1", sum.ByModel[0].Name)
				require.Len(t, sum.Repositories, 1)
				require.Equal(t, "octo/demo", sum.Repositories[0].Name)
				require.Equal(t, 2, sum.Repositories[0].Drafts)
				require.Equal(t, 2, sum.Runs.Drafts)
				require.Len(t, sum.Unread, 1)
				require.Equal(t, "octo/broken", sum.Unread[0].Repository)
			}
			text := s.cli(key, "stats", "octo/*").ends(0).stdout
			require.Contains(t, text, "Not read, and in no sum: 1 repositories\n  octo/broken\n")
			for line := range strings.Lines(text) {
				require.LessOrEqual(t, column.Width(strings.TrimSuffix(line, "\n")), 80, line)
			}
			later, _ := s.summary(key, "stats", "octo/demo", "--since", "2999-01-01")
			require.Zero(t, later.Runs.Drafts)
			if trust == checkpoint.TrustEncrypt {
				sum, stderr := s.summary(nil, "stats", "octo/demo")
				require.Zero(t, sum.Findings.Found, "T28: nothing of it without the key")
				require.Contains(t, stderr, "is left out")
			}
		})
	}
}

// GitHub fails the run of a rejected deployment, and fail-on the run of a review that was posted.
func TestADecisionCountsThoughItsRunFailed(t *testing.T) {
	t.Parallel()
	t.Run("rejected", func(t *testing.T) {
		s := setUp(t, scene{})
		drafted := s.waits(true)
		s.run.Decide(gateName, "rejected", "maya", "Not now")
		s.recordJob(drafted.digest()).start().is(0, "ABORTED")
		rows, _ := s.rows(nil)
		require.Empty(t, rows, "it waits no more")
		require.Contains(t, s.resume("--abort").ends(0).stdout, "ABORTED ")
		for _, other := range [][]string{{"--approve"}, {"--revise", "Shorter"}} {
			require.Contains(t, s.resume(other...).ends(3).stderr, "has already been decided differently")
		}
		sum, _ := s.summary(nil, "stats", "octo/demo")
		require.Equal(t, map[string]int{"ABORTED": 1}, sum.Outcomes)
	})
	t.Run("posted, and red by fail-on", func(t *testing.T) {
		s := setUp(t, scene{})
		decide := s.decideJob(s.waits(false).outputs["code"], "approve").with("fail-on", "nit")
		decide.start().is(1, "POSTED")
		decide.run.Finish("failure")
		sum, _ := s.summary(nil, "stats", "octo/demo")
		require.Equal(t, map[string]int{"POSTED": 1}, sum.Outcomes)
	})
	t.Run("approved, and not posted", func(t *testing.T) {
		s := setUp(t, scene{})
		code := s.waits(false).outputs["code"]
		s.hub.Fail("POST", "/repos/octo/demo/pulls/42/reviews", githubtest.Fault{Status: 403})
		decide := s.decideJob(code, "approve")
		decide.start().is(1, "FAILED")
		decide.run.Finish("failure")
		sum, _ := s.summary(nil, "stats", "octo/demo")
		require.Equal(t, map[string]int{"PAUSED": 1}, sum.Outcomes)
	})
}

func TestARateLimitEndsTheSumAndNamesWhatItLacks(t *testing.T) {
	s := setUp(t, scene{})
	for _, name := range []string{"octo/a", "octo/b", "octo/c"} {
		s.hub.AddRepo(name, githubtest.RepoOptions{})
	}
	s.hub.Fail("GET", "/repos/octo/b/actions/artifacts", githubtest.Fault{Status: 403,
		Headers: map[string]string{"X-RateLimit-Remaining": "0", "Retry-After": "86400"},
		Body:    `{"message":"API rate limit exceeded"}`})
	sum, _ := s.summary(nil, "stats", "octo/*")
	var unread []string
	for _, u := range sum.Unread {
		unread = append(unread, u.Repository)
	}
	require.Equal(t, []string{"octo/b", "octo/c", "octo/demo"}, unread)
	require.Contains(t, sum.Unread[2].Reason, "rate limit")
}

func TestStatsNamesWhatItCannotTake(t *testing.T) {
	s := setUp(t, scene{})
	s.cli(nil, "stats", "-/*").ends(2)
	s.cli(nil, "stats", "octo/demo", "--since", "soon").ends(2)
	s.cli(nil, "stats", "octo/demo", "--since", "30dx").ends(2)
	s.cli(nil, "stats", "nobody/*").ends(1)
	s.cli(map[string]string{"GITHUB_TOKEN": ""}, "stats", "octo/demo").ends(2)
}
