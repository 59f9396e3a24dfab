// Package score measures how good a review was: which known findings it hit, what
// else it posted, and what that means over many cases.
//
// It consists of values and pure functions. It reads no file and no clock and asks
// no model; the caller decides who judges whether two texts mean the same defect.
// Start reading at Result, which is one case. Candidates and Match find the hits,
// Trace where other findings were lost, Grade which cases pass. Summarize makes the
// report, and Compare and Missed compare two runs.
package score

import (
	"slices"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// Result is the result of one case. It contains no time, so that two runs with the
// same answers are equal. Its texts are untrusted, except Outcome, and Why apart
// from the paths in it.
type Result struct {
	ID       string       `json:"id"`
	Language string       `json:"language"`
	Kind     dataset.Kind `json:"kind"`
	Outcome  string       `json:"outcome"`            // of the run, named as in flow/reviewpr
	Unread   []string     `json:"unread,omitempty"`   // "path: reason" of files that were not read in full
	Golden   []Known      `json:"golden"`             // in the order of the case
	Posted   []Posted     `json:"posted"`             // what the draft would post, in the order shown
	Lost     []Loss       `json:"lost,omitempty"`     // findings that a stage of the pipeline removed
	Moved    []Loss       `json:"moved,omitempty"`    // findings that a stage moved to another place
	Criteria []Judged     `json:"criteria,omitempty"` // of the case's ticket
	Asked    *TicketScore `json:"asked,omitempty"`    // counts against the ticket; nil without one
	Usage    cost.Usage   `json:"usage"`              // of the review
	Judging  cost.Usage   `json:"judging"`            // of the judge
	Passed   bool         `json:"passed"`
	Why      string       `json:"why,omitempty"`     // why it did not pass, in one sentence
	Rulings  []Ruling     `json:"rulings,omitempty"` // in the order in which they were requested
}

// Ruling is one decision: whether a finding means a known one nearby, or, if Golden
// is -1, whether it is a true defect on its own. Reason is untrusted text.
type Ruling struct {
	Golden   int    `json:"golden"`
	Finding  string `json:"finding"`
	Distance int    `json:"distance"` // in lines
	Yes      bool   `json:"yes"`
	Votes    []bool `json:"votes,omitempty"` // empty if no judge was asked
	Steered  bool   `json:"steered,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Known is a known finding and what hit it.
type Known struct {
	dataset.Golden
	Hit     string `json:"hit"`      // id of the finding that hits it; empty for none
	FileHit bool   `json:"file_hit"` // something was posted on one of its files
	// stage that lost a finding near it; nobody judged what that finding meant
	LostAt string `json:"lost_at,omitempty"`
}

// Posted is a finding as the draft would post it.
type Posted struct {
	ID          string            `json:"id"`
	Path        string            `json:"path"`
	StartLine   int               `json:"start_line"`
	Line        int               `json:"line"`
	Side        finding.Side      `json:"side"`
	Severity    finding.Severity  `json:"severity"`
	Category    string            `json:"category"`
	Title       string            `json:"title"`
	Fingerprint string            `json:"fingerprint"`
	Placement   finding.Placement `json:"placement"`
	Golden      int               `json:"golden"`          // index of the known finding that it hits; -1 for none
	Valid       bool              `json:"valid,omitempty"` // hits none, but is a true defect to the judge
}

// The stages that can lose a finding, in the order of the pipeline. The last one
// only moves it.
const (
	StageParse     = "parse"     // in an answer, but not in the file's review
	StageQuote     = "quote"     // quotes a line that is nowhere in the diff
	StageVerify    = "verify"    // refuted by the verification
	StageThreshold = "threshold" // filtered for low confidence
	StageDedupe    = "dedupe"    // filtered as a duplicate
	StageCap       = "cap"       // kept, but the posted review has no room for it
	StageAnchor    = "anchor"    // moved into the body, since its lines are not part of the diff
)

// Stages returns the stages in the order of the pipeline.
func Stages() []string {
	return []string{StageParse, StageQuote, StageVerify, StageThreshold, StageDedupe, StageCap, StageAnchor}
}

// Loss is a finding that a stage lost or moved. Path and Title are untrusted text,
// Why is not. Lines are 1-based, and 0 if the answer has none. Severity is empty if
// the answer has no known one.
type Loss struct {
	Stage     string           `json:"stage"`
	Path      string           `json:"path"`
	StartLine int              `json:"start_line"`
	Line      int              `json:"line"`
	Severity  finding.Severity `json:"severity"`
	Title     string           `json:"title"`
	Known     bool             `json:"known"` // near a known finding; nobody judged whether it meant that one
	Why       string           `json:"why"`
}

// Record sets Golden and Posted, and which of them belong together. pairs must come from
// Match over the same lists, and Lost must already be set.
func (r *Result) Record(golden []dataset.Golden, posted []finding.Finding, pairs []Pair) {
	r.Golden = make([]Known, 0, len(golden))
	for _, g := range golden {
		r.Golden = append(r.Golden, Known{Golden: g})
	}
	r.Posted = make([]Posted, 0, len(posted))
	for _, f := range posted {
		r.Posted = append(r.Posted, Posted{
			ID: f.ID, Path: f.Path, StartLine: f.StartLine, Line: f.Line, Side: f.Side, Severity: f.Severity,
			Category: f.Category,
			Title:    f.Title, Fingerprint: f.Fingerprint, Placement: f.Placement, Golden: -1,
		})
	}
	for _, p := range pairs {
		r.Golden[p.Golden].Hit = posted[p.Finding].ID
		r.Posted[p.Finding].Golden = p.Golden
	}
	r.markFiles()
	for i, k := range r.Golden {
		if k.Hit == "" {
			r.Golden[i].LostAt = StageOf(r.Lost, k.Golden)
		}
	}
}

// markFiles sets FileHit of every known finding: whether something was posted on
// one of its files.
func (r *Result) markFiles() {
	for i, k := range r.Golden {
		r.Golden[i].FileHit = slices.ContainsFunc(r.Posted, func(p Posted) bool {
			return slices.ContainsFunc(k.Places(), func(at dataset.Place) bool { return at.Path == p.Path })
		})
	}
}

// unmatchedMajor returns the number of posted findings of severity major or higher
// that hit no known finding. On a clean case that is all of them.
func (r Result) unmatchedMajor() (n int) {
	for _, p := range r.Posted {
		if p.Golden < 0 && grave(p.Severity) {
			n++
		}
	}
	return n
}

func grave(s finding.Severity) bool { return s.Rank() >= finding.Major.Rank() }
