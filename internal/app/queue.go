package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/pull"
)

// waiting is a parked draft that can be decided.
type waiting struct {
	thread   string
	code     string
	blockers int
	majors   int
	created  time.Time
	how      string       // command or page to decide at
	remote   *parkedDraft // nil for one of the local store
}

// worstFirst orders drafts by what waiting costs: those with most blockers, then
// with most majors, then the oldest. Thread and code make the order total.
func worstFirst(a, b waiting) int {
	return cmp.Or(
		cmp.Compare(b.blockers, a.blockers),
		cmp.Compare(b.majors, a.majors),
		a.created.Compare(b.created),
		cmp.Compare(a.thread, b.thread),
		cmp.Compare(a.code, b.code),
	)
}

// waitingLocal are the drafts of a repository that wait in the store, or where all is
// set, of every one and of local input. Without heads nothing is known of the
// repository's pull requests, and every draft may be current.
func (a *app) waitingLocal(ctx context.Context, ref pull.Ref, all bool, heads map[int]string,
	o *options) ([]waiting, error) {
	store, err := a.OpenStore(ctx, o.store)
	if err != nil {
		return nil, err
	}
	reports, err := a.reports(ctx, store, "")
	if err != nil {
		return nil, err
	}
	var queue []waiting
	for _, r := range reports {
		p := r.State.Pull
		of := p != nil && strings.EqualFold(p.Ref.FullName(), ref.FullName())
		if !r.Parked() || !of && !all || checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()) != nil ||
			of && heads != nil && heads[p.Number] != r.Head {
			continue
		}
		queue = append(queue, waiting{
			thread: r.Thread, code: r.Code, created: r.State.Draft.CreatedAt, how: a.resuming(r.Thread, o),
			blockers: finding.Count(r.Findings, finding.Blocker), majors: finding.Count(r.Findings, finding.Major),
		})
	}
	return queue, nil
}

// remoteQueue is what waits on GitHub, and how it is read.
type remoteQueue struct {
	*remote
	queue []waiting
}

// waitingRemote are the drafts of a repository that wait on GitHub, and the heads
// of its open pull requests where those could be read.
func (a *app) waitingRemote(ctx context.Context, ref pull.Ref, o *options) (*remoteQueue, map[int]string, error) {
	r, heads, err := a.remoteHeads(ctx, ref, o)
	if err != nil {
		return nil, nil, err
	}
	there := &remoteQueue{remote: r}
	drafts := r.drafts(ctx, func(handoff.Name) bool { return true })
	for _, d := range r.waiting(ctx, drafts, heads) {
		there.queue = append(there.queue, waiting{
			thread: d.Thread, code: d.code, created: d.CreatedAt, how: r.where(d), blockers: d.Blockers,
			majors: d.Majors, remote: &d,
		})
	}
	return there, heads, nil
}
