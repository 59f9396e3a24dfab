package decision

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/pattern"
)

// Via says which way a decision was given.
type Via string

// The ways to decide: an environment's approval, a dispatched workflow, the
// command line, and drafting again, which aborts the earlier draft.
const (
	ByApproval    Via = "approval"
	ByDispatch    Via = "dispatch"
	ByCommandLine Via = "command line"
	ByRedraft     Via = "redraft"
)

// Record is the permanent account of a decision; record.schema.json describes its JSON
// form. Reasons, bodies and the note are untrusted text.
type Record struct {
	Thread   string    `json:"thread"`
	Digest   string    `json:"digest"` // SHA-256 of the checkpoint, 64 hex digits
	Code     string    `json:"code"`   // first 16 digits of Digest
	Decision Verdict   `json:"decision"`
	By       string    `json:"by"` // a login, or the user's name on the command line
	At       time.Time `json:"at"` // UTC, whole seconds
	Via      Via       `json:"via"`
	Dropped  []Drop    `json:"dropped"`
	Edited   []Edit    `json:"edited"`
	Moved    []Move    `json:"moved"`
	Severity []Regrade `json:"severity"`
	Note     string    `json:"note,omitempty"`
	// ID of the review that it approves; stored before the review is submitted
	Review   int64  `json:"review,omitzero"`
	Feedback string `json:"feedback,omitempty"`    // for revise: what the next draft should do differently
	Replaced string `json:"replaced_by,omitempty"` // for a redraft: the newer draft's code

	// about the draft, which may be gone before its record is
	Findings []Shown `json:"findings,omitempty"`
	Drafting *Effort `json:"drafting,omitempty"`
}

// Shown is a finding as the approver saw it, without its texts. Path, Category, Rule,
// Linter and Model are untrusted text.
type Shown struct {
	ID       string   `json:"id"`
	Path     string   `json:"path,omitempty"`
	Severity Severity `json:"severity"` // before the decision
	Category string   `json:"category,omitempty"`
	Source   string   `json:"source"`           // model, rule or linter
	Rule     string   `json:"rule,omitempty"`   // our rule, or the linter's
	Linter   string   `json:"linter,omitempty"` // that reported it
	Model    string   `json:"model,omitempty"`  // that found it
}

// Effort is what a draft cost and how long it took. Cost is in millionths of a dollar.
type Effort struct {
	Cost     int64   `json:"cost_microusd"`
	Calls    int64   `json:"calls"`
	Unpriced int64   `json:"unpriced_calls,omitempty"` // calls of unknown price, not included in Cost
	Seconds  float64 `json:"seconds,omitempty"`        // 0 if not recorded
}

// Answer answers a gate: the decision, and the record of who gave it.
type Answer struct {
	Decision Decision `json:"decision"`
	Record   Record   `json:"record"`
}

// With returns the record with the verdict, changes and note of d.
func (r Record) With(d Decision) Record {
	r.Decision, r.Note, r.Feedback = d.Verdict, d.Note, d.Feedback
	r.Dropped, r.Edited, r.Moved, r.Severity = d.Drop, d.Edit, d.Move, d.Severity
	return r
}

// Withdraws returns the record of a draft that a newer draft of the same thread replaces:
// an abort that nobody decided. newer is the newer draft's code.
func (r Record) Withdraws(newer string) Record {
	r = r.With(Decision{Verdict: Abort})
	r.Via, r.Replaced = ByRedraft, newer
	return r
}

// Withdrawn reports whether the draft was replaced by a newer one.
func (r Record) Withdrawn() bool { return r.Via == ByRedraft }

// Same reports whether two records describe one decision on one draft: verdict, changes and
// feedback agree. Who decided, when, how and in which words may differ, and so may the
// order of the changes and how they were selected.
func (r Record) Same(other Record) bool {
	return r.Digest == other.Digest && r.Decision == other.Decision && r.Withdrawn() == other.Withdrawn() &&
		r.Feedback == other.Feedback && sameChanges(withoutHow(r.Dropped), withoutHow(other.Dropped)) &&
		sameChanges(r.Edited, other.Edited) && sameChanges(r.Moved, other.Moved) &&
		sameChanges(r.Severity, other.Severity)
}

// withoutHow returns drops without how they were selected.
func withoutHow(all []Drop) []Drop {
	all = slices.Clone(all)
	for i := range all {
		all[i].How = ""
	}
	return all
}

// sameChanges reports whether two lists hold the same changes in any order. Each list has a finding at most once.
func sameChanges[T comparable](a, b []T) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

// Encode returns the record as one JSON object, terminated by a newline.
func (r Record) Encode() ([]byte, error) {
	r.At = r.At.UTC().Truncate(time.Second)
	text, err := json.Marshal(r, jsontext.WithIndent("  "))
	return append(text, '\n'), err
}

var digestPattern = pattern.Lazy(`^[0-9a-f]{64}$`)

// DecodeRecord decodes a record strictly: exact names, no unknown or repeated members, one
// document, valid UTF-8, and only values that Encode could have written.
func DecodeRecord(text []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, fmt.Errorf("reading decision record: %w", err)
	}
	if bad := r.invalid(); bad != "" {
		return Record{}, fmt.Errorf("reading decision record: %s", bad)
	}
	return r, nil
}

func (r Record) invalid() string {
	switch {
	case r.Thread == "" || r.By == "" || r.At.IsZero():
		return "thread, by or at is missing"
	case verdictOf(string(r.Decision)) == "":
		return "decision is not one of approve, abort, revise"
	case !digestPattern().MatchString(r.Digest) || r.Code != r.Digest[:16]:
		return "digest is not a SHA-256, or code is not its beginning"
	case !slices.Contains([]Via{ByApproval, ByDispatch, ByCommandLine, ByRedraft}, r.Via):
		return "via is not one of approval, dispatch, command line, redraft"
	case r.Review < 0 || r.Review != 0 && r.Decision != Approve:
		return "review is not a review's id, or the decision is not an approval"
	case r.Withdrawn() && r.Decision != Abort:
		return "a redraft is an abort"
	case (r.Decision == Revise) != (r.Feedback != "") || len(r.Feedback) > MaxFeedback:
		return "feedback does not go with the decision, or is too long"
	}
	return ""
}
