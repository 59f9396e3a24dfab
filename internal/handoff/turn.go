package handoff

import (
	"cmp"
	"context"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// Claim is a decision that a run stored before acting on it: an artifact with the
// draft's code, from a run entitled to decide. Drafts of one commit compete too,
// because a commit is answered once.
type Claim struct {
	ID     int64 // artifact id; later artifacts have greater ids
	Run    int64
	Live   bool // the run has not completed
	Done   bool // the run succeeded: it acted on its decision
	Record decision.Record
}

// Acted reports whether the decision took effect, or may still: a rejection by being on record, since GitHub fails the
// run of one, an approval by what its run does.
func (c Claim) Acted() bool { return c.Live || c.Done || c.Record.Decision == decision.Abort }

// Race is what a deciding job knows about others that decide the same draft. Its own
// Record is already stored, or will be stored through Claim by whoever acts on it, with
// the id of the result. Run is 0 if it cannot be stored. Posted reports whether the
// result of an approval exists given these claims, and may refuse it.
type Race struct {
	Run    int64
	Record decision.Record
	Claims func(context.Context) ([]Claim, error) // of the thread, read afresh each time
	Claim  func(context.Context, decision.Record) error
	Posted func(context.Context, []Claim) (bool, error)
}

// Durations in seconds: until a post or our own claim must be listed, how long to
// wait for each run that is ahead, and between two looks at it.
const (
	Settle   = 10
	Patience = 120
	Pace     = 5
)

// Turn returns when this job may act on its decision. It refuses if another claim
// governs, which is the one with the lowest id (resume check 13). If no other run
// has a claim, or all claims name what this job holds, Turn returns at once:
// GitHub submits that only once. Otherwise the job with the lowest claim waits for
// the settle time, in case a result appears from a job that did not see it or from
// a run that has ended. A job behind it, or one next to a different decision, waits
// until those runs have completed, at most two minutes for each, and then for the
// settle time. A run that succeeded has acted, whatever the id of its claim: an
// artifact can have an id before it is listed. Turn also returns once that result
// is visible. Decision 6 describes the remaining windows.
func Turn(ctx context.Context, r Race) error {
	contested, most, quiet := false, 0, 0
	for second := 0; ; {
		claims, err := r.Claims(ctx)
		if err == nil {
			err = cmp.Or(Governed(claims, r.Record), r.checkForestalled(claims))
		}
		if err != nil {
			return err
		}
		p := r.place(claims)
		contested = contested || p.rivals > 0
		if p.seen && !contested {
			return nil
		}
		if stands, err := r.Posted(ctx, claims); err != nil || stands {
			return r.checkOvertaken(err)
		}
		step := 1
		if most = max(most, p.ahead); p.ahead > 0 {
			step, quiet = Pace, second+Pace
		}
		if second >= quiet+Settle || p.ahead > 0 && second >= Patience*most {
			return nil
		}
		if err := transport.Sleep(ctx, time.Duration(step)*time.Second); err != nil {
			return err
		}
		second += step
	}
}

// place is a job's position among the claims.
type place struct {
	seen   bool // its own claim is listed
	rivals int  // other runs with a claim
	ahead  int  // running ones with an older claim
}

// place counts each rival run once, by its oldest claim. A claim not listed yet
// comes after all others. Aborts write nothing, so they wait for no other abort. A
// claim on the same result is not a rival; our own claim on a different one, from an
// earlier attempt, may have been submitted and counts.
func (r Race) place(claims []Claim) place {
	p := place{seen: r.Run == 0}
	counted := map[int64]bool{}
	for _, c := range oldestFirst(claims) {
		same := c.Record.Digest == r.Record.Digest
		ours := c.Record.Review == r.Record.Review
		switch {
		case c.Run == r.Run:
			p.seen = p.seen || same
			if !ours && c.Record.Review != 0 {
				p.rivals++
			}
		case ours && c.Record.Review != 0:
		case counted[c.Run] || c.Record.Thread != r.Record.Thread:
		case c.Record.Decision == decision.Abort && (r.Record.Decision == decision.Abort || !same):
		default:
			p.rivals++
			if c.Live && (!p.seen || r.Run == 0 || same && !c.Record.Same(r.Record)) {
				p.ahead++
			}
		}
		counted[c.Run] = true
	}
	return p
}

// checkForestalled refuses if another run has made and carried out a different decision.
func (r Race) checkForestalled(claims []Claim) error {
	for _, c := range claimsOn(claims, r.Record.Digest) {
		if c.Run != r.Run && c.Done && !c.Record.Same(r.Record) && !r.Record.Withdrawn() {
			return cmp.Or(CheckRecord(c.Record, r.Record.Digest, r.Record.Decision),
				refuseOther(c.Record, ", with other changes"))
		}
	}
	return nil
}

// checkOvertaken returns nil for an approval, whose result exists; an abort comes too
// late and is refused.
func (r Race) checkOvertaken(err error) error {
	if err != nil || r.Record.Decision == decision.Approve {
		return err
	}
	return problem.Refuse(13, "this draft has already been posted, so nothing can be rejected any more",
		"answer what was posted")
}
