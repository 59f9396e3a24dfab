// Package score says how good a review was: which known findings it hit, what
// it posted beside them, and what that means over many cases.
//
// It holds values and pure functions. It reads no file, no clock and asks no
// model; who decides whether two texts mean the same defect is the caller's
// choice. Start reading at Result, one case. Candidates and Match say what hits
// what, Trace where the others ended, Grade what passes, Summarize makes the
// report, and Compare and Missed hold one run against another.
package score

import (
	"slices"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// Result is what became of one case. It holds no time, so that two runs with
// the same answers are equal. Texts in it are untrusted, save Outcome and what
// Why says around paths.
type Result struct {
	ID       string       `json:"id"`
	Language string       `json:"language"`
	Kind     dataset.Kind `json:"kind"`
	Outcome  string       `json:"outcome"`            // of the run, as flow/reviewpr names it
	Unread   []string     `json:"unread,omitempty"`   // "path: reason" of files that were not read in full
	Golden   []Known      `json:"golden"`             // in the order of the case
	Posted   []Posted     `json:"posted"`             // what the draft would post, in the order shown
	Lost     []Loss       `json:"lost,omitempty"`     // findings that did not survive a stage of the pipeline
	Moved    []Loss       `json:"moved,omitempty"`    // findings that survived it in another place
	Criteria []Judged     `json:"criteria,omitempty"` // of the case's ticket
	Asked    *Asked       `json:"asked,omitempty"`    // of its parts that nobody asked for; nil without a ticket
	Usage    cost.Usage   `json:"usage"`              // of the review
	Judging  cost.Usage   `json:"judging"`            // of the judge
	Passed   bool         `json:"passed"`
	Why      string       `json:"why,omitempty"`     // one sentence for a case that did not pass
	Draft    string       `json:"draft"`             // of what the approver would see; recorded decisions name it
	Rulings  []Ruling     `json:"rulings,omitempty"` // in the order in which they were asked for
}

// Ruling is one decision about a finding that stands near a known one, or, where
// Golden is -1, that stands near none. Reason is untrusted text.
type Ruling struct {
	Golden   int    `json:"golden"`
	Finding  string `json:"finding"`
	Distance int    `json:"distance"` // in lines
	Yes      bool   `json:"yes"`
	Votes    []bool `json:"votes,omitempty"` // empty where no judge was asked
	Steered  bool   `json:"steered,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Known is a known finding and what hit it.
type Known struct {
	dataset.Golden
	Hit     string `json:"hit"`      // id of the finding that hits it; empty for none
	FileHit bool   `json:"file_hit"` // something was posted on a file that it stands in
	// stage at which a finding near it was lost; what that meant was not judged
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
	Valid       bool              `json:"valid,omitempty"` // hits none, and the judge holds it for a true defect
}

// The stages that lose a finding, in the order of the pipeline, and the last one,
// which loses none.
const (
	StageParse     = "parse"     // in an answer, and not in the file's review
	StageQuote     = "quote"     // quotes a line that is nowhere in the diff
	StageVerify    = "verify"    // did not bear a second look
	StageThreshold = "threshold" // filtered for its confidence
	StageDedupe    = "dedupe"    // filtered as a duplicate
	StageCap       = "cap"       // kept, and left out of the posted review for its length
	StageAnchor    = "anchor"    // moved into the body, since its lines are not part of the diff
)

// Stages lists the stages in the order of the pipeline.
func Stages() []string {
	return []string{StageParse, StageQuote, StageVerify, StageThreshold, StageDedupe, StageCap, StageAnchor}
}

// Loss is a finding that a stage lost or moved. Path and Title are untrusted
// text, Why is in our own words. Lines are 1-based, and 0 where an answer gave
// none; Severity is empty where an answer gave none of ours.
type Loss struct {
	Stage     string           `json:"stage"`
	Path      string           `json:"path"`
	StartLine int              `json:"start_line"`
	Line      int              `json:"line"`
	Severity  finding.Severity `json:"severity"`
	Title     string           `json:"title"`
	Known     bool             `json:"known"` // near a known finding; whether it meant that one was not judged
	Why       string           `json:"why"`
}

// Record enters known and posted findings and which belong together: pairs are those of
// Match over the same lists, and Lost is set already.
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

// markFiles says of every known finding whether something was posted on a file
// that it stands in.
func (r *Result) markFiles() {
	for i, k := range r.Golden {
		r.Golden[i].FileHit = slices.ContainsFunc(r.Posted, func(p Posted) bool {
			return slices.ContainsFunc(k.Places(), func(at dataset.Place) bool { return at.Path == p.Path })
		})
	}
}

// unmatchedMajor is the number of posted findings of severity major or higher
// that hit no known finding. On a clean case these are all of them.
func (r Result) unmatchedMajor() (n int) {
	for _, p := range r.Posted {
		if p.Golden < 0 && grave(p.Severity) {
			n++
		}
	}
	return n
}

func grave(s finding.Severity) bool { return s.Rank() >= finding.Major.Rank() }
