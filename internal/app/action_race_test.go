package app_test

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// race is a draft that two jobs decide at the same time: neither stores its
// decision before the other has looked for one, or makes its review where that is said.
type race struct {
	*stage
	until string // the end of a path
	jobs  [2]*job
	both  [2]ended
}

func (r *race) run() {
	var looked, group sync.WaitGroup
	looked.Add(2)
	r.hub.OnRequest(func(_ int, q *http.Request, phase string) {
		if phase == "before" && q.Method == http.MethodPost &&
			strings.HasSuffix(q.URL.Path, cmp.Or(r.until, "/CreateArtifact")) {
			looked.Done()
			looked.Wait()
		}
	})
	for i, j := range r.jobs {
		group.Go(func() {
			r.both[i] = j.start()
			conclusion := "success"
			if r.both[i].code != 0 {
				conclusion = "failure"
			}
			j.run.Finish(conclusion)
		})
	}
	group.Wait()
}

// outcomes counts how the two ended.
func (r *race) outcomes() map[string]int {
	n := map[string]int{}
	for _, e := range r.both {
		n[e.outputs["outcome"]]++
	}
	return n
}

// TestT25_TwoJobsDecideAtOnce runs its races side by side: the jobs give each
// other ten seconds to become visible.
func TestT25_TwoJobsDecideAtOnce(t *testing.T) {
	t.Parallel()
	approve := func(s *stage, d ended) *job { return s.decideJob(d.outputs["code"], "approve") }
	abort := func(s *stage, d ended) *job { return s.decideJob(d.outputs["code"], "abort") }
	approval := func(s *stage, d ended) *job { s.approved(""); return s.postJob(d.digest()) }
	changed := func(s *stage, d ended) *job { return approve(s, d).with("commands", "/drop F1") }
	races := map[string]*race{}
	for name, start := range map[string][2]func(*stage, ended) *job{
		"dispatched twice":                    {approve, approve},
		"approved, and dispatched":            {approval, approve},
		"approved and aborted":                {approve, abort},
		"approved, and aborted by a dispatch": {approval, abort},
		"approved, and with one dropped":      {approve, changed},
		"aborted twice":                       {abort, abort},
	} {
		s := newStage(t, scene{})
		drafted := s.parked()
		races[name] = &race{stage: s, jobs: [2]*job{start[0](s, drafted), start[1](s, drafted)}}
	}
	var group sync.WaitGroup
	for _, r := range races {
		group.Go(r.run)
	}
	group.Wait()
	for name, r := range races {
		t.Run(name, func(t *testing.T) {
			r.t = t
			one, two, won := r.both[0], r.both[1], r.outcomes()
			for _, e := range r.both {
				if e.outputs["outcome"] == "REFUSED" {
					require.Equal(t, 3, e.code)
					require.Regexp(t, "already been (decided differently|posted)", e.log)
				}
			}
			switch {
			case name == "aborted twice":
				require.Equal(t, map[string]int{"ABORTED": 2}, won)
				require.Empty(t, r.pull.Reviews())
				return
			case strings.Contains(name, "dispatched"):
				require.Equal(t, map[string]int{"POSTED": 2}, won, "%s\n%s", one.log, two.log)
				require.Equal(t, one.outputs["review-url"], two.outputs["review-url"])
			case won["ABORTED"] == 1:
				require.Equal(t, map[string]int{"ABORTED": 1, "REFUSED": 1}, won, "%s\n%s", one.log, two.log)
				require.Empty(t, r.pull.Reviews(), "what was pending is taken away")
				require.Empty(t, r.submissions())
				return
			default:
				require.Equal(t, map[string]int{"POSTED": 1, "REFUSED": 1}, won, "%s\n%s", one.log, two.log)
			}
			r.posted()
			took := slices.DeleteFunc(r.submissions(), func(w githubtest.Request) bool { return w.Status/100 != 2 })
			require.Len(t, slices.CompactFunc(took, func(a, b githubtest.Request) bool { return a.Path == b.Path }), 1,
				"a pending review that the other job took away cannot be submitted")
		})
	}
}

