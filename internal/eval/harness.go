package eval

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/review"
)

// Subject names the change that a public benchmark asks to review.
type Subject struct {
	Repo   string `json:"repo"` // https://github.com/owner/repo
	Number int    `json:"pr_number"`
	Base   string `json:"base"`
	Head   string `json:"head"`
}

// Submission is a review in the form of ReviewBench's agent contract, with one entry per
// finding that would be posted.
type Submission struct {
	Pull     Subject     `json:"pr"`
	Agent    string      `json:"agent"`
	Findings []Submitted `json:"findings"`
}

// Submitted is a finding in a submission. Lines are 1-based and inclusive.
type Submitted struct {
	File      string `json:"file"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Message   string `json:"message"`
	Producer  string `json:"producer"`
}

// Submit reviews a change up to the gate. unread names the files that were not read in full.
// It is an error if nothing could be reviewed, or if nothing was found and files are unread:
// silence would pass for a clean review.
func Submit(ctx context.Context, change ingest.Change, reviewer review.Reviewer, concurrency int, about Subject,
	agent string) (s Submission, unread []string, err error) {
	flow, err := reviewpr.New(reviewpr.Steps{
		Ingest:   func(context.Context) (ingest.Change, error) { return change, nil },
		Reviewer: reviewer, Concurrency: concurrency,
	}, graph.NewMemory())
	if err != nil {
		return Submission{}, nil, err
	}
	got, err := flow.Run(ctx, change.Thread, reviewpr.State{Draft: reviewpr.Draft{GateFrom: finding.Nit}})
	if err != nil {
		return Submission{}, nil, fmt.Errorf("reviewing: %w", err)
	}
	s, unread = Submission{Pull: about, Agent: agent, Findings: []Submitted{}}, notRead(got.State)
	patches := patchesOf(got.State)
	for _, f := range postedFindings(got.State) {
		start, end := atHead(f, patches)
		s.Findings = append(s.Findings, Submitted{File: f.Path, StartLine: max(start, 1), EndLine: max(end, 1),
			Message: f.Title + ". " + f.Body, Producer: agent})
	}
	switch {
	case got.End == reviewpr.Failed:
		err = fmt.Errorf("reviewing: %s", got.State.Reason)
	case len(s.Findings) == 0 && len(unread) > 0:
		err = fmt.Errorf("reviewing: nothing was found, and %s not read in full", strings.Join(unread, ", "))
	}
	return s, unread, err
}
