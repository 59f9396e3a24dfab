package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pgtest"
)

// TestPostgresParksInOneProcessAndDecidesInAnother needs a server's programs;
// pgtest skips it, with that reason, where there are none.
func TestPostgresParksInOneProcessAndDecidesInAnother(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	t.Run("parked, listed, shown, decided, reported", func(t *testing.T) {
		s := newStage(t, scene{})
		store := server.Database(t)
		parked := s.cli(nil, "review", "octo/demo#42", "--store", store, "--no-input", "--json").ends(0)
		var draft struct {
			Thread string `json:"thread_id"`
			Code   string
		}
		require.NoError(t, json.Unmarshal([]byte(parked.stdout), &draft))
		s.untouched()
		calls := s.reviews()

		env := map[string]string{"PR_REVIEW_STORE": store}
		require.Contains(t, s.cli(env, "threads").ends(0).stdout,
			"PAUSED   octo/demo#42:"+s.pull.HeadSHA()[:7]+"  findings: 5")
		require.Contains(t, s.cli(env, "show", draft.Thread, "--json").ends(0).stdout, `"code": "`+draft.Code+`"`)
		s.cli(env, "review", "octo/demo#42", "--no-input").ends(0)
		posted := s.cli(env, "resume", draft.Thread, "--approve", "--command", "/drop F2").ends(0)
		require.Equal(t, "POSTED "+s.posted().URL+"\n", posted.stdout)
		require.Equal(t, posted.stdout, s.cli(env, "resume", draft.Thread, "--command", "/drop F2").ends(0).stdout)
		require.Contains(t, s.cli(env, "resume", draft.Thread, "--abort").ends(3).stderr,
			"this draft has already been decided differently")
		require.Equal(t, calls, s.reviews())
		require.Len(t, s.posted().Comments, 2)
	})
	t.Run("two resumers: one wins, the other says who", func(t *testing.T) {
		s := newStage(t, scene{})
		env := map[string]string{"PR_REVIEW_STORE": server.Database(t)}
		s.cli(env, "review", "octo/demo#42", "--no-input").ends(0)
		hold, writing := make(chan struct{}), make(chan struct{})
		var once sync.Once
		s.hub.Fail(http.MethodPost, reviewsPath, githubtest.Fault{Hold: hold, Times: 1})
		s.hub.OnRequest(func(_ int, q *http.Request, phase string) {
			if phase == "before" && q.Method == http.MethodPost {
				once.Do(func() { close(writing) })
			}
		})
		done := make(chan said, 1)
		go func() { done <- s.cli(env, "resume", "octo/demo#42:"+s.pull.HeadSHA(), "--approve") }()
		<-writing
		second := s.cli(env, "resume", "octo/demo#42:"+s.pull.HeadSHA(), "--approve").ends(1)
		require.Regexp(t, `^error: .*is being run: .*octo/demo#42:.* by \S+ pid \d+ on \S+, since .* UTC`,
			second.stderr)
		close(hold)
		first := (<-done).ends(0)
		require.Equal(t, "POSTED "+s.posted().URL+"\n", first.stdout)
		s.cli(env, "resume", "octo/demo#42:"+s.pull.HeadSHA(), "--approve").ends(0)
		s.posted()
	})
	t.Run("its session is lost while it posts", func(t *testing.T) {
		for _, path := range []string{reviewsPath, reviewsPath + "/*/events"} {
			s := newStage(t, scene{})
			store := server.Database(t)
			env := map[string]string{"PR_REVIEW_STORE": store}
			s.cli(env, "review", "octo/demo#42", "--no-input").ends(0)
			resume := []string{"resume", "octo/demo#42:" + s.pull.HeadSHA(), "--approve"}
			s.patient = true
			s.hub.Fail(http.MethodPost, path, githubtest.Fault{Delay: time.Second, Times: 1})
			first, printed := s.beginning(env, resume...)
			require.Eventually(t, func() bool { return s.written(path) > 0 }, 2*time.Minute, time.Millisecond)
			server.Exec(t, store, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "+
				"current_database() AND pid <> pg_backend_pid()")
			s.cli(env, resume...).ends(0)
			require.Error(t, first.Wait(), printed)
			s.visible(1)
		}
	})
	t.Run("stopped in the middle", func(t *testing.T) {
		s := newStage(t, scene{})
		env := map[string]string{"PR_REVIEW_STORE": server.Database(t)}
		s.cli(env, "review", "octo/demo#42", "--no-input").ends(0)
		require.NoError(t, server.Stop("immediate"))
		e := s.cli(env, "resume", "octo/demo#42:"+s.pull.HeadSHA(), "--approve").ends(1)
		require.Contains(t, e.stderr, "next    see that the server runs and can be reached, then run it again")
		s.untouched()
		require.NoError(t, server.StartAgain())
		s.cli(env, "resume", "octo/demo#42:"+s.pull.HeadSHA(), "--approve").ends(0)
		s.posted()
		require.Equal(t, 3, s.reviews())
	})
	t.Run("a password is not printed, and the line that decides works", func(t *testing.T) {
		s := newStage(t, scene{})
		at, err := url.Parse(server.Database(t))
		require.NoError(t, err)
		at.User = url.UserPassword(at.User.Username(), "hunter2-secret")
		store := []string{"--store", at.String()}
		trace := filepath.Join(t.TempDir(), "trace.json")
		var shown strings.Builder
		say := func(env map[string]string, args ...string) string {
			e := s.cli(env, args...).ends(0)
			shown.WriteString(e.stdout + e.stderr)
			return e.stdout
		}
		parked := say(nil, append(store, "review", "octo/demo#42", "--no-input", "--trace", trace)...)
		for _, args := range [][]string{{"threads"}, {"threads", "--json"}, {"show", s.pull.HeadSHA()},
			{"show", s.pull.HeadSHA(), "--trace"}, {"show", s.pull.HeadSHA(), "--json"}} {
			say(nil, append(args, store...)...)
		}
		e := s.cli(nil, append(store, "show", "octo/demo#42:0000000")...).ends(3)
		text, err := os.ReadFile(trace)
		require.NoError(t, err)
		require.NotContains(t, shown.String()+e.stdout+e.stderr+string(text), "hunter2")
		require.Contains(t, parked, "Parked. Set PR_REVIEW_STORE to the store's address: its password is not shown "+
			"here. Decide with\n")
		line := regexp.MustCompile(`(?m)^  pr-review-action (.* --approve)$`).FindStringSubmatch(parked)
		require.NotNil(t, line, parked)
		say(map[string]string{"PR_REVIEW_STORE": at.String()}, strings.Fields(line[1])...)
		s.posted()
	})
	t.Run("a password is not printed in an error", func(t *testing.T) {
		s := newStage(t, scene{})
		e := s.cli(nil, "threads", "--store", "postgres://me:hunter2-secret@127.0.0.1:1/none?connect_timeout=2")
		require.NotZero(t, e.code)
		require.NotContains(t, e.stdout+e.stderr, "hunter2-secret")
		require.Contains(t, e.stderr, "next")
	})
}
