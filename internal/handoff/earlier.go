package handoff

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/graph"
)

// Bounds on how many checkpoints are fetched for their paid results, and on how
// many are examined, because anyone can name an artifact.
const (
	maxEarlier = 20
	maxLooked  = 200
)

// errUnsealed reports another run's checkpoint in a job that cannot tell who wrote it.
var errUnsealed = errors.New("it is of another run, and without trust: seal or encrypt nothing vouches for it")

// Earlier calls take for each candidate of this subject, draft or partial
// checkpoint, with what its run had saved. It returns what was skipped and why; none
// of that ends a run. Run is the current run. At most 20 candidates are fetched.
//
// Checkpoints of this run must pass checks 1 to 4. All others also need a seal,
// because a planted result can make a file look clean.
func (o Origin) Earlier(ctx context.Context, candidates []Candidate,
	take func(checkpoint.Draft, graph.Saved) error) []error {
	if o.Protection.Keyed() {
		o.Run = 0 // a seal vouches for any run
	}
	var left []error
	fetched := 0
	for _, c := range candidates[:min(len(candidates), maxLooked)] {
		err := o.checkCandidate(ctx, c)
		if err == nil && fetched < maxEarlier {
			fetched++
			err = o.takeEarlier(ctx, c, take)
		}
		if err != nil {
			left = append(left, fmt.Errorf("earlier results in %.100q: %w", c.Name, err))
		}
	}
	return left
}

// checkCandidate checks what is known of a candidate before anything is fetched: its
// name, and check 4 of its run.
func (o Origin) checkCandidate(ctx context.Context, c Candidate) error {
	name, ok := o.Names.Parse(c.Name)
	switch {
	case !ok || !name.Of(o.Subject):
		return errors.New("it is not of this " + o.Subject.Kind)
	case !o.Protection.Keyed() && (o.Run == 0 || c.RunID != o.Run):
		return errUnsealed
	case c.RunID == 0:
		return nil
	}
	return o.checkRun(ctx, c.RunID)
}

func (o Origin) takeEarlier(ctx context.Context, c Candidate, take func(checkpoint.Draft, graph.Saved) error) error {
	name, _ := o.Names.Parse(c.Name)
	opened, err := o.open(ctx, c, c.Name, name.Code)
	if err == nil {
		err = o.checkTarget(opened.Manifest)
	}
	saved := graph.Saved{Snapshot: opened.Snapshot}
	if err == nil && opened.Manifest.Partial > 0 {
		saved, err = checkpoint.DecodeSaved(opened.Snapshot)
	}
	if err != nil {
		return err
	}
	return take(opened, saved)
}
