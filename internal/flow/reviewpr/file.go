package reviewpr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/rule"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/triage"
)

// The nodes, except those of a revision (revise.go). Some journal records are read
// elsewhere: ingest's identify the run, review's and overview's hold what was paid for.
// StatusOf has a status for each node.
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

// review returns a file's result from an earlier run, or has the file reviewed.
func (r *run) review(ctx context.Context, s State, t task) (_ graph.Update, err error) {
	if r.Reviewer == nil {
		return graph.Update{}, errors.New("this job has no reviewer")
	}
	r.loadContext(ctx, s)
	r.addReported(s)
	file, _ := s.Draft.triage().Part(s.Files[t.File])
	ctx, span := trace.File(r.reviews.begin(ctx), file.Path)
	defer endSpan(span, &err)
	key := r.Reviewer.Key(file)
	if had, ok := r.Paid.result(key, file.Path); ok {
		return graph.Updates(r.result(s.withClaim(t, had), had.Usage), r.graph.Kept(State{Reused: 1}, "reused")), nil
	}
	got, err := r.Reviewer.Review(ctx, file)
	if err != nil {
		return graph.Update{}, r.cut.record(t, got.Usage, err)
	}
	if got.Key = key; !got.Reusable() {
		got.Key = ""
	}
	return r.result(s.withClaim(t, got), got.Usage), nil
}

// addReported tells the reviewer once what earlier reviews reported.
func (r *run) addReported(s State) {
	r.reminded.Do(func() {
		if r.Remind != nil {
			r.Remind(s.reported)
		}
	})
}

// maxReported is the number of findings of earlier reviews that a file's reviewer is told about.
const maxReported = 30

// reported returns what earlier reviews posted or an approver dropped of a file, or of another one's line that the
// change moved to this new file, in the model's words.
func (s State) reported(file diff.File) (all []finding.Finding) {
	for _, e := range s.Earlier {
		moved := file.Status == diff.Added && e.Quote != "" && strings.Contains(file.Patch, "\n+"+e.Quote) &&
			!slices.ContainsFunc(s.Files, func(f diff.File) bool {
				return f.Path == e.Path && f.Status != diff.Removed
			})
		if (e.Path == file.Path || moved) && !e.Announced && len(all) < maxReported && isUnedited(e, file.OldPath) {
			all = append(all, e.Finding())
		}
	}
	return all
}

// reportedBefore returns what earlier reviews posted or an approver dropped of the change, in the model's words.
func (s State) reportedBefore() (all []finding.Finding) {
	was := map[string]string{}
	for _, f := range s.Files {
		was[f.Path] = f.OldPath
	}
	for _, e := range s.Earlier {
		if !e.Announced && len(all) < 2*maxReported && isUnedited(e, was[e.Path]) {
			all = append(all, e.Finding())
		}
	}
	return all
}

// isUnedited reports whether an earlier finding's fingerprint is made of its title: people can edit a comment.
func isUnedited(e finding.Earlier, oldPath string) bool {
	f := e.Finding()
	for _, f.Path = range []string{e.Path, oldPath} {
		for _, f.Category = range prompt.Categories() {
			if finding.Fingerprint(f) == e.Fingerprint {
				return true
			}
		}
	}
	return false
}

// withClaim adds to a file's result what the file claims to be, and marks the result
// as partial if the file was too large or has lines too long for the rules.
func (s State) withClaim(t task, r finding.FileReview) finding.FileReview {
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

// failedUpdate limits a failure to the file it happened on (P6). Reviewers report their
// own failures; an error that arrives here is a defect in a reviewer.
func (r *run) failedUpdate(t task, cause error) (graph.Update, error) {
	r.reportFailure(t, cause)
	return r.result(finding.FileReview{Path: t.Path, State: finding.Failed,
		Reason: "the reviewer itself failed on it"}, cost.Usage{}), nil
}

// result returns the update that adds a file's result and its cost.
func (r *run) result(f finding.FileReview, used cost.Usage) graph.Update {
	return r.graph.Kept(State{FileReviews: []finding.FileReview{f}, Usage: used}, reviewsField, usageField)
}

// reportFailure reports that the reviewer itself failed on a file.
func (r *run) reportFailure(t task, cause error) {
	if r.Failed != nil {
		r.Failed(t.Path, cause)
	}
}

// cutoff records how time or budget ended a run (G33): which of the two it
// was, and what the files left unfinished have cost.
type cutoff struct {
	mu    sync.Mutex
	spent bool
	paid  map[string]cost.Usage // by path
}

func (c *cutoff) record(t task, used cost.Usage, err error) error {
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

// costOf returns what an unfinished file has cost, and whether the budget ended the run.
func (c *cutoff) costOf(t task) (cost.Usage, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paid[t.Path], c.spent
}

// unreached returns the result of a file that was not reviewed in time.
func (r *run) unreached(t task) graph.Update {
	used, spent := r.cut.costOf(t)
	left := finding.FileReview{Path: t.Path, State: finding.NotReached, Reason: "the time was up", Usage: used}
	if spent {
		left.Reason = finding.OverBudget
	}
	return r.result(left, used)
}
