package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	strict "github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
)

// Decision is what a person decided about a case's draft, in the words of the
// gate. It holds for the draft that it names alone.
type Decision struct {
	Case     string `json:"case"`
	Draft    string `json:"draft"`
	Commands string `json:"commands"`
}

// ReadDecisions reads decisions, one JSON object a line. Errors name the line.
func ReadDecisions(r io.Reader) ([]Decision, error) {
	var all []Decision
	in := jsontext.NewDecoder(io.LimitReader(r, maxResults))
	for {
		var d Decision
		err := strict.UnmarshalDecode(in, &d, strict.RejectUnknownMembers(true))
		if err == io.EOF {
			return all, nil
		}
		if err == nil {
			_, err = decision.Parse(d.Commands)
		}
		if err != nil {
			return nil, fmt.Errorf("decision %d: %w", len(all)+1, err)
		}
		all = append(all, d)
	}
}

// draftID names a draft by all that its approver sees.
func draftID(s reviewpr.State) string {
	sum := sha256.Sum256([]byte(s.Shown()))
	return hex.EncodeToString(sum[:8])
}

// decided marks what the person at the gate dropped. A decision about another
// draft of the case says nothing of this one.
func (r *run) decided(result *Result, s reviewpr.State) error {
	for _, d := range r.Decisions {
		if d.Case != result.ID || d.Draft != result.Draft {
			continue
		}
		parsed, err := decision.Parse(d.Commands)
		if err == nil {
			err = parsed.Check(gate.IDs(finding.Kept(s.Comments)))
		}
		if err != nil {
			return fmt.Errorf("the decision about %s: %s", d.Case, strings.TrimSpace(err.Error()))
		}
		drop(result.Posted, finding.Kept(parsed.Apply(s.Comments)), parsed.Verdict == decision.Abort)
		result.Decided = true
	}
	return nil
}

// drop marks what is not among those that are left.
func drop(posted []score.Posted, left []finding.Finding, all bool) {
	stays := map[string]bool{}
	for _, f := range left {
		stays[f.ID] = !all
	}
	for i := range posted {
		posted[i].Dropped = !stays[posted[i].ID]
	}
}
