package finding

import "github.com/org/pr-review-action/internal/cost"

// State says what happened to a changed file.
type State string

// The states of a changed file.
const (
	Reviewed   State = "reviewed"
	Partly     State = "partly" // some of its findings may be missing
	Skipped    State = "skipped"
	Failed     State = "failed"
	NotReached State = "not_reached"
)

// Reason says why a file was not reviewed in full.
type Reason string

// The reasons that triage gives for leaving a file out. Other states carry a reason in plain
// words.
const (
	Deleted   Reason = "deleted"
	Renamed   Reason = "renamed"
	Binary    Reason = "binary"
	Lockfile  Reason = "lockfile"
	Generated Reason = "generated"
	Vendored  Reason = "vendored"
	Minified  Reason = "minified"
	Asset     Reason = "asset"
	TooLarge  Reason = "too_large"
	Ignored   Reason = "ignored"
	NoContent Reason = "no_content"
	Submodule Reason = "submodule" // another commit of another repository, which is not in the change
	Mode      Reason = "mode"      // only its mode changed
)

// OverBudget is the reason of files that were left out because of the run's cost cap.
const OverBudget Reason = "the budget was spent"

// FileReview is the result for one changed file. Path is not escaped. Key identifies reviewer and
// content, so that an unchanged file need not be paid for again; it is empty if nothing was paid.
type FileReview struct {
	Path   string `json:"path"`
	Key    string `json:"key,omitempty"`
	State  State  `json:"state"`
	Reason Reason `json:"reason,omitempty"`
	// what the change claims the file to be, if the base does not confirm it
	Claim    Reason     `json:"claim,omitempty"`
	Findings []Finding  `json:"findings,omitempty"`
	Usage    cost.Usage `json:"usage,omitzero"`
	// the label that a classifying model gave the change: security, docs, …
	Label string `json:"label,omitempty"`
	Calls []Call `json:"calls,omitempty"` // the model calls that led to the result
	Moved int    `json:"moved,omitempty"` // findings moved to the line that they quote
	// another run may find more: the budget or the server failed
	Incomplete     bool `json:"incomplete,omitempty"`
	FeedbackFailed bool `json:"feedback_failed,omitempty"` // the approver's last feedback could not be applied to it
	// what the reviewer was shown of the rest of the repository up front
	Pack []Place `json:"pack,omitempty"`
	// what the run could not look at during the review, such as a lost endpoint
	Notes []string `json:"notes,omitempty"`
}

// Place is a range of lines of a file in the new tree, and how it relates to a change: encloses,
// calls, defines, tests or similar.
type Place struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"` // 1-based
	EndLine   int    `json:"end_line"`   // the last line, inclusive
	Why       string `json:"why"`
}

// Reusable reports whether the result may be used again for the same file: it has a key, and
// another run would not improve on the answer.
func (r FileReview) Reusable() bool {
	return r.Key != "" && !r.Incomplete && (r.State == Reviewed || r.State == Partly)
}

// Covered reports whether nothing remains in the file that a person would expect to have been
// reviewed: it was reviewed, or skipped for a reason that the base confirms, other than its size
// or content that a diff does not show.
func (r FileReview) Covered() bool {
	return r.State == Reviewed || r.State == Skipped && r.Claim == "" && r.Reason != TooLarge &&
		r.Reason != Submodule && r.Reason != Mode
}

// Call is one paid answer of a model about a file. Calls are in chronological order. A Call
// explains how a result came about; it contains neither question nor answer.
type Call struct {
	Task    string     `json:"task"`            // classify, review, again, repair or verify
	Part    int        `json:"part,omitempty"`  // of a file that was reviewed in several, 1-based
	Model   string     `json:"model,omitempty"` // the model that answered, as the server names it; untrusted text
	Finish  string     `json:"finish,omitempty"`
	Seconds float64    `json:"seconds,omitempty"` // until the answer arrived, including waits and retries
	Usage   cost.Usage `json:"usage"`
	Tools   []ToolCall `json:"tools,omitempty"` // that the answer requested
}

// ToolCall is one tool that a model called. Name and Arguments are untrusted text.
type ToolCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Bytes     int    `json:"bytes"`             // of the result
	Problem   string `json:"problem,omitempty"` // why there is no result; redacted, may contain untrusted text
}
