package driver

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
)

// Print writes the report as one JSON object, in which no list is null.
func (r Report) Print(w io.Writer) error {
	r.Findings = append([]finding.Finding{}, r.Findings...)
	r.Filtered = append([]finding.Finding{}, r.Filtered...)
	r.Flags = append([]finding.Flag{}, r.Flags...)
	r.Missing = append([]string{}, r.Missing...)
	r.Files = append([]finding.FileReview{}, r.Files...)
	r.Criteria = append([]finding.Criterion{}, r.Criteria...)
	r.Unasked = append([]finding.Unasked{}, r.Unasked...)
	if notes := r.State.Notes(); len(notes) > 0 {
		r.Message = strings.TrimPrefix(r.Message+"; "+strings.Join(notes, " "), "; ")
	}
	return PrintJSON(w, printed{r, price(r.Usage), r.Open()})
}

// printed is a report with what is null in it: a cost where a price is not known, and
// what stands where that is not.
type printed struct {
	Report
	Usage priced `json:"usage"`
	Open  Open   `json:"open"`
}

type priced struct {
	cost.Usage
	Cost *cost.MicroUSD `json:"cost_microusd"`
}

// price is a usage with what it cost; null where no price is known.
func price(u cost.Usage) priced {
	p := priced{Usage: u}
	if u.Unpriced == 0 || u.Cost != 0 {
		p.Cost = &u.Cost
	}
	return p
}

// PrintJSON writes one object for a machine, indented.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}
