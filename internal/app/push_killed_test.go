package app_test

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// cloned is a clone of octo/demo's main at home, with what runs implement in it.
func (s *stage) cloned(more githubtest.Tree) func(args ...string) *exec.Cmd {
	s.t.Helper()
	state := s.t.TempDir()
	tree := roundTree().With(more)
	dir, head := s.clone(tree)
	s.repo.CommitAs(head, "main", "as in the clone", tree)
	return func(args ...string) *exec.Cmd {
		home := map[string]string{"XDG_STATE_HOME": state, "PATH": os.Getenv("PATH")}
		cmd := s.command(home, append([]string{"implement", "octo/demo#7", "--push",
			"--repo", "octo/demo", "--quiet"}, args...)...)
		cmd.Dir = dir
		return cmd
	}
}

// clone makes a clone of one commit, and returns its folder and that commit.
func (s *stage) clone(tree githubtest.Tree) (dir, head string) {
	s.t.Helper()
	dir = s.t.TempDir()
	git := func(args ...string) string {
		cmd := exec.CommandContext(s.t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		require.NoError(s.t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	for path, text := range tree {
		require.NoError(s.t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
		require.NoError(s.t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("-c", "user.name=Maya", "-c", "user.email=maya@example.com", "commit", "-qm", "one")
	return dir, git("rev-parse", "HEAD")
}

// TestP5_APushThatIsKilledIsGoneOnWith kills implement --push before and after each of its
// writes: the same command then finds what stands, makes what is missing, and pays nothing.
func TestP5_APushThatIsKilledIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"/git/refs", "/graphql", "/pulls"} {
		for _, phase := range []string{"before", "after"} {
			t.Run(phase+" "+at, func(t *testing.T) {
				t.Parallel()
				s := ticketStage(t)
				implement := s.cloned(nil)
				parked := exited(t, implement("--no-input"))
				require.Zero(t, parked.Code, parked.Stderr)
				require.Contains(t, parked.Stdout+parked.Stderr, "Parked.")
				paid := s.model.Calls()

				branched, started := at == "/git/refs", make(chan struct{})
				cmd := implement("--approve")
				s.hub.OnRequest(func(_ int, q *http.Request, when string) {
					switch {
					case q.Method != http.MethodPost:
					case branched && when == phase && strings.HasSuffix(q.URL.Path, at):
						<-started
						_ = cmd.Process.Kill() // it waits for this very answer
						<-q.Context().Done()
					default: // of GraphQL's requests, the one after the branch writes
						branched = branched || strings.HasSuffix(q.URL.Path, "/git/refs")
					}
				})
				require.NoError(t, cmd.Start())
				close(started)
				require.Error(t, cmd.Wait())
				require.Equal(t, -1, cmd.ProcessState.ExitCode(), "it was killed")
				s.hub.OnRequest(nil)
				made := len(s.repo.Pulls()) - 1

				for range 2 {
					posted := exited(t, implement("--approve"))
					require.Zero(t, posted.Code, posted.Stderr)
					require.Regexp(t, `(?m)^POSTED \S+/octo/demo/pull/43$`, posted.Stdout+posted.Stderr)
				}
				require.Equal(t, phase == "after" && at == "/pulls", made == 1)
				require.Equal(t, []string{roundBranch, "main", "topic"}, s.repo.Branches())
				require.Equal(t, roundFixed(), s.repo.Tree(roundBranch))
				require.Len(t, s.repo.Pulls(), 2)
				require.Equal(t, paid, s.model.Calls())
			})
		}
	}
}

// In link mode the form is printed until a person has opened the pull request, and then that.
func TestAPushNamesThePullRequestThatAPersonOpened(t *testing.T) {
	t.Parallel()
	s := ticketStage(t)
	implement := s.cloned(githubtest.Tree{".github/pr-review.yml": "implement: { pull-request: link }\n"})
	var form string
	for range 2 {
		posted := exited(t, implement("--approve"))
		require.Zero(t, posted.Code, posted.Stderr)
		form = posted.Stdout[strings.LastIndex(posted.Stdout, "POSTED "):]
		require.Regexp(t, `^POSTED \S+expand=1&title=\S+\n$`, form)
	}
	address, err := url.Parse(strings.Fields(form)[1])
	require.NoError(t, err)
	s.repo.AddPull(githubtest.PullOptions{Title: "Round", Body: address.Query().Get("body"), Author: "maya",
		Head: roundBranch, HeadFiles: roundFixed()})
	opened := exited(t, implement("--approve"))
	require.Zero(t, opened.Code, opened.Stderr)
	require.Regexp(t, `(?m)^POSTED \S+/octo/demo/pull/43$`, opened.Stdout)
}
