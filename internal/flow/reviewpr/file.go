package reviewpr

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/rule"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/triage"
)

// The nodes, but for those of a revision (revise.go). Records of some are read by others:
// ingest's say what a run is about, review's and overview's what was paid. StatusOf has a
// status for each.
const (
	ingestNode    = "ingest"
	triageNode    = "triage"
	contextNode   = "context"
	reviewNode    = "review"
	overviewNode  = "overview"
	aggregateNode = "aggregate"
	gateNode      = "gate"
	postNode      = "post"
)

// task is the payload of one file's review.
type task struct {
	File int    `json:"file"` // index into the state's files
	Path string `json:"path"`
}

// review takes a file's result from an earlier run, or asks for it.
func (r *run) review(ctx context.Context, s State, t task) (_ graph.Update, err error) {
	if r.Reviewer == nil {
		return graph.Update{}, errors.New("this job has no reviewer")
	}
	r.remember(ctx, s)
	file, _ := s.Draft.triage().Part(s.Files[t.File])
	ctx, span := trace.File(r.reviews.under(ctx), file.Path)
	defer ended(span, &err)
	key := r.Reviewer.Key(file)
	if had, ok := r.Paid.result(key, file.Path); ok {
		return graph.Updates(r.result(s.claimed(t, had), had.Usage), r.graph.Kept(State{Reused: 1}, "reused")), nil
	}
	got, err := r.Reviewer.Review(ctx, file)
	if err != nil {
		return graph.Update{}, r.cut.note(t, got.Usage, err)
	}
	if got.Key = key; !got.Reusable() {
		got.Key = ""
	}
	return r.result(s.claimed(t, got), got.Usage), nil
}

// claimed notes in a file's result what the file claims by itself, and that it was
// read in part where it was: for its size, or since rules read no long lines.
func (s State) claimed(t task, r finding.FileReview) finding.FileReview {
	whole := s.Files[t.File]
	part, claim := s.Draft.triage().Part(whole)
	r.Claim = claim
	if claim == "" || r.State != finding.Reviewed {
		return r
	}
	if part.Patch != whole.Patch {
		r.State, r.Reason = finding.Partly, finding.Reason(fmt.Sprintf("%d KB of its changes were read",
			triage.MaxClaimed>>10))
	} else if s.Draft.Rules && rule.Overlong(part.Patch) {
		r.State, r.Reason = finding.Partly, "rules read no line of that length"
	}
	return r
}

// failed lets one file's failure cost that file alone (P6). Reviewers report
// their own failures; what arrives here is a defect in one of them.
func (r *run) failed(t task, cause error) (graph.Update, error) {
	r.tell(t, cause)
	return r.result(finding.FileReview{Path: t.Path, State: finding.Failed,
		Reason: "the reviewer itself failed on it"}, cost.Usage{}), nil
}

// result adds what became of a file, and what that cost.
func (r *run) result(f finding.FileReview, used cost.Usage) graph.Update {
	return r.graph.Kept(State{FileReviews: []finding.FileReview{f}, Usage: used}, reviewsField, usageField)
}

// tell hands on why the reviewer itself failed on a file.
func (r *run) tell(t task, cause error) {
	if r.Failed != nil {
		r.Failed(t.Path, cause)
	}
}

// shortened knows of a run that time or budget ended (G33): which of the two, and
// what files that are given up have cost.
type shortened struct {
	mu    sync.Mutex
	spent bool
	paid  map[string]cost.Usage // by path
}

func (c *shortened) note(t task, used cost.Usage, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paid == nil {
		c.paid = map[string]cost.Usage{}
	}
	c.paid[t.Path] = used
	if errors.Is(err, cost.ErrSpent) {
		c.spent = true
		return graph.OutOfBudget(err)
	}
	return err
}

// of is what a file that is given up has cost, and whether money ended the run.
func (c *shortened) of(t task) (cost.Usage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paid[t.Path], c.spent
}

// unreached is the result of a file that was not reviewed in time.
func (r *run) unreached(t task) graph.Update {
	used, spent := r.cut.of(t)
	left := finding.FileReview{Path: t.Path, State: finding.NotReached, Reason: "the time was up", Usage: used}
	if spent {
		left.Reason = finding.OverBudget
	}
	return r.result(left, used)
}
