package driver

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
)

// Proposal is what a run of a ticket came to; its JSON form is that of implement --json.
type Proposal struct {
	Outcome     string              `json:"outcome"`
	Status      string              `json:"status"` // the node
	Thread      string              `json:"thread_id"`
	Code        string              `json:"code"`
	Digest      string              `json:"checkpoint_digest"`
	Ticket      proposedTicket      `json:"ticket"`
	RootCause   string              `json:"root_cause"`
	Modules     []change.Module     `json:"modules"`
	Chunks      []change.Chunk      `json:"chunks"`
	Changes     []proposedFile      `json:"changes"`
	Tests       []proposedFile      `json:"tests"`
	Warnings    []string            `json:"warnings"`
	Findings    []finding.Finding   `json:"findings"`
	Criteria    []finding.Criterion `json:"criteria"`
	Check       *change.Check       `json:"check"` // null where no command was asked for
	Diff        string              `json:"diff"`
	Iteration   int                 `json:"iteration"`
	Branch      string              `json:"branch"`
	Commit      string              `json:"commit"`
	PullRequest string              `json:"pull_request_url"`
	Usage       priced              `json:"usage"`
	Error       string              `json:"error"` // why the run failed, or what ended it; else empty

	State  ticketpr.State   `json:"-"`
	Packed checkpoint.Draft `json:"-"` // of one that waits
}

type proposedTicket struct {
	Key        string `json:"key"`
	Type       string `json:"type"`
	Summary    string `json:"summary"`
	Complexity string `json:"complexity"`
}

type proposedFile struct {
	Path        string `json:"path"`
	Description string `json:"description"`
	New         bool   `json:"new"`
	Added       int    `json:"added"`
	Removed     int    `json:"removed"`
}

// Proposed describes a thread of a ticket as it stands. Of a parked one it makes the
// checkpoint.
func (d Driver) Proposed(ctx context.Context) (Proposal, error) {
	flow, err := ticketpr.New(ticketpr.Steps{}, d.Store, d.options()...)
	if err != nil {
		return Proposal{}, err
	}
	view, err := flow.Inspect(ctx, d.Thread)
	if err == nil {
		err = ticketpr.Intact(view)
	}
	if err != nil {
		return Proposal{}, err
	}
	s, kept := view.State, view.State.Kept()
	p := Proposal{
		Outcome: ticketpr.Failed, Status: ticketpr.Status(view), Thread: s.Facts.Thread, RootCause: s.RootCause,
		Ticket:  proposedTicket{s.Ticket.Key, s.Class.Type, s.Ticket.Summary, s.Class.Complexity},
		Modules: s.Scope.Modules, Chunks: slices.Clone(s.Chunks),
		Changes: listed(kept.Changes), Tests: listed(kept.Tests),
		Warnings: slices.Concat(s.Warnings(), s.Notes()), Findings: s.Seen.Findings,
		Criteria: s.Seen.Criteria, Check: s.Check,
		Diff: change.Unified(kept.Proposed()), Iteration: s.Iteration,
		Branch: s.Applied.Branch, Commit: s.Applied.Commit,
		PullRequest: s.PullRequest, Usage: price(s.Usage), Error: s.Error, State: s,
	}
	for i := range p.Chunks {
		p.Chunks[i].Text = ""
	}
	switch {
	case view.Status == graph.Ended:
		p.Outcome = view.End
	case view.Status == graph.Paused:
		p.Outcome = ticketpr.Paused
		p.Packed, err = ticketpr.Subject().Pack(ctx, flow, d.Store, d.Thread, d.Protect)
		p.Digest, p.Code = p.Packed.Digest, p.Packed.Code
	}
	if s.Decision != nil {
		p.Digest, p.Code = s.Decision.Digest, s.Decision.Code
	}
	return p, err
}

func listed(files []change.File) (all []proposedFile) {
	for _, f := range files {
		all = append(all, proposedFile{f.Path, f.Description, f.New(), f.Added, f.Removed})
	}
	return all
}

// Print writes the proposal as one JSON object, in which no list is null.
func (p Proposal) Print(w io.Writer) error {
	p.Changes, p.Tests = append([]proposedFile{}, p.Changes...), append([]proposedFile{}, p.Tests...)
	p.Modules = append([]change.Module{}, p.Modules...)
	p.Chunks = append([]change.Chunk{}, p.Chunks...)
	p.Warnings = append([]string{}, p.Warnings...)
	p.Criteria = printedCriteria(p.Criteria)
	return PrintJSON(w, struct {
		Proposal
		Findings []printedFinding `json:"findings"`
	}{p, printedFindings(p.Findings)})
}

// Failure is the error of a run that failed. It was shown with the outcome.
func (p Proposal) Failure() error {
	if p.Outcome != ticketpr.Failed {
		return nil
	}
	return Reported{Err: errors.New(p.Error)}
}
