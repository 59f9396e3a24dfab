package post

import (
	"cmp"
	"context"
	"time"

	"github.com/org/pr-review-action/internal/decision"
)

// Claim is a decision that a run stored about a draft before acting on it: an
// artifact of the draft's code, by a run that may decide. Drafts of one commit
// are rivals too, since a commit gets one review.
type Claim struct {
	ID     int64 // of the artifact; a later one is greater
	Run    int64
	Live   bool // the run has not completed
	Done   bool // the run has completed with success: it acted on its decision
	Record decision.Record
}

// Race is what a deciding job knows of others that decide the same draft. Its
// own Record is stored already. Run is 0 where it could not be. Posted says
// whether the review stands and may fail with Look's refusal; Review fills it
// in. Wait ends with the context.
type Race struct {
	Run    int64
	Record decision.Record
	Claims func(context.Context) ([]Claim, error) // of the thread, read anew each time
	Posted func(context.Context) (bool, error)
	Wait   func(context.Context, time.Duration) error
}

// In seconds: how long a review, or the own claim, may take to be listed; how
// long each run that is ahead is waited for; and between two looks at it.
const (
	settle   = 10
	patience = 120
	pace     = 5
)

// Turn returns when this job may act on its decision, and refuses where another
// one governs, which is the claim with the lowest id (resume check 13). Where no
// other run has claimed it returns at once. Else nobody acts at once: the job
// with the lowest claim waits for the settle time whether a review appears, of a
// job that did not see it or of a run that has ended; one behind, and one beside
// another decision, waits until those runs have completed, at most two minutes for
// each, and then for the settle time. A run that ended well has acted, whatever
// its claim's id: an artifact can have its id before it is listed. A job that sees
// the review returns too: the look before the write reports it as posted.
//
// GitHub compares and swaps nothing, so a window is left. Two reviews can stand
// only where a listing shows a job its own claim and hides an older one; where
// it hides the own claim for ten seconds; where a review takes longer than ten
// seconds from its writer's last listing of claims, or from the end of its
// writer's run, until it is listed; and where a job rests for two minutes
// between its last look and its write. The look right before the write keeps
// each of them as narrow as a request or two.
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
		if stands, err := r.Posted(ctx); err != nil || stands {
			return r.overtaken(err)
		}
		step := 1
		if most = max(most, p.ahead); p.ahead > 0 {
			step, quiet = pace, second+pace
		}
		if second >= quiet+settle || p.ahead > 0 && second >= patience*most {
			return nil
		}
		if err := r.Wait(ctx, time.Duration(step)*time.Second); err != nil {
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
// yet is behind everything. Aborts write nothing, so they wait for no other.
func (r Race) place(claims []Claim) place {
	p := place{seen: r.Run == 0}
	counted := map[int64]bool{}
	for _, c := range oldestFirst(claims) {
		same := c.Record.Digest == r.Record.Digest
		switch {
		case c.Run == r.Run:
			p.seen = p.seen || same
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
			return cmp.Or(CheckRecord(c.Record, r.Record.Digest, r.Record.Decision), decidedOtherwise(c.Record, ", with other changes"))
		}
	}
	return nil
}

// overtaken is nil where the review that stands is what was approved; an abort
// comes too late.
func (r Race) overtaken(err error) error {
	if err != nil || r.Record.Decision == decision.Approve {
		return err
	}
	return refuse("this draft was posted before, nothing can be rejected any more", "answer the review on the pull request")
}
