package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	strict "github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
)

// Decision is what a person decided about a case's draft, as commands of the gate.
// It applies only to the draft that it names.
type Decision struct {
	Case     string `json:"case"`
	Draft    string `json:"draft"`
	Commands string `json:"commands"`
}

// ReadDecisions reads decisions, one JSON object per line. An error names the
// decision by its number. Two decisions about one draft are an error.
func ReadDecisions(r io.Reader) ([]Decision, error) {
	var all []Decision
	in := jsontext.NewDecoder(r)
	seen := map[[2]string]bool{}
	for {
		var d Decision
		err := strict.UnmarshalDecode(in, &d, strict.RejectUnknownMembers(true))
		if err == io.EOF {
			return all, nil
		}
		if err == nil {
			_, err = decision.Parse(d.Commands)
		}
		if draft := [2]string{d.Case, d.Draft}; err == nil && seen[draft] {
			err = fmt.Errorf("the draft %.40q of %.100q was decided before", d.Draft, d.Case)
		} else {
			seen[draft] = true
		}
		if err != nil {
			return nil, fmt.Errorf("decision %d: %w", len(all)+1, err)
		}
		all = append(all, d)
	}
}

// draftID returns a hash of all that the approver of a draft sees.
func draftID(s reviewpr.State) string {
	sum := sha256.Sum256([]byte(s.Shown()))
	return hex.EncodeToString(sum[:8])
}

// applyDecisions applies a person's decision to the case's draft, so that the scores are of
// what they kept. It ignores decisions about other drafts; Run warns of those that
// match no draft.
func (r *run) applyDecisions(id, draft string, s *reviewpr.State) error {
	for _, d := range r.Decisions {
		if d.Case != id || d.Draft != draft {
			continue
		}
		parsed, err := decision.Parse(d.Commands)
		if err == nil {
			parsed, err = parsed.Check(finding.Items(finding.Kept(s.Comments)))
		}
		if err != nil {
			return fmt.Errorf("the decision about %s: %w", d.Case, err)
		}
		s.Comments = finding.Apply(parsed, s.Comments)
		for i := range s.Comments {
			if parsed.Verdict == decision.Abort && s.Comments[i].Filtered == "" {
				s.Comments[i].Filtered = finding.Dropped
			}
		}
	}
	return nil
}

func unusedDecisions(all []Decision, results []score.Result) (names []string) {
	for _, d := range all {
		met := func(r score.Result) bool { return r.ID == d.Case && r.Draft == d.Draft }
		if !slices.ContainsFunc(results, met) {
			names = append(names, d.Case+" "+d.Draft)
		}
	}
	return names
}
