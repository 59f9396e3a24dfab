package app_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// race is a draft that two jobs decide at the same time: neither stores its
// decision before the other has looked for one.
type race struct {
	*stage
	jobs [2]*job
	both [2]ended
}

func (r *race) run() {
	var looked, group sync.WaitGroup
	looked.Add(2)
	r.hub.OnRequest(func(_ int, q *http.Request, phase string) {
		if phase == "before" && strings.HasSuffix(q.URL.Path, "/CreateArtifact") {
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
					require.Regexp(t, "(decided otherwise|posted) before", e.log)
				}
			}
			switch {
			case name == "aborted twice":
				require.Equal(t, map[string]int{"ABORTED": 2}, won)
				r.untouched()
				return
			case strings.Contains(name, "dispatched"):
				require.Equal(t, map[string]int{"POSTED": 2}, won, "%s\n%s", one.log, two.log)
				require.Equal(t, one.outputs["review-url"], two.outputs["review-url"])
			case won["ABORTED"] == 1:
				require.Equal(t, map[string]int{"ABORTED": 1, "REFUSED": 1}, won, "%s\n%s", one.log, two.log)
				r.untouched()
				return
			default:
				require.Equal(t, map[string]int{"POSTED": 1, "REFUSED": 1}, won, "%s\n%s", one.log, two.log)
			}
			r.posted()
			require.Len(t, r.writes(), 1, "a second write was tried")
		})
	}
}

func TestT25_AJobKilledAroundTheWritePostsOnce(t *testing.T) {
	for name, decide := range routes() {
		for phase, stands := range map[string]int{"before": 0, "after": 1} {
			t.Run(name+", "+phase, func(t *testing.T) {
				s := setUp(t, scene{})
				drafted := s.parked()
				j := decide(s, drafted.digest())
				s.killedAt(j, phase, "/reviews")
				require.Len(t, s.pull.Reviews(), stands)

				j.run.Finish("failure")
				j.run.Rerun()
				again := j.again().start().is(0, "POSTED")
				require.Equal(t, s.posted().URL, again.outputs["review-url"])
				sameAsShown(t, s.opened(drafted).Review, s.posted())
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

// again is the job in the next attempt of its run, which has tokens of its own.
func (j *job) again() *job {
	j.env["ACTIONS_RUNTIME_TOKEN"] = j.s.hub.RuntimeToken(j.run, "decide")
	return j
}

func TestT25_AKilledAbortHolds(t *testing.T) {
	s := setUp(t, scene{})
	code := s.parked().outputs["code"]
	j := s.decideJob(code, "abort")
	s.killedAt(j, "after", "/FinalizeArtifact")
	j.run.Finish("failure")
	s.refused(s.decideJob(code, "approve").start(), "decided otherwise before", "abort by maya")
}
