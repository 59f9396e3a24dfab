package stats

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
)

// Run is a draft, decided or not, with what it used. Pull is owner/repo#n, or the thread's
// id up to its commit for local input. Seconds is 0 where nobody noted it.
type Run struct {
	Repository string // owner/repo, or local/folder
	Pull       string
	Outcome    string
	Usage      cost.Usage
	Seconds    float64
	Record     *decision.Record // of its decision, with what it showed; nil where there is none
}

// Records are the decisions on drafts.
func Records(all []Run) iter.Seq[decision.Record] {
	return func(yield func(decision.Record) bool) {
		for _, r := range all {
			if r.Record != nil && !yield(*r.Record) {
				return
			}
		}
	}
}

// Runs are what a number of drafts cost and took.
type Runs struct {
	Drafts  int           `json:"drafts"`
	Cost    cost.MicroUSD `json:"cost_microusd"`          // of all calls whose price is known
	PerPull *float64      `json:"cost_microusd_per_pull"` // the mean; nil without a pull request, or a price
	// calls whose price is not known: they are in no sum
	Unpriced int64     `json:"unpriced_calls"`
	Seconds  *Quantile `json:"seconds"` // of a draft; nil where none noted it
	Pulls    []Pull    `json:"pulls"`   // the dearest first
}

// Pull is what the drafts of one pull request cost. Cost is nil where no price is known.
type Pull struct {
	Name   string         `json:"pull"`
	Drafts int            `json:"drafts"`
	Cost   *cost.MicroUSD `json:"cost_microusd"`

	used cost.Usage
}

// Quantile is a middle and a high value, each one that was measured (nearest rank).
type Quantile struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Add adds drafts up, by pull request.
func Add(all iter.Seq[Run]) Runs {
	r := Runs{Pulls: []Pull{}}
	at, total := map[string]int{}, cost.Usage{}
	var seconds []float64
	for run := range all {
		i, known := at[run.Pull]
		if !known {
			i, at[run.Pull] = len(r.Pulls), len(r.Pulls)
			r.Pulls = append(r.Pulls, Pull{Name: run.Pull})
		}
		p := &r.Pulls[i]
		r.Drafts, p.Drafts = r.Drafts+1, p.Drafts+1
		total, p.used = cost.Add(total, run.Usage), cost.Add(p.used, run.Usage)
		if run.Seconds > 0 {
			seconds = append(seconds, run.Seconds)
		}
	}
	for i := range r.Pulls {
		r.Pulls[i].Cost = priced(r.Pulls[i].used)
	}
	order.Stable(r.Pulls, func(a, b Pull) int {
		return cmp.Or(cmp.Compare(b.used.Cost, a.used.Cost), cmp.Compare(a.Name, b.Name))
	})
	r.Cost, r.Unpriced, r.Seconds = total.Cost, total.Unpriced, quantile(seconds)
	if paid := priced(total); paid != nil && len(r.Pulls) > 0 {
		mean := float64(*paid) / float64(len(r.Pulls))
		r.PerPull = &mean
	}
	return r
}

// priced is what a usage cost; nil where no price is known.
func priced(u cost.Usage) *cost.MicroUSD {
	if u.Unpriced > 0 && u.Cost == 0 {
		return nil
	}
	return &u.Cost
}

func quantile(all []float64) *Quantile {
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	rank := func(share float64) float64 { return all[int(math.Ceil(share*float64(len(all))))-1] }
	return &Quantile{rank(0.5), rank(0.95)}
}

// The bounds of the list of pull requests.
const (
	shownPulls = 10
	pullRunes  = 50
)

// Text shows the figures in at most 80 columns, inert; it is empty without a draft, and
// its last line ends in a line feed.
func (r Runs) Text() string {
	if r.Drafts == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Drafts made: %d (changes: %d)\n", r.Drafts, len(r.Pulls))
	switch {
	case r.PerPull == nil:
		b.WriteString("Cost: price not known\n")
	default:
		fmt.Fprintf(&b, "Cost: %s, %s a change%s\n", r.Cost, cost.MicroUSD(math.Round(*r.PerPull)), r.besides())
	}
	if q := r.Seconds; q != nil {
		fmt.Fprintf(&b, "Time of a draft: p50 %.1f s, p95 %.1f s\n", q.P50, q.P95)
	}
	for _, p := range r.Pulls[:min(len(r.Pulls), shownPulls)] {
		price := "price not known"
		if p.Cost != nil {
			price = p.Cost.String()
		}
		fmt.Fprintf(&b, "  %-*s  %3d  %s\n", pullRunes, guard.Line(p.Name, pullRunes), p.Drafts, price)
	}
	if more := len(r.Pulls) - shownPulls; more > 0 {
		fmt.Fprintf(&b, "  and %d more, which --json lists\n", more)
	}
	return b.String()
}

// besides counts the calls that no sum has.
func (r Runs) besides() string {
	if r.Unpriced == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d calls whose price is not known", r.Unpriced)
}
