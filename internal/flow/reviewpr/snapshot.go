package reviewpr

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/recall"
	"github.com/org/pr-review-action/internal/render"
)

// Judgements returns the findings shown by a parked draft, except those of rules,
// which the rules will report again.
func Judgements(snapshot []byte) ([]finding.Finding, error) {
	s, err := decodeState(snapshot)
	return s.judgements(), err
}

func (s State) judgements() (all []finding.Finding) {
	for _, f := range finding.Kept(s.Comments) {
		if f.ID, f.Note = "", ""; f.Source != finding.Rule {
			all = append(all, f)
		}
	}
	return all
}

// PostedFindings returns what a parked draft, decided as in record, tells later drafts
// of the pull request.
func PostedFindings(snapshot []byte, record decision.Record) []finding.Earlier {
	s, err := decodeState(snapshot)
	if err != nil {
		return nil
	}
	d := decision.Decision{Drop: record.Dropped, Edit: record.Edited, Move: record.Moved, Severity: record.Severity}
	s.Decision, s.Comments = &record, finding.Apply(d, s.Comments)
	s.Earlier = finding.MarkDropped(d, s.Earlier, record.By)
	return s.PostedFindings()
}

// PostedFindings returns what the draft tells later ones; nothing if it was not decided.
func (s State) PostedFindings() []finding.Earlier {
	unsaid := render.Cut(s.Review()) // did not fit into the review
	comments := slices.DeleteFunc(slices.Clone(s.Comments), func(f finding.Finding) bool {
		return slices.ContainsFunc(unsaid, func(cut finding.Finding) bool { return cut.ID == f.ID })
	})
	return recall.FromState(comments, s.Decision, s.Earlier)
}

// decodeState returns the parts of a snapshot that describe its draft and decision.
func decodeState(snapshot []byte) (State, error) {
	var state State
	s, err := graph.DecodeSnapshot(snapshot)
	for field, into := range map[string]any{
		"draft": &state.Draft, "pr": &state.Pull, "files": &state.Files, reviewsField: &state.FileReviews,
		"comments": &state.Comments, "earlier": &state.Earlier, "decision": &state.Decision, "rounds": &state.Rounds,
		askedField: &state.Asked, wholeField: &state.Whole,
	} {
		if err == nil {
			err = json.Unmarshal(s.Fields[field], into)
		}
	}
	return state, err
}

// UsedIDs returns the highest number of an id F<number> that a draft, or a draft
// it replaced, gave to a finding.
func UsedIDs(snapshot []byte) int {
	s, err := graph.DecodeSnapshot(snapshot)
	var d Draft
	var all []finding.Finding
	if err == nil {
		err = errors.Join(json.Unmarshal(s.Fields["draft"], &d), json.Unmarshal(s.Fields["comments"], &all))
	}
	if err != nil {
		return 0
	}
	return max(d.UsedIDs, maxID(all))
}

// maxEarlierID returns the highest such number in earlier posted reviews: an open finding keeps its id.
func maxEarlierID(earlier []finding.Earlier) int {
	var all []finding.Finding
	for _, e := range earlier {
		if e.Fate == finding.WasPosted {
			all = append(all, e.Finding())
		}
	}
	return maxID(all)
}

func maxID(all []finding.Finding) (used int) {
	for _, f := range all {
		n, _ := strconv.Atoi(strings.TrimPrefix(f.ID, "F"))
		used = max(used, n)
	}
	return used
}
