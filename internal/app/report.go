package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wire"
)

// The outcomes that are no ends of the graph.
const (
	paused  = reviewpr.Paused
	kept    = reviewpr.Kept
	refused = "REFUSED"
	expired = "EXPIRED"
)

// report is what a run came to; its JSON form is that of --json.
type report struct {
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

	place    string // where the review stands: ReviewURL, a file, or the screen
	state    reviewpr.State
	packed   checkpoint.Draft
	retained time.Time     // when the artifact is deleted; zero where not told
	withdrew string        // code of the draft that this one replaces
	failed   error         // what comes after a decision: fail-on is reached, the SARIF file cannot be written
	before   cost.MicroUSD // what the draft had cost before this run revised it
	changes  []string      // since the draft was made, without mattering
}

// reportOf describes a thread as it stands. Of a parked one it makes the
// checkpoint; of a decided one the digest is in the decision.
func reportOf(ctx context.Context, flow *graph.Flow[reviewpr.State], store graph.Store, thread string,
	p checkpoint.Protection) (report, error) {
	r, err := described(ctx, flow, thread)
	if err != nil || !r.parked() {
		return r, err
	}
	if r.packed, err = reviewpr.Pack(ctx, flow, store, thread, p); err != nil {
		return report{}, err
	}
	return r.named(r.packed.Digest), nil
}

// described is the report of a thread without its checkpoint.
func described(ctx context.Context, flow *graph.Flow[reviewpr.State], thread string) (report, error) {
	view, err := flow.Inspect(ctx, thread)
	if err == nil {
		err = checkShown(view)
	}
	if err != nil {
		return report{}, err
	}
	s := view.State
	review := s.Review()
	r := report{
		Outcome: outcomeOf(view), Thread: s.Draft.Thread, Head: s.Draft.Head, DiffDigest: s.Draft.DiffDigest,
		Partial: review.Partial, Findings: review.Findings, Filtered: review.Filtered, Flags: review.Flags,
		Files: bare(review.Files),
		Usage: s.Usage, place: s.ReviewURL, Message: s.Reason, state: s,
	}
	if r.Body, _ = post.Rendered(review); s.Pull == nil {
		r.Body = localBody(s)
	}
	if s.Pull != nil {
		r.ReviewURL = s.ReviewURL
	}
	if s.Decision != nil {
		return r.named(s.Decision.Digest), nil
	}
	return r, nil
}

// named adds what the checkpoint's digest gives.
func (r report) named(digest string) report {
	r.Digest, r.Code = digest, checkpoint.Code(digest)
	if p := r.state.Pull; p != nil {
		r.Artifact = handoff.ArtifactName(p.Number, r.state.Draft.Instance, r.Code)
	}
	return r
}

// checkShown refuses a parked draft that is not what its gate asks about: it was
// edited where it is stored, or this version renders it otherwise (P2).
func checkShown(view graph.View[reviewpr.State]) error {
	for _, p := range view.Pending {
		var asked gate.Ask
		s := view.State
		now := gate.NewAsk(s.Draft.Thread, s.Draft.DiffDigest, finding.Kept(s.Comments), s.Shown())
		if err := json.Unmarshal(p.Ask, &asked); err != nil || asked.Shown != now.Shown {
			if s.Draft.ToolVersion != wire.Version() {
				return problem.Refuse(3, fmt.Sprintf("this version shows the draft otherwise than %.40q did, "+
					"nothing was posted", s.Draft.ToolVersion),
					"decide with the version that drafted, or draft anew: what was read is not paid again where it "+
						"is believed", problem.At(s.Draft.Thread))
			}
			return problem.Refuse(3, "the stored draft is not the one that was shown",
				"review again, or decide with the version that drafted", problem.At(s.Draft.Thread))
		}
	}
	return nil
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

// bare leaves out of each file's result what stands elsewhere in the report.
func bare(files []finding.FileReview) []finding.FileReview {
	out := make([]finding.FileReview, len(files))
	for i, f := range files {
		out[i] = finding.FileReview{Path: f.Path, State: f.State, Reason: f.Reason, Claim: f.Claim}
	}
	return out
}

// parked reports whether the draft waits for a decision.
func (r report) parked() bool { return r.Outcome == paused || r.Outcome == kept }

// print writes the report as one JSON object, in which no list is null.
func (r report) print(w io.Writer) error {
	r.Findings = append([]finding.Finding{}, r.Findings...)
	r.Filtered = append([]finding.Finding{}, r.Filtered...)
	r.Flags = append([]finding.Flag{}, r.Flags...)
	r.Files = append([]finding.FileReview{}, r.Files...)
	return printJSON(w, r)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// outputs are the action's: numbers, enums, digests and addresses built by us.
func (r report) outputs(run int64) map[string]string {
	return map[string]string{
		"outcome": r.Outcome, "thread-id": r.Thread, "checkpoint-digest": r.Digest, "artifact-name": r.Artifact,
		"code":   r.Code,
		"run-id": strconv.FormatInt(run, 10), "findings": strconv.Itoa(len(r.Findings)),
		"blockers": strconv.Itoa(finding.Count(r.Findings, finding.Blocker)),
		"partial":  strconv.FormatBool(r.Partial), "cost-usd": fmt.Sprintf("%.6f", float64(r.Usage.Cost)/1e6),
		"review-url":  r.ReviewURL,
		"environment": r.state.Draft.Environment,
	}
}

// explain says what lay behind files that failed: of a run that did in its message,
// else as a warning. The cause may name an address, so it is not in the review.
func (r *report) explain(by *wire.Reviewer, warn func(string)) {
	path, cause := by.Failure()
	switch {
	case cause == nil:
	case r.state.OutOfBudget():
		r.Message = "no file was reviewed: " + explain(cause)
		if by.Account.Why != "" {
			r.Message += "; " + by.Account.Why
		}
	case errors.Is(cause, cost.ErrSpent): // the files say so
	case r.Outcome == reviewpr.Failed:
		r.Message += ": " + explain(cause)
	default:
		warn(cmp.Or(guard.Line(path, maxLine), "a file") + " could not be reviewed: " + explain(cause))
	}
}

// outcomeOfError is the outcome of a run that an error ended. A configuration
// that cannot work has none.
func outcomeOfError(err error) string {
	switch whole, ok := errors.AsType[*problem.Error](err); {
	case ok && whole.Expired:
		return expired
	case exitCode(err) == exitRefused:
		return refused
	case exitCode(err) == exitUsage:
		return ""
	}
	return reviewpr.Failed
}

// failure is the error of a run that failed. It was shown with the outcome.
func failure(r report) error {
	switch {
	case r.failed != nil:
		return r.failed
	case r.Outcome != reviewpr.Failed:
		return nil
	case r.state.OutOfBudget():
		return reported{problem.As(problem.Spent, errors.New(r.Message), "")}
	}
	return reported{errors.New(r.Message)}
}

// revising reports whether a revision was asked for that has not come to its draft.
func (r report) revising() bool {
	d := r.state.Decision
	asked := d != nil && d.Decision == decision.Revise || d == nil && len(r.state.Rounds) > 0
	return asked && r.Outcome == reviewpr.Failed && r.state.Reason == ""
}

// asked is the feedback of the last revision.
func (r report) asked() string {
	if d := r.state.Decision; d != nil {
		return d.Feedback
	}
	return r.state.Rounds[len(r.state.Rounds)-1].Feedback
}

// localBody is without the limit that GitHub sets: what the body has no room for
// follows it.
func localBody(s reviewpr.State) string {
	return strings.TrimRight(render.File(s.Review().InBody()), "\n")
}
