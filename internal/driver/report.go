package driver

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wire"
)

// The outcomes that are not ends of the graph.
const (
	Paused  = reviewpr.Paused
	Kept    = reviewpr.Kept
	Refused = "REFUSED"
	Expired = "EXPIRED"
)

// Report is the result of a run; its JSON form is that of --json.
type Report struct {
	Outcome    string               `json:"outcome"`
	Thread     string               `json:"thread_id"`
	Code       string               `json:"code"`
	Digest     string               `json:"checkpoint_digest"`
	Artifact   string               `json:"artifact_name"`
	Head       string               `json:"head_sha"`
	DiffDigest string               `json:"diff_digest"`
	Partial    bool                 `json:"partial"`
	Findings   []finding.Finding    `json:"findings"`
	Filtered   []finding.Finding    `json:"filtered"`
	Flags      []finding.Flag       `json:"flags"`
	Files      []finding.FileReview `json:"files"`
	Usage      cost.Usage           `json:"usage"`
	Body       string               `json:"body"`
	ReviewURL  string               `json:"review_url"`
	Message    string               `json:"message"`
	Status     reviewpr.Status      `json:"status"`
	Statuses   []reviewpr.Status    `json:"statuses,omitempty"` // of a running thread with two parallel statuses
	Error      string               `json:"error"`              // why a run failed; otherwise empty
	Overview   overview             `json:"overview"`
	Criteria   []finding.Criterion  `json:"criteria"`
	Unasked    []finding.Unasked    `json:"unasked"`
	Missing    []string             `json:"missing"`            // requested context that could not be read, in lines
	Handover   string               `json:"handover,omitempty"` // instructions for a coding agent, if requested

	Standing []finding.Earlier `json:"-"` // earlier posted findings that are still open
	Closed   map[string]bool   `json:"-"` // fingerprints of findings closed since the draft was made
	Read     bool              `json:"-"` // what earlier reviews posted was read
	Place    string            `json:"-"` // location of the review: ReviewURL, a file, or the screen
	State    reviewpr.State    `json:"-"`
	Packed   checkpoint.Draft  `json:"-"`
	Retained time.Time         `json:"-"` // when the artifact is deleted; zero if unknown
	Withdrew string            `json:"-"` // code of the draft that this one replaces
	Failed   error             `json:"-"` // after a decision: fail-on was reached, or SARIF not written
	Before   cost.MicroUSD     `json:"-"` // cost of the draft before this run revised it
	Changes  []string          `json:"-"` // changes since the draft that do not matter
	Running  bool              `json:"-"` // it is running, or was interrupted

	Proposed    []change.File `json:"-"` // files of a ticket's draft
	Branch      string        `json:"-"` // for an applied ticket
	PullRequest string        `json:"-"` // its URL
	Form        string        `json:"-"` // URL of the filled-in form, if a person is to open it
	Bot         bool          `json:"-"` // this job's token opened it, and is a bot's
	Page        string        `json:"-"` // job summary of a ticket's waiting draft
}

// overview is a model's summary of the change; null without a model.
type overview struct {
	Text *string `json:"text"`
}

// ReportOf describes the current state of a thread. For a parked thread it packs
// the checkpoint; for a decided one the digest comes from the decision.
func ReportOf(ctx context.Context, flow *graph.Flow[reviewpr.State], store graph.Store, thread string,
	p checkpoint.Protection) (Report, error) {
	r, err := Describe(ctx, flow, thread)
	if err != nil || !r.Parked() {
		return r, err
	}
	if r.Packed, err = reviewpr.Subject().Pack(ctx, flow, store, thread, p); err != nil {
		return Report{}, err
	}
	return r.WithArtifact(r.Packed.Digest), nil
}

// Describe returns the report of a thread without its checkpoint.
func Describe(ctx context.Context, flow *graph.Flow[reviewpr.State], thread string) (Report, error) {
	view, err := flow.Inspect(ctx, thread)
	if err == nil {
		err = reviewpr.Intact(view)
	}
	if err != nil {
		return Report{}, err
	}
	s := view.State
	review := s.Review()
	statuses := reviewpr.StatusesIn(view)
	r := Report{
		Outcome: outcomeOf(view), Thread: cmp.Or(s.Draft.Thread, thread),
		Head: s.Draft.Subject.Head, DiffDigest: s.Draft.Subject.Digest,
		Partial: review.Partial, Findings: review.Findings, Filtered: review.Filtered, Flags: review.Flags,
		Usage: s.Usage, Place: s.ReviewURL, Message: s.Reason, State: s,
		Status: statuses[0], Criteria: review.Asked.Criteria, Unasked: review.Asked.Unasked,
		Missing:  slices.Concat(s.Draft.Linters.Missing, review.Asked.Missing),
		Standing: finding.Standing(review.Earlier), Read: !s.Draft.Unread,
		Running: view.Status == graph.Running, Files: make([]finding.FileReview, len(review.Files)),
	}
	for i, f := range review.Files { // the report holds the rest elsewhere
		r.Files[i] = finding.FileReview{Path: f.Path, State: f.State, Reason: f.Reason, Claim: f.Claim, Pack: f.Pack}
	}
	if len(statuses) > 1 {
		r.Statuses = statuses
	}
	if r.Outcome == reviewpr.Failed {
		r.Error = s.Reason
	}
	if review.Overview != "" {
		r.Overview.Text = &review.Overview
	}
	if s.Pull == nil {
		r.Body = LocalBody(s)
	} else {
		r.Body, _ = post.Rendered(review)
		r.ReviewURL = s.ReviewURL
	}
	if s.Decision != nil {
		return r.WithArtifact(s.Decision.Digest), nil
	}
	return r, nil
}

