package finding

import "github.com/org/pr-review-action/internal/cost"

// State says what became of a changed file.
type State string

// The states of a changed file.
const (
	Reviewed   State = "reviewed"
	Partly     State = "partly" // some of its findings may be missing
	Skipped    State = "skipped"
	Failed     State = "failed"
	NotReached State = "not_reached"
)

// Reason says in one word why a file was not reviewed in full.
type Reason string

// The reasons that triage gives for leaving a file out. Other states carry a
// reason in plain words.
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

// OverBudget is the reason of files that a run's cost cap left out.
const OverBudget Reason = "the budget was spent"

// FileReview is the result for one changed file. Path is the raw one. Key names
// reviewer and content, so that an equal file need not be paid again; it is
// empty where nothing was paid.
type FileReview struct {
	Path   string `json:"path"`
	Key    string `json:"key,omitempty"`
	State  State  `json:"state"`
	Reason Reason `json:"reason,omitempty"`
	// what the change says that the file is, and the base does not bear out
	Claim    Reason     `json:"claim,omitempty"`
	Findings []Finding  `json:"findings,omitempty"`
	Usage    cost.Usage `json:"usage,omitzero"`
	// what a classifying model called the change: security, docs, …
	Label string `json:"label,omitempty"`
	Calls []Call `json:"calls,omitempty"` // how the result came about
	Moved int    `json:"moved,omitempty"` // findings that were moved to the line that they quote
	// another run may find more: money or the server was wanting
	Incomplete     bool `json:"incomplete,omitempty"`
	FeedbackFailed bool `json:"feedback_failed,omitempty"` // the approver's last feedback could not be applied to it
	// what the reviewer was shown of the rest of the repository before it was asked
	Pack []Place `json:"pack,omitempty"`
	// what the run could not look at by the time it was reviewed, such as a lost endpoint
	Notes []string `json:"notes,omitempty"`
}

// Place is some lines of a file of the new tree, and what they are to a change:
// encloses, calls, defines, tests or similar.
type Place struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"` // from 1
	EndLine   int    `json:"end_line"`   // the last line, in it
	Why       string `json:"why"`
}

// Reusable reports whether the result may stand for the same file again: it has
// a key, and the reviewer came to an answer that a further run would not better.
func (r FileReview) Reusable() bool {
	return r.Key != "" && !r.Incomplete && (r.State == Reviewed || r.State == Partly)
}

// Covered reports whether nothing of the file is left that a person would
// expect to have been read: it was reviewed, or skipped for a reason that the base
// bears out, and that is neither its size nor what a diff does not show.
func (r FileReview) Covered() bool {
	return r.State == Reviewed || r.State == Skipped && r.Claim == "" && r.Reason != TooLarge &&
		r.Reason != Submodule && r.Reason != Mode
}

// Call is one paid answer of a model about a file, in the order in which they
// came. It tells how a result came about, and holds neither question nor answer.
type Call struct {
	Task    string     `json:"task"`            // classify, review, again, repair or verify
	Part    int        `json:"part,omitempty"`  // of a file that was reviewed in several, from 1
	Model   string     `json:"model,omitempty"` // that answered, as the server names it; untrusted text
	Finish  string     `json:"finish,omitempty"`
	Seconds float64    `json:"seconds,omitempty"` // until the answer was there, waits and retries included
	Usage   cost.Usage `json:"usage"`
	Tools   []ToolCall `json:"tools,omitempty"` // that the answer asked for
}

// ToolCall is one tool that a model called. Name and Arguments are untrusted text.
type ToolCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Bytes     int    `json:"bytes"`             // of the result
	Problem   string `json:"problem,omitempty"` // why there is none; one line, redacted, may hold untrusted text
}
