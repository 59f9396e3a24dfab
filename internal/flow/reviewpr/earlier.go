package reviewpr

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/graph"
)

// Bounds of how many checkpoints are fetched for what they paid, and of how many
// are looked at: anybody can name an artifact.
const (
	maxEarlier = 20
	maxLooked  = 200
)

// errUnsealed is an earlier run's checkpoint in a job that cannot tell who wrote it.
var errUnsealed = errors.New("it is of another run, and without trust: seal or encrypt nothing vouches for it")

// Earlier adds to paid what the candidates, drafts and partial checkpoints alike,
// have for this pull request and instance, and returns what was left out and why:
// none of it ends a run. Run is the run under way, thread what it reviews; Name,
// Shown, Settings and PullNow are not read. At most 20 are fetched.
//
// What this run stored itself passes checks 1 to 4. Anything else needs a seal
// besides: who can plant a result can make a file look clean.
func (r Resume) Earlier(ctx context.Context, paid *Paid, thread string) []error {
	var left []error
	fetched := 0
	for _, c := range r.Candidates[:min(len(r.Candidates), maxLooked)] {
		err := r.fitting(ctx, c)
		if err == nil && fetched < maxEarlier {
			fetched++
			var saved graph.Saved
			if saved, err = r.earlier(ctx, c); err == nil {
				paid.Add(saved, thread)
			}
		}
		if err != nil {
			left = append(left, fmt.Errorf("earlier results in %.100q: %w", c.Found.Name, err))
		}
	}
	return left
}

// fitting is what can be said of a candidate before anything is fetched: its
// name, and check 4 of its run.
func (r Resume) fitting(ctx context.Context, c Candidate) error {
	name, ok := checkpoint.ParseName(c.Found.Name)
	switch {
	case !ok || name.Pull != r.Ref.Number || name.Instance != r.Instance:
		return errors.New("it is none of this pull request")
	case !r.Protection.Keyed() && (r.Run == 0 || c.Run != r.Run):
		return errUnsealed
	case c.Run == 0:
		return nil
	}
	return r.checkRun(ctx, c.Run, r.by())
}

// by is the run that must have stored what is taken, 0 where a seal vouches for any.
func (r Resume) by() int64 {
	if r.Protection.Keyed() {
		return 0
	}
	return r.Run
}

func (r Resume) earlier(ctx context.Context, c Candidate) (graph.Saved, error) {
	name, _ := checkpoint.ParseName(c.Found.Name)
	r.Name, r.Shown = c.Found.Name, name.Code
	o, err := r.open(ctx, c, r.by())
	if err != nil {
		return graph.Saved{}, err
	}
	if err := checkpoint.CheckTarget(o.Manifest, r.RepoID, r.Ref, r.Instance); err != nil {
		return graph.Saved{}, err
	}
	if o.Manifest.Partial == 0 && !r.Again {
		return graph.Saved{Snapshot: o.Snapshot}, nil
	}
	if o.Manifest.Partial == 0 {
		return graph.Saved{}, errors.New("it is a draft that is made anew")
	}
	saved, err := checkpoint.DecodeSaved(o.Snapshot)
	if err == nil && r.Again {
		err = madeAnew(saved)
	}
	return saved, err
}

// madeAnew refuses progress of a draft that is not one of again: true.
func madeAnew(saved graph.Saved) error {
	s, err := graph.DecodeSnapshot(saved.Snapshot)
	if err != nil {
		return err
	}
	d, _, err := about(s, saved.Journal)
	if err == nil && !d.Again {
		err = errors.New("it is of the draft that is made anew")
	}
	return err
}
