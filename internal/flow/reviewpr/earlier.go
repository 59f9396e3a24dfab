package reviewpr

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/graph"
)

// maxEarlier bounds how many checkpoints are fetched for what they paid.
const maxEarlier = 20

// errUnsealed is an earlier run's checkpoint in a job that cannot tell who wrote it.
var errUnsealed = errors.New("it is of another run, and without trust: seal or encrypt nothing vouches for it")

// Earlier adds to paid what the candidates, drafts and partial checkpoints alike,
// have for this pull request and instance, and returns what was left out and why:
// none of it ends a run. Run is the run under way, thread what it reviews; Name,
// Shown, Settings and PullNow are not read. The first 20 candidates count.
//
// What this run stored itself passes checks 1 to 4. Anything else needs a seal
// besides: who can plant a result can make a file look clean.
func (r Resume) Earlier(ctx context.Context, paid *Paid, thread string) []error {
	var left []error
	for _, c := range r.Candidates[:min(len(r.Candidates), maxEarlier)] {
		saved, err := r.earlier(ctx, c)
		if err != nil {
			left = append(left, fmt.Errorf("earlier results in %.100q: %w", c.Found.Name, err))
			continue
		}
		paid.Add(saved, thread)
	}
	return left
}

func (r Resume) earlier(ctx context.Context, c Candidate) (graph.Saved, error) {
	name, ok := checkpoint.ParseName(c.Found.Name)
	if !ok || name.Pull != r.Ref.Number || name.Instance != r.Instance {
		return graph.Saved{}, errors.New("it is none of this pull request")
	}
	r.Name, r.Shown = c.Found.Name, name.Code
	by := r.Run
	if r.sealed() {
		by = 0
	} else if by == 0 || c.Run != by {
		return graph.Saved{}, errUnsealed
	}
	o, err := r.open(ctx, c, by)
	if err != nil {
		return graph.Saved{}, err
	}
	if err := checkpoint.CheckTarget(o.Manifest, r.RepoID, r.Ref, r.Instance); err != nil {
		return graph.Saved{}, err
	}
	if o.Manifest.Partial == 0 {
		return graph.Saved{Snapshot: o.Snapshot}, nil
	}
	return checkpoint.DecodeSaved(o.Snapshot)
}

// sealed reports whether a seal is demanded of what is opened.
func (r Resume) sealed() bool {
	return r.Protection.Check() == nil && r.Protection.Trust != "" && r.Protection.Trust != checkpoint.TrustDigest
}
