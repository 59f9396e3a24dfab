package oracle

import (
	"encoding/json"
	"fmt"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// Judge is what the model says of a case's ticket: JSON text with the keys of the
// prompt's schemas, for the question about the whole change and for the one about the
// criteria alone. Of the share that it does not know it says what a model likes to say:
// that the criterion is met, without a line. A part that nobody asked for goes unnamed.
func Judge(o Options, c dataset.Case) string {
	said := struct {
		Overview string              `json:"overview"`
		Findings []claim             `json:"findings"`
		Criteria []finding.Criterion `json:"criteria"`
		Unasked  []finding.Unasked   `json:"unasked"`
	}{"The change does what its title says.", []claim{}, []finding.Criterion{}, []finding.Unasked{}}
	knows := func(purpose string) bool { return stream(o.Seed, c.ID, purpose).Float64() < o.Recall }
	for i, k := range c.Ticket.Criteria {
		j := finding.Criterion{N: i + 1, Verdict: finding.Met, Evidence: []finding.Lines{}}
		if knows(fmt.Sprint("criterion ", i)) {
			j.Verdict, j.Evidence = k.Verdict, lines(k.Evidence)
		}
		said.Criteria = append(said.Criteria, j)
	}
	for i, at := range lines(c.Ticket.Unasked) {
		if knows(fmt.Sprint("unasked ", i)) {
			said.Unasked = append(said.Unasked, finding.Unasked{Lines: at, Text: "does more than the ticket asks"})
		}
	}
	text, _ := json.Marshal(said) // plain values always can be written
	return string(text)
}

func lines(places []dataset.Place) []finding.Lines {
	all := make([]finding.Lines, len(places))
	for i, p := range places {
		all[i] = finding.Lines{Path: p.Path, StartLine: p.LineStart, EndLine: p.LineEnd}
	}
	return all
}
