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
func (steps Steps) review(f fields, cut *shortened,
	spans *fanOut, full *inFull) func(context.Context, State, task) (graph.Update, error) {
	return func(ctx context.Context, s State, t task) (_ graph.Update, err error) {
		if steps.Reviewer == nil {
			return graph.Update{}, errors.New("this job has no reviewer")
		}
		steps.remember(ctx, s, full)
		file, _ := s.Draft.triage().Part(s.Files[t.File])
		ctx, span := trace.File(spans.under(ctx), file.Path)
		defer ended(span, &err)
		key := steps.Reviewer.Key(file)
		if r, ok := steps.Paid.result(key, file.Path); ok {
			return graph.Updates(f.fileReviews.Set([]finding.FileReview{s.claimed(t, r)}), f.usage.Set(r.Usage),
				f.reused.Set(1)), nil
		}
		r, err := steps.Reviewer.Review(ctx, file)
		if err != nil {
			return graph.Update{}, cut.note(t, r.Usage, err)
		}
		if r.Key = key; !r.Reusable() {
			r.Key = ""
		}
		return graph.Updates(f.fileReviews.Set([]finding.FileReview{s.claimed(t, r)}), f.usage.Set(r.Usage)), nil
	}
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
func (steps Steps) failed(f fields) func(task, error) (graph.Update, error) {
	return func(t task, cause error) (graph.Update, error) {
		steps.tell(t, cause)
		return f.fileReviews.Set([]finding.FileReview{{Path: t.Path, State: finding.Failed,
			Reason: "the reviewer itself failed on it"}}), nil
	}
}

// tell hands on why the reviewer itself failed on a file.
func (steps Steps) tell(t task, cause error) {
	if steps.Failed != nil {
		steps.Failed(t.Path, cause)
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
	c.paid[t.Path] = used
	if errors.Is(err, cost.ErrSpent) {
		c.spent = true
		return graph.OutOfBudget(err)
	}
	return err
}

// unreached is the result of a file that was not reviewed in time.
func (c *shortened) unreached(f fields) func(task) graph.Update {
	return func(t task) graph.Update {
		c.mu.Lock()
		defer c.mu.Unlock()
		r := finding.FileReview{Path: t.Path, State: finding.NotReached, Reason: "the time was up",
			Usage: c.paid[t.Path]}
		if c.spent {
			r.Reason = finding.OverBudget
		}
		return graph.Updates(f.fileReviews.Set([]finding.FileReview{r}), f.usage.Set(r.Usage))
	}
}
