package handoff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
)

// Desk is where a job puts its decision on a draft on record, and sees those of others.
type Desk struct {
	Runs       *Runs
	Subject    checkpoint.Subject
	Branch     string // the default one
	Protection checkpoint.Protection
	Folder     artifactstore.Carrier // that holds records too; nil for none
	Own        artifactstore.Carrier // where this run stores; nil where it cannot
	Out        io.Writer             // is told where not everything was looked through
	// Standing finds what was done of a decision on a thread, whichever it was.
	Standing func(ctx context.Context, thread string) (where string, found bool, err error)
	// Warn tells a person what happened, and why where there is an error.
	Warn func(what string, err error)
}

// maxSiblings bounds how many decisions on other drafts are read: anybody can
// name an artifact.
const maxSiblings = 50

// Claims are the decisions on a draft, and on others of its subject, that runs
// which may decide have stored.
func (d *Desk) Claims(ctx context.Context, code string) (claims []Claim, err error) {
	name := DecisionArtifactName(code)
	found, err := d.Runs.Stored(ctx, name, 0)
	others, othersErr := d.siblings(ctx, code)
	if err := cmp.Or(err, othersErr); err != nil {
		return nil, NeedsActions(err, "earlier decisions cannot be read")
	}
	found = append(found, others...)
	if d.Folder != nil {
		there, _ := Named(ctx, d.Folder, name) // a folder that cannot be read holds no decision
		found = append(found, there...)
	}
	for _, s := range found {
		claim, ours, err := d.Runs.Claim(ctx, s, d.Protection, d.Subject.RepositoryID, d.Branch)
		if err != nil {
			return nil, err
		}
		if ours {
			claims = append(claims, claim)
		}
	}
	return claims, nil
}

// siblings are the decisions on other drafts of the subject, as far as they are
// among the repository's newer artifacts.
func (d *Desk) siblings(ctx context.Context, code string) ([]Stored, error) {
	all, err := List(ctx, d.Runs.Everything())
	d.Runs.TellCut(d.Out)
	codes := map[string]bool{}
	for _, s := range all {
		if name, ok := ParseName(s.Name); ok && name.Of(d.Subject) {
			codes[DecisionArtifactName(name.Code)] = name.Code != code
		}
	}
	found := slices.DeleteFunc(all, func(s Stored) bool { return !codes[s.Name] })
	return found[:min(len(found), maxSiblings)], err
}

// Put keeps a decision as an artifact of this run. One that an earlier attempt of
// the run stored under the name stands.
func (d *Desk) Put(ctx context.Context, r decision.Record) error {
	if d.Own == nil {
		d.Warn("the decision could not be put on record", artifact.ErrNoRuntime)
		return nil
	}
	zip, err := d.Protection.PackRecord(r)
	if err != nil {
		return err
	}
	if err := d.Own.Put(ctx, DecisionArtifactName(r.Code), zip); err != nil && !errors.Is(err, artifact.ErrExists) {
		return fmt.Errorf("storing the decision: %w", err)
	}
	return nil
}

// Race is what this job knows of others that decide the same draft.
func (d *Desk) Race(record decision.Record) *Race {
	race := &Race{
		Run: d.Runs.Own, Record: record, Claim: d.Put,
		Claims: func(ctx context.Context) ([]Claim, error) { return d.Claims(ctx, record.Code) },
		Posted: func(ctx context.Context, _ []Claim) (bool, error) {
			_, posted, err := d.Standing(ctx, record.Thread)
			return posted, err
		},
	}
	if d.Folder != nil || d.Own == nil {
		race.Run = 0 // nobody else lists it
	}
	return race
}

// Decide is the part of check 13 before a decision is acted on; again and drafted are
// of the draft. An abort is put on record here, and waits for its turn: whoever decides
// the same draft later, or at the same time, finds it. An approval is put on record by
// who acts on it, with what it holds. Where another run has decided the same before, its
// record is the one that counts.
func (d *Desk) Decide(ctx context.Context, record decision.Record, again bool, drafted time.Time) (decision.Record, error) {
	race := d.Race(record)
	on, err := race.Claims(ctx)
	if err == nil {
		err = Governed(on, record)
	}
	if err == nil && d.Protection.Keyed() {
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
	return problem.Refuse(13, "a review of this commit was posted before, nothing can be rejected any more",
		"answer the review on the pull request", problem.At(where))
}

// decidedBefore finds the same decision of another run that was carried out, and
// says whose it is.
func (d *Desk) decidedBefore(ctx context.Context, on []Claim, mine decision.Record) (decision.Record, bool, error) {
	i := slices.IndexFunc(on, func(c Claim) bool { return c.Done && c.Run != d.Runs.Own && c.Record.Same(mine) })
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
func (d *Desk) Withdrawable(ctx context.Context, o Origin, found []Candidate, thread string, by decision.Record) ([]checkpoint.Opened, error) {
	var drafts []checkpoint.Opened
	for _, c := range found {
		opened, err := o.Open(ctx, c)
		same := err == nil && opened.Manifest.Thread == thread && opened.Manifest.Partial == 0
		if !same || slices.ContainsFunc(drafts, func(d checkpoint.Opened) bool { return d.Digest == opened.Digest }) {
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
func (d *Desk) Withdraw(ctx context.Context, drafts []checkpoint.Opened, by decision.Record, newer string) error {
	var errs []error
	for _, draft := range drafts {
		_, err := d.Decide(ctx, withdrawal(draft, by, newer), false, time.Time{})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func withdrawal(draft checkpoint.Opened, by decision.Record, newer string) decision.Record {
	by.Thread, by.Digest, by.Code = draft.Manifest.Thread, draft.Digest, draft.Code
	return by.Withdraws(newer)
}

// Rejected reports whether a draft of the thread was rejected. Only a sealed record is
// believed: without a key an abort holds for its code alone.
func (d *Desk) Rejected(ctx context.Context, found []Stored, thread string) bool {
	return d.Protection.Keyed() && slices.ContainsFunc(found, func(s Stored) bool {
		if !strings.HasPrefix(s.Name, DecisionArtifactName("")) {
			return false
		}
		record, err := d.Record(ctx, s)
		return err == nil && record.Thread == thread && record.Decision == decision.Abort && !record.Withdrawn()
	})
}

// Record opens a decision on record.
func (d *Desk) Record(ctx context.Context, s Stored) (decision.Record, error) {
	zip, err := s.From.Get(ctx, s.Item, checkpoint.MaxZip)
	if err != nil {
		return decision.Record{}, err // gone, or nobody's
	}
	return d.Protection.OpenRecord(zip)
}
