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
	"github.com/org/pr-review-action/internal/wording"
)

// Records stores decisions on drafts, including those of other jobs.
type Records interface {
	// Claims returns the decisions on a draft, and on others of its subject, that were
	// stored by runs entitled to decide.
	Claims(ctx context.Context, code string) ([]Claim, error)
	// Put stores a decision of this run. A decision it stored before is kept.
	Put(ctx context.Context, r decision.Record) error
}

// Decisions records what a job decides on a draft, and yields to other jobs that decide it.
type Decisions struct {
	Records
	Run    int64 // this run's id
	Listed bool  // other jobs can see what it stores
	Keyed  bool  // records are vouched for by a seal
	// Standing finds what a decision on a thread, whichever it was, has led to.
	Standing func(ctx context.Context, thread string) (where string, found bool, err error)
	// Warn tells a person what happened, and why if there is an error.
	Warn func(what string, err error)
}

// Race returns what this job knows about others that decide the same draft.
func (d *Decisions) Race(record decision.Record) *Race {
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

// Decide is the part of check 13 that precedes acting on a decision; again and drafted
// describe the draft. An abort is recorded here and then waits for its turn, so that
// whoever decides the same draft later or at the same time finds it. An approval is
// recorded by whoever acts on it, together with the result. If another run made the same
// decision before, its record is returned and counts.
func (d *Decisions) Decide(ctx context.Context, record decision.Record, again bool,
	drafted time.Time) (decision.Record, error) {
	race := d.Race(record)
	on, err := race.Claims(ctx)
	if err == nil {
		err = d.Undecided(on, record, again, drafted)
	}
	if err == nil && record.Decision == decision.Abort && !record.Withdrawn() {
		err = d.checkUnposted(ctx, record.Thread)
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

// Undecided is the part of check 13 that the claims on a draft and on others of its commit answer: it refuses a
// decision that is not theirs. Without a seal a rejection applies to its draft alone.
func (d *Decisions) Undecided(on []Claim, record decision.Record, again bool, drafted time.Time) error {
	err := Governed(on, record)
	if err == nil && d.Keyed {
		err = Remembered(on, record, again, drafted)
	}
	return err
}

// checkUnposted refuses to reject a thread that was already acted on.
func (d *Decisions) checkUnposted(ctx context.Context, thread string) error {
	where, posted, err := d.Standing(ctx, thread)
	if err != nil || !posted {
		return err
	}
	return problem.Refuse(13, "a draft of this commit has already been posted, so nothing can be rejected any more",
		"answer what was posted there", problem.At(where))
}

// decidedBefore looks for the same decision by another run that has carried it
// out, and warns who made it.
func (d *Decisions) decidedBefore(ctx context.Context, on []Claim,
	mine decision.Record) (decision.Record, bool, error) {
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

// DecidedFirst returns a sentence that names who decided a draft.
func DecidedFirst(r decision.Record) string {
	return fmt.Sprintf("%s decided this draft before, on %s: %s", r.By, wording.Minute(r.At), r.Decision)
}

// Withdrawable returns the drafts of a thread among the candidates, of one diff unless that is empty, each
// once, so that a newer one can replace them. It refuses, before anything is paid for, what Withdraw would.
func (d *Decisions) Withdrawable(ctx context.Context, o Origin, found []Candidate, thread, diff string,
	by decision.Record) ([]checkpoint.Draft, error) {
	var drafts []checkpoint.Draft
	for _, c := range found {
		opened, err := o.Open(ctx, c)
		same := err == nil && opened.Manifest.Thread == thread && opened.Manifest.Partial == 0 &&
			(diff == "" || opened.Manifest.Subject.Digest == diff)
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
// decided any more; by holds who and when. It refuses if one of them was approved.
func (d *Decisions) Withdraw(ctx context.Context, drafts []checkpoint.Draft, by decision.Record, newer string) error {
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
