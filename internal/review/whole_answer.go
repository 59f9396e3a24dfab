package review

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// The bounds of an answer about a whole change.
const (
	maxOverview = 1_200 // characters of the sentences that are shown
	maxEvidence = 10    // places of one criterion
	maxUnasked  = 20
	maxDoes     = 120 // characters of what a part does
)

// wholeAnswer is an answer about a whole change, before its places were checked.
type wholeAnswer struct {
	text     string
	findings []finding.Finding
	criteria []finding.Criterion
	unasked  []finding.Unasked
}

// decodeWhole reads an answer about a whole change. One without its two lists, or with a
// finding that is off the schema or about another file, is broken: a *brokenError, beside
// what of it is whole.
func decodeWhole(text string, files []diff.File) (wholeAnswer, error) {
	var w struct {
		Overview *string                   `json:"overview"`
		Findings []jsontext.Value          `json:"findings"`
		Criteria []finding.Criterion       `json:"criteria"`
		Unasked  []finding.Unasked         `json:"unasked"`
		Others   map[string]jsontext.Value `json:",unknown"`
	}
	err := json.Unmarshal([]byte(Unfence(text)), &w)
	switch {
	case err != nil:
		return wholeAnswer{}, broken("%s", problem(err, "it is no JSON object of the form"))
	case w.Overview == nil || w.Findings == nil:
		return wholeAnswer{}, broken(`it is no JSON object with "overview" and a list "findings"`)
	case has(w.Others, mistaken):
		return wholeAnswer{}, broken(unknownKey)
	case len(w.Findings) > maxFindings:
		return wholeAnswer{}, broken("it holds more than %d findings", maxFindings)
	}
	found, err := readFindings(w.Findings, func(value jsontext.Value) (string, error) { return pathOf(value, files) })
	return wholeAnswer{sentences(*w.Overview), found, w.Criteria, w.Unasked}, err
}

// pathOf is the changed file that a finding names.
func pathOf(value jsontext.Value, files []diff.File) (string, error) {
	var at struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(value, &at) != nil {
		return "", errors.New("it has no path")
	}
	for _, f := range files {
		if f.Path == at.Path || guard.Visible(f.Path) == at.Path {
			return f.Path, nil
		}
	}
	return "", errors.New("its path is none of the changed files")
}

// decodeJudgement reads verdicts and places.
func decodeJudgement(text string) (wholeAnswer, error) {
	var w struct {
		Criteria []finding.Criterion `json:"criteria"`
		Unasked  []finding.Unasked   `json:"unasked"`
	}
	if err := json.Unmarshal([]byte(Unfence(text)), &w); err != nil || w.Criteria == nil {
		return wholeAnswer{}, broken("%s", problem(err, `it is no JSON object with a list "criteria"`))
	}
	return wholeAnswer{criteria: w.Criteria, unasked: w.Unasked}, nil
}

// sentences is a text as one paragraph of bounded length.
func sentences(text string) string {
	text = oneLine(text)
	if utf8.RuneCountInString(text) <= maxOverview {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:maxOverview-1])) + "…"
}
