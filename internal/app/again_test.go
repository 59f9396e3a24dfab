package app_test

import (
	"bytes"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// TestP5_ACommandThatIsStoppedWhileItPostsAndRunAgainPostsOnce stops it while GitHub
// takes a second, which takes effect anyway, and runs it again at once.
func TestP5_ACommandThatIsStoppedWhileItPostsAndRunAgainPostsOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path   string
		signal syscall.Signal
		posts  bool // before it ends
	}{
		"killed while it is created":     {reviewsPath, syscall.SIGKILL, false},
		"killed while it is submitted":   {reviewsPath + "/*/events", syscall.SIGKILL, false},
		"Ctrl-C while it is created":     {reviewsPath, syscall.SIGINT, false},
		"Ctrl-C while it is submitted":   {reviewsPath + "/*/events", syscall.SIGINT, true},
		"terminated while it is created": {reviewsPath, syscall.SIGTERM, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, scene{})
			env := map[string]string{"PR_REVIEW_STORE": t.TempDir()}
			s.cli(env, "review", "octo/demo#42", "--no-input").ends(0)
			resume := []string{"resume", "octo/demo#42:" + s.pull.HeadSHA(), "--approve"}
			s.patient = true
			s.hub.Fail(http.MethodPost, tc.path, githubtest.Fault{Delay: time.Second, Times: 1})
			first, printed := s.beginning(env, resume...)
			require.Eventually(t, func() bool { return s.written(tc.path) > 0 }, 2*time.Minute, time.Millisecond)
			require.NoError(t, first.Process.Signal(tc.signal))
			_ = first.Wait()
			require.Equal(t, tc.posts, strings.HasPrefix(printed.String(), "POSTED "),
				"a write that is out comes back: %s", printed)

			require.Equal(t, "POSTED "+s.cli(env, resume...).ends(0).stdout[len("POSTED "):],
				s.cli(env, resume...).ends(0).stdout)
			s.visible(1)
			require.Len(t, s.pull.Reviews(), 1, "nothing pending is left")
		})
	}
}

// beginning starts the command line.
func (s *stage) beginning(more map[string]string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	cmd, printed := s.command(more, args...), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = printed, printed
	require.NoError(s.t, cmd.Start())
	return cmd, printed
}
