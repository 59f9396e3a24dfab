package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// TestP4_KilledAtRandomInstants reviews a change of 200 files in a process that
// is killed, and started again, until the draft is parked and posted.
func TestP4_KilledAtRandomInstants(t *testing.T) {
	t.Parallel()
	kills := testvolume.Of(1000, 8)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	want := newLife(t, nil).run(func() time.Duration { return 0 })
	require.Equal(t, questions, total(want.calls))

	var sum lived
	lives, twice := 0, 0
	for ; sum.kills < kills; lives++ {
		var got lived
		left := kills - sum.kills
		ok := t.Run(fmt.Sprint("review ", lives+1), func(t *testing.T) {
			got = newLife(t, want.order).run(func() time.Duration {
				if left--; left < 0 {
					return 0
				}
				return time.Duration(random.Int64N(int64(ideal / 2)))
			})
			require.Equal(t, want.body, got.body)
		})
		require.True(t, ok, "seed %d", seed)
		sum.kills += got.kills
		sum.kept += got.kept
		twice += total(got.calls) - questions
	}
	t.Logf("seed %d: %d kills in %d reviews of %d files; %d answers were in the journal at a kill, none of them was "+
		"paid again; %d others were (at most %d)",
		seed, sum.kills, lives, files, sum.kept, twice, sum.kills*workers)
}

// life is one review in its own store, from its first start to the post.
type life struct {
	t     *testing.T
	home  string
	store string
	url   string
	bill  *bill
	lived
}

// lived is what a review went through.
type lived struct {
	kills int
	kept  int            // answers that a kill found in the journal
	body  string         // of the review, without the line that says when it was approved
	calls map[string]int // by question
	order []string       // the file of each review task
}

func newLife(t *testing.T, order []string) *life {
	t.Helper()
	l := &life{t: t, home: t.TempDir(), bill: newBill(), lived: lived{order: order}}
	l.store = filepath.Join(l.home, "store")
	l.url = llmtest.Start(t, l.bill.answer).URL
	require.NoError(t, os.WriteFile(filepath.Join(l.home, "big.diff"), []byte(change()), 0o600))
	return l
}

// run lives a life; instant draws when each process is killed, 0 for never.
func (l *life) run(instant func() time.Duration) lived {
	l.t.Helper()
	settled := map[string]int{} // how often questions had been asked when their answer was found in the journal
	review := func(after time.Duration) exit {
		return command(l.t, l.home, after, "review", "big.diff", "--base-url", l.url, "--model", "fake", "--store",
			l.store, "--no-input", "--json")
	}
	parked := l.until("PAUSED", instant, review, func() {
		calls := l.bill.calls()
		for _, q := range kept(l.t, l.store, l.order) {
			if _, known := settled[q]; !known {
				settled[q] = calls[q]
			}
		}
	})
	l.order = inOrder(l.t, l.store)
	out := filepath.Join(l.home, "review.md")
	resume := func(after time.Duration) exit {
		return command(l.t, l.home, after, "resume", parked, "--approve", "--store", l.store, "--out", out, "--json")
	}
	posted := l.until("POSTED", instant, resume, func() {})
	l.calls, l.kept = l.bill.calls(), len(settled)
	for q, n := range settled {
		require.Equal(l.t, n, l.calls[q], "%s: its answer was in the journal, and it was asked again", q)
	}
	require.LessOrEqual(l.t, total(l.calls), questions+l.kills*workers,
		"a kill may lose the answers that are on their way, one for each file under review")
	body, err := os.ReadFile(out)
	require.NoError(l.t, err)
	require.Equal(l.t, posted, l.until("POSTED", func() time.Duration {
		return 0
	}, resume, func() {}), "the same decision again is reported")
	after, err := os.ReadFile(out)
	require.NoError(l.t, err)
	require.Equal(l.t, string(body), string(after), "and posts no second review")
	l.body = string(body[:strings.LastIndex(strings.TrimSpace(string(body)), "\n")])
	return l.lived
}

// until starts a command again for as long as it is killed, and gives the thread
// that it then names with the outcome that is wanted.
func (l *life) until(outcome string, instant func() time.Duration, start func(time.Duration) exit,
	killed func()) (thread string) {
	l.t.Helper()
	e := start(instant())
	for ; e.killed; e = start(instant()) {
		l.kills++
		killed()
	}
	require.Zero(l.t, e.code, "%s\n%s", e.stdout, e.stderr)
	var said struct {
		Outcome string
		Thread  string `json:"thread_id"`
	}
	require.NoError(l.t, json.Unmarshal([]byte(e.stdout), &said))
	require.Equal(l.t, outcome, said.Outcome, e.stdout)
	return said.Thread
}
