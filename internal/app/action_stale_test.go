package app_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func TestT24_Check9_PullRequestThatChanged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*stage)
		says   []string
	}{
		"pushed": {func(s *stage) {
			s.pull.Push(s.pull.Tree().With(githubtest.Tree{"x.go": "x\n"}))
		}, []string{"#42 has moved since this draft was made", "with another diff",
			"start one: gh workflow run pr-review.yml --repo "}},
		"base merged in": {func(s *stage) {
			s.repo.Commit("main", "on", baseTree().With(githubtest.Tree{"y.go": "y\n"}))
			s.pull.MergeBase()
		}, []string{"has moved", "with the same diff"}},
		"base retargeted": {func(s *stage) {
			s.pull.Retarget("stable")
		}, []string{"#42 has a different diff", "the same commit against another base"}},
		"closed": {func(s *stage) {
			s.pull.Close()
		}, []string{"#42 was closed, so none of its drafts can be decided", "reopen"}},
		"merged": {func(s *stage) {
			s.pull.Merge()
		}, []string{"#42 was merged, so none of its drafts can be decided"}},
		"force pushed": {func(s *stage) { s.pull.ForcePush(headTree()) }, []string{"has moved"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, scene{})
			s.repo.Commit("stable", "a branch that main has left behind", baseTree())
			s.repo.Commit("main", "on", baseTree().With(githubtest.Tree{"z.go": "z\n"}))
			s.pull.MergeBase()
			drafted := s.parked()
			s.approved("")
			tc.change(s)
			s.postJob(drafted.digest()).start().is(3, "REFUSED").says(tc.says...)
			s.decideJob(drafted.outputs["code"], "approve").start().is(3, "REFUSED").says(tc.says...)
			s.untouched()
		})
	}
}

func TestT24_PushAfterTheChecksAndBeforeTheWritePostsNothing(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	s.approved("")
	s.during(http.MethodGet, drafted, reviewsPath, s.push).is(3,
		"REFUSED").says("changed while this draft was being posted", "nothing was posted")
	s.untouched()
}

// TestT24_RetargetAfterTheChecksPostsNothing changes the base branch, with another diff and with the same one.
func TestT24_RetargetAfterTheChecksPostsNothing(t *testing.T) {
	s := setUp(t, scene{})
	s.repo.Commit("behind", "a branch that main leaves behind", baseTree())
	s.repo.Commit("main", "on", baseTree().With(githubtest.Tree{"z.go": "z\n"}))
	s.repo.Commit("beside", "a branch that has main", s.repo.Tree("main"))
	s.pull.MergeBase()
	drafted := s.parked()
	s.approved("")
	retarget := func(base string) func() { return func() { s.pull.Retarget(base) } }
	s.during(http.MethodGet, drafted, reviewsPath, retarget("behind")).is(3, "REFUSED").says(
		"changed while this draft was being posted, nothing was posted", "the same commit against another base")
	s.untouched()
	s.pull.Retarget("main")
	s.during(http.MethodGet, drafted, reviewsPath, retarget("beside")).is(0, "POSTED")
}

func TestT24_PushDuringTheWriteLeavesTheReviewAtItsCommit(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	reviewed := s.pull.HeadSHA()
	s.approved("")
	s.during(http.MethodPost, drafted, reviewsPath+"/*/events", s.push).is(0, "POSTED")
	require.NotEqual(t, reviewed, s.pull.HeadSHA())
	require.Equal(t, reviewed, s.posted().CommitID)
	require.Contains(t, s.posted().Body, "reviewed at [`"+reviewed[:7]+"`]")
}

func (s *stage) push() { s.pull.Push(s.pull.Tree().With(githubtest.Tree{"x.go": "x\n"})) }

// during runs the posting job and does something while its request to the reviews waits.
func (s *stage) during(method string, drafted ended, path string, do func()) ended {
	s.t.Helper()
	hold, done := make(chan struct{}), make(chan ended, 1)
	s.hub.Fail(method, path, githubtest.Fault{Hold: hold, Times: 1})
	j := s.postJob(drafted.digest())
	go func() { done <- j.start() }()
	earlier := s.asked(path)
	waiting := func() bool { return s.asked(path) > earlier }
	if method == http.MethodPost {
		waiting = func() bool { return s.written(path) > 0 }
	}
	require.Eventually(s.t, waiting, 2*time.Minute, time.Millisecond)
	do()
	close(hold)
	return <-done
}

// asked counts the requests for a path.
func (s *stage) asked(path string) (n int) {
	for _, r := range s.hub.Requests() {
		if r.Path == path {
			n++
		}
	}
	return n
}