// TestP5_T25_InstancesDecidedAtOnceWaitForEachOther holds back what one job submits until
// the other, which meets its pending review, has looked twelve times, a second apart.
func TestP5_T25_InstancesDecidedAtOnceWaitForEachOther(t *testing.T) {
	s := setUpRace(t, scene{})
	plain := s.parked()
	docs := s.draftJob().with("instance", "docs").start().is(0, "PAUSED")
	jobs := []*job{s.decideJob(plain.outputs["code"], "approve"),
		s.decideJob(docs.outputs["code"], "approve").with("instance", "docs")}
	waited, looks := make(chan struct{}), new(atomic.Int32)
	s.hub.OnRequest(func(_ int, q *http.Request, phase string) {
		held := slices.ContainsFunc(s.pull.Reviews(), func(r githubtest.Review) bool { return r.State == "PENDING" })
		switch {
		case phase == "before" && strings.HasSuffix(q.URL.Path, "/events"):
			<-waited
		case phase == "before" && held && q.Method == http.MethodGet && strings.HasSuffix(q.URL.Path, "/reviews"):
			if looks.Add(1) == 14 {
				close(waited)
			}
		}
	})
	ends := make([]ended, len(jobs))
	var group sync.WaitGroup
	for i, j := range jobs {
		group.Go(func() { ends[i] = j.start() })
	}
	group.Wait()
	for _, e := range ends {
		e.is(0, "POSTED")
	}
	require.Len(t, s.pull.Reviews(), 2)
	for _, w := range s.writes() {
		require.Equal(t, http.MethodPost, w.Method, "nobody's pending review is taken away")
	}
	require.Len(t, s.submissions(), 2)
}

func TestT25_AJobKilledAroundTheWritePostsOnce(t *testing.T) {
	t.Parallel()
	for name, decide := range routes() {
		for at, stands := range map[[2]string]string{
			{"before", "/reviews"}: "", {"after", "/reviews"}: "PENDING", {"before", "/events"}: "PENDING",
			{"after", "/events"}: "COMMENTED",
		} {
			t.Run(fmt.Sprint(name, at), func(t *testing.T) {
				s := setUpRace(t, scene{})
				drafted := s.parked()
				j := decide(s, drafted.digest())
				s.killedAt(j, at[0], at[1])
				if stands != "" {
					require.Equal(t, stands, s.pull.Reviews()[0].State)
				}
				made := s.pull.Reviews()

				j.run.Finish("failure")
				j.run.Rerun()
				again := j.again().start().is(0, "POSTED")
				require.Equal(t, s.posted().URL, again.outputs["review-url"])
				sameAsShown(t, s.opened(drafted).Review, s.posted())
				if stands != "" {
					require.Equal(t, made[0].ID, s.posted().ID, "what the dead job left was taken")
				}
			})
		}
	}
}

// killedAt starts a job and kills it at a write, in one of its phases.
func (s *stage) killedAt(j *job, phase, path string) {
	s.t.Helper()
	var r *running
	begun := make(chan struct{})
	s.hub.OnRequest(func(_ int, q *http.Request, at string) {
		if at == phase && q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, path) {
			<-begun
			_ = r.cmd.Process.Kill() // it waits for this very answer
			<-q.Context().Done()
		}
	})
	r = j.begin()
	close(begun)
	e := r.end()
	s.hub.OnRequest(nil)
	require.Equal(s.t, -1, e.code, e.log)
	require.Empty(s.t, e.outputs)
}

// again is the job in the next attempt of its run, which has its own tokens.
func (j *job) again() *job {
	j.env["ACTIONS_RUNTIME_TOKEN"] = j.s.hub.RuntimeToken(j.run, "decide")
	return j
}

func TestT25_AKilledAbortHolds(t *testing.T) {
	s := setUpRace(t, scene{})
	code := s.parked().outputs["code"]
	j := s.decideJob(code, "abort")
	s.killedAt(j, "after", "/FinalizeArtifact")
	j.run.Finish("failure")
	s.refused(s.decideJob(code, "approve").start(), "already been decided differently", "abort by maya")
}

