package reviewpr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/pull"
)

// ErrNotParked says that a thread waits for no decision.
var ErrNotParked = errors.New("the thread waits for no decision")

// Pack makes the checkpoint of a parked thread: a pure function of what the
// store holds, so that every machine gives the draft the same digest.
func Pack(ctx context.Context, flow *graph.Flow[State], store graph.Store, thread string) (checkpoint.Packed, error) {
	view, err := flow.Inspect(ctx, thread)
	if err != nil {
		return checkpoint.Packed{}, fmt.Errorf("reading the draft: %w", err)
	}
	if len(view.Pending) != 1 {
		return checkpoint.Packed{}, ErrNotParked
	}
	saved, err := store.Load(ctx, thread)
	if err != nil {
		return checkpoint.Packed{}, fmt.Errorf("reading the draft: %w", err)
	}
	return checkpoint.Pack(manifest(view.State, flow, view.Pending[0].ID), saved.Snapshot, view.State.Shown())
}

func manifest(s State, flow *graph.Flow[State], gateID string) checkpoint.Manifest {
	m := checkpoint.Manifest{
		Thread: s.Draft.Thread, Instance: s.Draft.Instance, HeadSHA: s.Draft.Head, DiffDigest: s.Draft.DiffDigest,
		RunID: s.Draft.RunID, RunAttempt: s.Draft.RunAttempt, WorkflowRef: s.Draft.WorkflowRef, Approvals: s.Draft.Approvals,
		CreatedAt: s.Draft.CreatedAt, ExpiresAt: s.Draft.ExpiresAt, ToolVersion: s.Draft.ToolVersion,
		Graph:             checkpoint.Graph{Name: flow.Name(), Version: flow.Version(), Fingerprint: flow.Fingerprint()},
		ConfigFingerprint: s.Draft.Config.Fingerprint(), PromptFingerprint: s.Draft.Prompt, GateID: gateID,
	}
	if s.Pull != nil {
		m.Repository, m.RepositoryID, m.Pull, m.BaseSHA = s.Pull.FullName(), s.Pull.RepoID, s.Pull.Number, s.Pull.BaseSHA
	}
	return m
}

// Candidate is an artifact that may be the draft. Run is the run that made it.
type Candidate struct {
	Found checkpoint.Found
	Run   int64
	Fetch func(context.Context) ([]byte, error)
}

// Resume is what a draft is checked against before it is decided.
type Resume struct {
	Name       string // of the artifact
	Shown      string // digest or code that came by a separate channel
	Ref        pull.Ref
	RepoID     int64
	Instance   string
	Workflow   string // the file whose runs may have made the draft
	Branch     string // the default branch
	Run        int64  // the run that must have made it; 0 for any of the workflow
	Candidates []Candidate
	RunFacts   func(ctx context.Context, run int64) (checkpoint.RunFacts, error)
	PullNow    func(ctx context.Context) (checkpoint.PullNow, error)
	Now        time.Time
}

// draftEvents are the events whose runs may make drafts.
func draftEvents() []string {
	return []string{"pull_request_target", "pull_request", "workflow_dispatch", "issue_comment", "schedule"}
}

// Verify runs resume checks 1 to 10, in order, and returns the draft that
// passed them all. Of several artifacts of one name the newest that passes
// checks 1 to 4 is taken: equal names have equal content, so what differs is
// who made them. Check 5 needs a key and check 8 settings, and neither exists
// yet; 11 to 13 follow with the decision.
func (r Resume) Verify(ctx context.Context) (checkpoint.Opened, error) {
	opened, err := r.first(ctx)
	if err != nil {
		return checkpoint.Opened{}, err
	}
	m := opened.Manifest
	if err := checkpoint.CheckFormat(m, Name, []int{Version}); err != nil {
		return checkpoint.Opened{}, err
	}
	if err := checkpoint.CheckTarget(m, r.RepoID, r.Ref, r.Instance); err != nil {
		return checkpoint.Opened{}, err
	}
	now, err := r.PullNow(ctx)
	if err != nil {
		return checkpoint.Opened{}, err
	}
	if err := checkpoint.CheckHead(m, opened.Code, now); err != nil {
		return checkpoint.Opened{}, err
	}
	return opened, checkpoint.CheckExpiry(m, r.Now)
}

func (r Resume) first(ctx context.Context) (checkpoint.Opened, error) {
	if len(r.Candidates) == 0 {
		return checkpoint.Opened{}, checkpoint.CheckFound(r.Name, nil, r.RepoID, r.Now)
	}
	var refusals []error
	for _, c := range r.Candidates {
		opened, err := r.open(ctx, c)
		if err == nil {
			return opened, nil
		}
		if !errors.As(err, new(*checkpoint.Refusal)) {
			return checkpoint.Opened{}, err
		}
		refusals = append(refusals, err)
	}
	return checkpoint.Opened{}, refusals[0]
}

// open is checks 1 to 4 for one artifact.
func (r Resume) open(ctx context.Context, c Candidate) (checkpoint.Opened, error) {
	if err := checkpoint.CheckFound(r.Name, &c.Found, r.RepoID, r.Now); err != nil {
		return checkpoint.Opened{}, err
	}
	zip, err := c.Fetch(ctx)
	if err != nil {
		return checkpoint.Opened{}, err
	}
	if err := checkpoint.CheckDigest(zip, r.Shown); err != nil {
		return checkpoint.Opened{}, err
	}
	opened, err := checkpoint.Open(zip)
	if err != nil {
		return checkpoint.Opened{}, err
	}
	facts, err := r.RunFacts(ctx, c.Run)
	if err != nil {
		return checkpoint.Opened{}, err
	}
	want := checkpoint.RunWant{ID: opened.Manifest.RunID, Path: r.Workflow, Branch: r.Branch, Events: draftEvents(), RepositoryID: r.RepoID}
	if r.Run != 0 && facts.ID == want.ID {
		want.ID = r.Run // the draft names its run, and that is the one it is to be from
	}
	return opened, checkpoint.CheckRun(facts, want)
}
