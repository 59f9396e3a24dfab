package crash

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// point is where something happens to a job: at a request to GitHub, counted
// from 1, or at a question to the model. The zero point is nowhere.
type point struct {
	job      string
	what     string // killed, or cut off from the server
	phase    string // before the server acted, or after
	request  int
	question int
}

const (
	killed = "killed"
	cutOff = "cut off"
)

func (p point) String() string {
	if p.question > 0 {
		return fmt.Sprintf("%s %s at question %d", p.job, p.what, p.question)
	}
	return fmt.Sprintf("%s %s %s request %d", p.job, p.what, p.phase, p.request)
}

// TestP5_EndedAroundEveryRequest drafts, approves and posts, by both routes,
// with one job killed or cut off around one request, and run again where it did
// not come to its end.
func TestP5_EndedAroundEveryRequest(t *testing.T) {
	t.Parallel()
	for route, deciding := range map[string]task{"environment": postJob, "dispatch": decideJob} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			want := play(t, deciding, point{})
			points := matrix(want, deciding)
			if !testvolume.Full() {
				points = sample(points, 7)
			}
			for _, at := range points {
				t.Run(at.String(), func(t *testing.T) {
					got := play(t, deciding, at)
					require.Equal(t, want.review, got.review)
					require.True(t, got.struck, "the job was done before")
				})
			}
			t.Logf("route %s: %d points: one review each, the same", route, len(points))
		})
	}
}

// matrix has every point of a draft and of the job that decides it. The draft's
// are run by one route alone.
func matrix(want played, deciding task) (all []point) {
	jobs := []string{deciding.name}
	if deciding == postJob {
		jobs = append(jobs, draftJob.name)
	}
	for _, job := range jobs {
		for n := range want.requests[job] {
			for _, phase := range []string{"before", "after"} {
				all = append(all, point{job, killed, phase, n + 1, 0}, point{job, cutOff, phase, n + 1, 0})
			}
		}
	}
	if deciding == postJob {
		for n := range total(want.calls) {
			all = append(all, point{job: draftJob.name, what: killed, question: n + 1})
		}
	}
	return all
}

// sample takes n of the points, spread evenly.
func sample(all []point, n int) (some []point) {
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}

// played is the result of a pull request.
type played struct {
	struck   bool           // what was to happen did
	requests map[string]int // to GitHub, by job
	calls    map[string]int // to the model, by question
	review   string
}

// play lets a pull request be drafted, approved and posted. A job that was
// killed is run again, as "Re-run failed jobs" does.
func play(t *testing.T, deciding task, at point) played {
	t.Helper()
	w := newWorld(t)
	w.dispatched = deciding == decideJob
	p := played{requests: map[string]int{}}
	drafted := w.finish(draftJob, at, &p)
	require.Equal(t, "PAUSED", drafted.outputs["outcome"], drafted.log)
	paid := total(w.bill.calls())
	w.known["checkpoint-digest"], w.known["inputs.draft"] = drafted.outputs["checkpoint-digest"],
		"42-"+drafted.outputs["code"]
	posted := w.finish(deciding, at, &p)
	require.Equal(t, "POSTED", posted.outputs["outcome"], posted.log)
	require.Equal(t, paid, total(w.bill.calls()), "deciding asked a model")
	require.Empty(t, w.hub.Violations())

	p.calls = w.bill.calls()
	reviews := w.pull.Reviews()
	require.Len(t, reviews, 1)
	p.review = said(reviews[0].Body) + "\n" + text(t, reviews[0].Comments)
	return p
}

// finish runs a job to its end, and once more where the first attempt did not
// get there.
func (w *world) finish(j task, at point, p *played) done {
	w.t.Helper()
	if j == decideJob {
		w.runs[j.file] = w.dispatch(j)
	}
	if at.job != j.name {
		at = point{}
	}
	first := len(w.hub.Requests())
	d := w.attempt(j, at)
	p.requests[j.name] = len(w.hub.Requests()) - first
	p.struck = p.struck || d.struck
	if d.struck && d.code != 0 {
		kept, paid := w.drafted(), total(w.bill.calls())
		w.runs[j.file].Finish("failure")
		w.runs[j.file].Rerun()
		d = w.attempt(j, point{})
		if kept {
			require.Equal(w.t, paid, total(w.bill.calls()), "the whole draft was stored, and was paid for again")
		}
	}
	require.Zero(w.t, d.code, d.log)
	return d
}

// drafted reports whether a run has stored a whole draft.
func (w *world) drafted() bool {
	return slices.ContainsFunc(w.runs[draftFile].Artifacts(), func(a githubtest.Artifact) bool {
		return strings.HasPrefix(a.Name, "pr-review-42-") && !strings.Contains(a.Name, "-partial-")
	})
}

// attempt starts a job, once its environment was approved where it has one.
func (w *world) attempt(j task, at point) done {
	w.t.Helper()
	if run := w.runs[j.file]; j == postJob {
		run.Wait(gateName)
		run.Approve(gateName, "maya", "")
	}
	return w.start(j, at)
}

var (
	approvalLine = regexp.MustCompile(`\nDrafted by [^\n]*\n`)
	marker       = regexp.MustCompile(`<!-- pr-review:v1 [^\n]* -->`)
)

// said is a review's body without what names the draft and its hour.
func said(body string) string {
	return strings.TrimSpace(marker.ReplaceAllString(approvalLine.ReplaceAllString(body, "\n"), ""))
}