func outcomeOf(view graph.View[reviewpr.State]) string {
	switch view.Status {
	case graph.Ended:
		return view.End
	case graph.Paused:
		return view.State.Outcome()
	}
	return reviewpr.Failed
}

// WithArtifact returns the report with the digest, code and artifact name of its checkpoint.
func (r Report) WithArtifact(digest string) Report {
	r.Digest, r.Code = digest, checkpoint.Code(digest)
	if p := r.State.Pull; p != nil {
		r.Artifact = reviewpr.Names.Draft(reviewpr.PullRequest(p.Ref, p.RepoID, r.State.Draft.Subject.Instance), digest)
	}
	return r
}

// UnderWay returns the status of a thread that is running or was interrupted, in
// words; "" for all others.
func (r Report) UnderWay() string {
	if !r.Running {
		return ""
	}
	return Statuses(slices.Compact(append([]reviewpr.Status{r.Status}, r.Statuses...))) // the first may be in both
}

// Statuses describes the statuses of a run.
func Statuses(all []reviewpr.Status) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = strings.ReplaceAll(string(s), "_", " ")
	}
	return strings.Join(words, ", ")
}

// Parked reports whether the draft waits for a decision.
func (r Report) Parked() bool { return r.Outcome == Paused || r.Outcome == Kept }

// explain adds the cause of failed files to the message of a failed run, or else
// warns about it. The cause may contain an address, so it is not part of the review.
func (r *Report) explain(by *wire.Reviewer, warn func(string)) {
	met := by.Trouble()
	for _, note := range met.Notes {
		warn(note)
	}
	switch cause, held := met.Cause, met.Held; {
	case cause == nil && held != "" && r.Partial && r.Outcome == reviewpr.Failed:
		r.Message += "; the model was waited for in vain: " + held
	case cause == nil && held != "" && r.Partial:
		warn("the model was waited for in vain, so files were not reached in time: " + held)
	case cause == nil && r.Partial && r.Outcome == reviewpr.Failed:
		r.Message += "; raise max-time"
	case cause == nil:
	case r.State.OutOfBudget():
		r.Message = strings.TrimSuffix("no file was reviewed: "+Explain(cause)+"; "+by.Account.Why, "; ")
	case errors.Is(cause, cost.ErrSpent): // the files report it
	case r.Outcome == reviewpr.Failed:
		r.Message += ": " + Explain(cause)
		r.Error = r.Message
	default:
		warn(cmp.Or(guard.Line(met.Path, MaxLine), "a file") + " could not be reviewed: " + Explain(cause))
	}
}

// OutcomeOf returns the outcome of a run that ended with an error; "" for a
// configuration error.
func OutcomeOf(err error) string {
	switch whole, ok := errors.AsType[*problem.Error](err); {
	case ok && whole.Expired:
		return Expired
	case problem.KindOf(inUserTerms(err)) == problem.Refused:
		return Refused
	case problem.KindOf(inUserTerms(err)) == problem.Misuse:
		return ""
	}
	return reviewpr.Failed
}

// Failure returns the error of a failed run, which was already shown with the outcome.
func Failure(r Report) error {
	switch {
	case r.Failed != nil:
		return r.Failed
	case r.Outcome != reviewpr.Failed:
		return nil
	case r.State.OutOfBudget():
		return Reported{Err: problem.As(problem.Spent, errors.New(r.Message), "")}
	}
	return Reported{Err: errors.New(r.Message)}
}

// Revising reports whether a revision was requested that has not produced its draft.
func (r Report) Revising() bool {
	d := r.State.Decision
	asked := d != nil && d.Decision == decision.Revise || d == nil && len(r.State.Rounds) > 0
	return asked && r.Outcome == reviewpr.Failed && r.State.Reason == ""
}

// Asked returns the feedback of the last revision.
func (r Report) Asked() string {
	if d := r.State.Decision; d != nil {
		return d.Feedback
	}
	return r.State.Rounds[len(r.State.Rounds)-1].Feedback
}

// LocalBody returns the review without GitHub's length limit: what does not fit into the
// body follows it.
func LocalBody(s reviewpr.State) string {
	return strings.TrimRight(render.File(s.Review().InBody()), "\n")
}
