package handoff

import (
	"cmp"
	"context"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// Claim is a decision that a run stored about a draft before acting on it: an
// artifact of the draft's code, by a run that may decide. Drafts of one commit
// are rivals too, since a commit is answered once.
type Claim struct {
	ID     int64 // of the artifact; a later one is greater
	Run    int64
	Live   bool // the run has not completed
	Done   bool // the run has completed with success: it acted on its decision
	Record decision.Record
}

// Race is what a deciding job knows of others that decide the same draft. Its
// own Record is stored already, or who acts on it stores it by Claim, with the id of
// what it holds. Run is 0 where it cannot be stored. Posted says of these claims whether
// what was approved stands, and may refuse what does.
type Race struct {
	Run    int64
	Record decision.Record
	Claims func(context.Context) ([]Claim, error) // of the thread, read anew each time
	Claim  func(context.Context, decision.Record) error
	Posted func(context.Context, []Claim) (bool, error)
}

// In seconds: how long what was posted, or the own claim, may take to be listed; how
// long each run that is ahead is waited for; and between two looks at it.
const (
	Settle   = 10
	Patience = 120
	Pace     = 5
)

// Turn returns when this job may act on its decision, and refuses where another
// one governs, which is the claim with the lowest id (resume check 13). Where no
// other run has claimed, or all name what this job holds, it returns at
// once: GitHub submits that one once. Else nobody acts at once: the job
// with the lowest claim waits for the settle time whether something appears, of a
// job that did not see it or of a run that has ended; one behind, and one beside
// another decision, waits until those runs have completed, at most two minutes for
// each, and then for the settle time. A run that ended well has acted, whatever
// its claim's id: an artifact can have its id before it is listed. A job that sees
// it returns too. Decision 6 names the windows that are left.
func Turn(ctx context.Context, r Race) error {
	contested, most, quiet := false, 0, 0
	for second := 0; ; {
		claims, err := r.Claims(ctx)
		if err == nil {
			err = cmp.Or(Governed(claims, r.Record), r.forestalled(claims))
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
			return r.overtaken(err)
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

// place is where a job stands among the claims.
type place struct {
	seen   bool // its own claim is listed
	rivals int  // other runs that claimed
	ahead  int  // live ones with an older claim
}

// place counts each rival's run once, by its oldest claim. What is not listed
// yet is behind everything. Aborts write nothing, so they wait for no other. A claim
// on the very same is no rival; an own one on another, of an attempt before,
// is one that may have been submitted.
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

// forestalled refuses what another run has decided otherwise and done.
func (r Race) forestalled(claims []Claim) error {
	for _, c := range onDraft(claims, r.Record.Digest) {
		if c.Run != r.Run && c.Done && !c.Record.Same(r.Record) && !r.Record.Withdrawn() {
			return cmp.Or(CheckRecord(c.Record, r.Record.Digest, r.Record.Decision),
				decidedOtherwise(c.Record, ", with other changes"))
		}
	}
	return nil
}

// overtaken is nil where what stands is what was approved; an abort
// comes too late.
func (r Race) overtaken(err error) error {
	if err != nil || r.Record.Decision == decision.Approve {
		return err
	}
	return problem.Refuse(13, "this draft has already been posted, so nothing can be rejected any more",
		"answer what was posted")
}