// TestT25_AJobThatIsKilledWhileGitHubTakesItsTimePostsOnce runs it again at once, while
// what the killed one sent is still to take effect.
func TestT25_AJobThatIsKilledWhileGitHubTakesItsTimePostsOnce(t *testing.T) {
	t.Parallel()
	for _, path := range []string{reviewsPath, reviewsPath + "/*/events"} {
		t.Run(path, func(t *testing.T) {
			s := setUpRace(t, scene{})
			j := s.decideJob(s.parked().outputs["code"], "approve")
			s.patient = true
			s.hub.Fail(http.MethodPost, path, githubtest.Fault{Delay: time.Second, Times: 1})
			r := j.begin()
			require.Eventually(t, func() bool { return s.written(path) > 0 }, 2*time.Minute, time.Millisecond)
			require.NoError(t, r.cmd.Process.Kill())
			r.end()
			j.run.Rerun()
			j.again().start().is(0, "POSTED")
			s.visible(1)
		})
	}
}

// visible counts the reviews that anybody sees, when all that is out has taken effect.
func (s *stage) visible(want int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return !slices.ContainsFunc(s.hub.Requests(), func(r githubtest.Request) bool {
			return r.Status == 0 && r.Method == http.MethodPost
		})
	}, 2*time.Minute, time.Millisecond)
	reviews := s.pull.Reviews()
	require.Len(s.t, slices.DeleteFunc(reviews, func(r githubtest.Review) bool { return r.State == "PENDING" }), want)
}

// written counts the POSTs to a path, where * stands for a segment.
func (s *stage) written(pattern string) (n int) {
	for _, r := range s.hub.Requests() {
		if match, _ := path.Match(pattern, r.Path); match && r.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// TestCheck13_WhatARecordNamesIsPosted runs the same decision again when the text of the
// review says nothing of us any more, and when another account has posted it.
func TestCheck13_WhatARecordNamesIsPosted(t *testing.T) {
	t.Parallel()
	for name, decide := range routes() {
		t.Run(name, func(t *testing.T) {
			s := setUpRace(t, scene{})
			j := decide(s, s.parked().digest())
			first := j.start().is(0, "POSTED")
			s.pull.EditReview(s.posted().ID, "as you were")
			j.run.Finish("success")
			j.run.Rerun()
			again := j.again().start().is(0, "POSTED")
			require.Equal(t, first.outputs["review-url"], again.outputs["review-url"])
			require.Len(t, s.pull.Reviews(), 1)
			require.Len(t, s.submissions(), 1)
		})
	}
	t.Run("by a person's token first", func(t *testing.T) {
		s := setUpRace(t, scene{})
		code := s.parked().outputs["code"]
		j := s.decideJob(code, "approve")
		j.token = s.hub.UserToken("maya")
		first := j.start().is(0, "POSTED")
		j.run.Finish("success")
		again := s.decideJob(code, "approve").start().is(0, "POSTED")
		require.Equal(t, first.outputs["review-url"], again.outputs["review-url"])
		require.Len(t, s.pull.Reviews(), 1)
	})
}

// TestP5_APendingReviewThatIsInTheWay is of another workflow of the account, or what a
// write left that was cut off.
func TestP5_APendingReviewThatIsInTheWay(t *testing.T) {
	t.Parallel()
	t.Run("somebody's: it is named with the command that deletes it", func(t *testing.T) {
		s := setUpRace(t, scene{})
		drafted := s.parked()
		s.approved("")
		other := s.pull.Put(githubtest.Review{User: "github-actions[bot]", State: "PENDING",
			Body: "half a review of another workflow"})
		s.postJob(drafted.digest()).start().is(1, "FAILED").says("a pending review of this token's account is in "+
			"the way, nothing was posted",
			other.URL, fmt.Sprintf("gh api -X DELETE repos/octo/demo/pulls/42/reviews/%d", other.ID))
		require.Len(t, s.pull.Reviews(), 1, "it is left alone")
		require.Empty(t, s.submissions())
	})
	t.Run("an empty one is deleted", func(t *testing.T) {
		s := setUpRace(t, scene{})
		drafted := s.parked()
		s.approved("")
		s.pull.Put(githubtest.Review{User: "github-actions[bot]", State: "PENDING", Body: ""})
		s.postJob(drafted.digest()).start().is(0, "POSTED")
		sameAsShown(t, s.opened(drafted).Review, s.posted())
	})
}
