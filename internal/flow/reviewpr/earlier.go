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

// errUnsealed is an earlier run's checkpoint in a job that cannot tell who wrote it,
// errReplaced one whose results are not taken over since the draft is made anew.
var (
	errUnsealed = errors.New("it is of another run, and without trust: seal or encrypt nothing vouches for it")
	errReplaced = errors.New("it is of the draft that is made anew")
)

// Earlier adds to paid what the candidates, drafts and partial checkpoints alike,
// have for this pull request and instance, and returns what was left out and why:
// none of it ends a run. Run is the run under way, thread what it reviews. At
// most 20 are fetched.
//
// What this run stored itself passes checks 1 to 4. Anything else needs a seal
// besides: who can plant a result can make a file look clean.
func (o Origin) Earlier(ctx context.Context, candidates []Candidate, paid *Paid, thread string) []error {
	if o.Protection.Keyed() {
		o.Run = 0 // a seal vouches for any run
	}
	var left []error
	fetched := 0
	for _, c := range candidates[:min(len(candidates), maxLooked)] {
		err := o.fitting(ctx, c)
		if err == nil && fetched < maxEarlier {
			fetched++
			var opened checkpoint.Opened
			var saved graph.Saved
			opened, saved, err = o.earlier(ctx, c)
			switch {
			case err == nil:
				paid.Add(saved, thread)
			case errors.Is(err, errReplaced):
				paid.Count(saved, thread)
			}
			if opened.Manifest.Thread != "" && opened.Manifest.Partial == 0 {
				paid.Drafts = append(paid.Drafts, opened)
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
func (o Origin) fitting(ctx context.Context, c Candidate) error {
	name, ok := checkpoint.ParseName(c.Found.Name)
	switch {
	case !ok || name.Pull != o.Ref.Number || name.Instance != o.Instance:
		return errors.New("it is none of this pull request")
	case !o.Protection.Keyed() && (o.Run == 0 || c.Run != o.Run):
		return errUnsealed
	case c.Run == 0:
		return nil
	}
	return o.checkRun(ctx, c.Run)
}

func (o Origin) earlier(ctx context.Context, c Candidate) (opened checkpoint.Opened, saved graph.Saved, err error) {
	name, _ := checkpoint.ParseName(c.Found.Name)
	if opened, err = o.open(ctx, c, c.Found.Name, name.Code); err == nil {
		err = o.checkTarget(opened.Manifest)
	}
	if err != nil {
		return checkpoint.Opened{}, graph.Saved{}, err
	}
	if saved.Snapshot = opened.Snapshot; opened.Manifest.Partial == 0 {
		if o.Again {
			err = errReplaced
		}
		return opened, saved, err
	}
	saved, err = checkpoint.DecodeSaved(opened.Snapshot)
	if err == nil && o.Again {
		err = madeAnew(saved)
	}
	return opened, saved, err
}

// madeAnew refuses progress of a draft that is not one of again: true.
func madeAnew(saved graph.Saved) error {
	s, err := graph.DecodeSnapshot(saved.Snapshot)
	if err != nil {
		return err
	}
	d, _, err := about(s, saved.Journal)
	if err == nil && !d.Again {
		err = errReplaced
	}
	return err
}
