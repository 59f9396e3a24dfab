package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
)

// Records keeps decisions on drafts, those of other jobs among them.
type Records interface {
	// Claims are the decisions on a draft, and on others of its subject, that runs
	// which may decide have stored.
	Claims(ctx context.Context, code string) ([]Claim, error)
	// Put stores a decision of this run. One that it has stored before stands.
	Put(ctx context.Context, r decision.Record) error
}

// Desk is where a job puts its decision on a draft on record, and gives way to others.
type Desk struct {
	Records
	Run    int64 // this one
	Listed bool  // others see what it stores
	Keyed  bool  // a seal vouches for the records
	// Standing finds what was done of a decision on a thread, whichever it was.
	Standing func(ctx context.Context, thread string) (where string, found bool, err error)
	// Warn tells a person what happened, and why where there is an error.
	Warn func(what string, err error)
}

// Race is what this job knows of others that decide the same draft.
func (d *Desk) Race(record decision.Record) *Race {
	race := &Race{
		Run: d.Run, Record: record, Claim: d.Put,
		Claims: func(ctx context.Context) ([]Claim, error) { return d.Claims(ctx, record.Code) },
		Posted: func(ctx context.Context, _ []Claim) (bool, error) {
			_, posted, err := d.Standing(ctx, record.Thread)
			return posted, err
		},
	}
	if !d.Listed {
		race.Run = 0
	}
	return race
}

// Decide is the part of check 13 before a decision is acted on; again and drafted are
// of the draft. An abort is put on record here, and waits for its turn: whoever decides
// the same draft later, or at the same time, finds it. An approval is put on record by
// who acts on it, with what it holds. Where another run has decided the same before, its
// record is the one that counts.
func (d *Desk) Decide(ctx context.Context, record decision.Record, again bool,
	drafted time.Time) (decision.Record, error) {
	race := d.Race(record)
	on, err := race.Claims(ctx)
	if err == nil {
		err = Governed(on, record)
	}
	if err == nil && d.Keyed {
		err = Remembered(on, record, again, drafted)
	}
	if err == nil && record.Decision == decision.Abort && !record.Withdrawn() {
		err = d.unposted(ctx, record.Thread)
	}
	first, before := record, false
	if err == nil {
		first, before, err = d.decidedBefore(ctx, on, record)
	}
	if err != nil || before || record.Decision != decision.Abort {
		return first, err
	}
	if err := d.Put(ctx, record); err != nil {
		return record, err
	}
	return record, Turn(ctx, *race)
}

// unposted refuses to reject what was acted on already.
func (d *Desk) unposted(ctx context.Context, thread string) error {
	where, posted, err := d.Standing(ctx, thread)
	if err != nil || !posted {
		return err
	}
	return problem.Refuse(13, "a draft of this commit has already been posted, so nothing can be rejected any more",
		"answer what was posted there", problem.At(where))
}

// decidedBefore finds the same decision of another run that was carried out, and
// says whose it is.
func (d *Desk) decidedBefore(ctx context.Context, on []Claim, mine decision.Record) (decision.Record, bool, error) {
	i := slices.IndexFunc(on, func(c Claim) bool { return c.Done && c.Run != d.Run && c.Record.Same(mine) })
	if i < 0 || mine.Withdrawn() {
		return mine, false, nil
	}
	first := on[i].Record
	if mine.Decision == decision.Approve {
		if _, posted, err := d.Standing(ctx, mine.Thread); err != nil || !posted {
			return mine, false, err
		}
	}
	d.Warn(DecidedFirst(first)+"; this decision is the same, and was not put on record again", nil)
	return first, true, nil
}

// DecidedFirst says who decided a draft.
func DecidedFirst(r decision.Record) string {
	return fmt.Sprintf("%s decided this draft before, on %s: %s", r.By, when(r), r.Decision)
}

// Withdrawable lists the drafts of a thread among the candidates, each once, so that a
// newer one can replace them. It refuses, before anything is paid, what Withdraw would.
func (d *Desk) Withdrawable(ctx context.Context, o Origin, found []Candidate, thread string,
	by decision.Record) ([]checkpoint.Draft, error) {
	var drafts []checkpoint.Draft
	for _, c := range found {
		opened, err := o.Open(ctx, c)
		same := err == nil && opened.Manifest.Thread == thread && opened.Manifest.Partial == 0
		if !same || slices.ContainsFunc(drafts, func(d checkpoint.Draft) bool { return d.Digest == opened.Digest }) {
			continue
		}
		on, err := d.Claims(ctx, opened.Code)
		if err == nil {
			err = Governed(on, withdrawal(opened, by, ""))
		}
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, opened)
	}
	return drafts, nil
}

// Withdraw records that newer replaces the drafts, so that none of them can be
// decided any more; by has who and when. It is refused where one was approved.
func (d *Desk) Withdraw(ctx context.Context, drafts []checkpoint.Draft, by decision.Record, newer string) error {
	var errs []error
	for _, draft := range drafts {
		_, err := d.Decide(ctx, withdrawal(draft, by, newer), false, time.Time{})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func withdrawal(draft checkpoint.Draft, by decision.Record, newer string) decision.Record {
	by.Thread, by.Digest, by.Code = draft.Manifest.Thread, draft.Digest, draft.Code
	return by.Withdraws(newer)
}
