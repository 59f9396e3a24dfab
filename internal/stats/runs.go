package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/order"
)

// Run is a draft, decided or not, and what it used. Pull is owner/repo#n, or for local input
// the thread's id up to the commit. Seconds is 0 if it was not recorded.
type Run struct {
	Repository string // owner/repo, or local/folder
	Pull       string
	Outcome    string
	Usage      cost.Usage
	Seconds    float64
	Record     *decision.Record // its decision, with the findings that it showed; nil for none
}

// Verdicts returns the decisions that are a verdict on a draft, one per draft. It leaves out
// revisions, and withdrawn decisions on drafts that were drafted again.
func Verdicts(all []Run) (some []decision.Record) {
	seen := map[string]bool{}
	for _, r := range all {
		if of := r.Record; of != nil && !seen[of.Digest] && !of.Withdrawn() && of.Decision != decision.Revise {
			seen[of.Digest] = true
			some = append(some, *of)
		}
	}
	return some
}

// Summary is the sum over all runs, in the form of the JSON output.
type Summary struct {
	Stats
	Runs         Runs           `json:"runs"`
	Outcomes     map[string]int `json:"outcomes"`
	Repositories []Repository   `json:"repositories"` // those with drafts, most drafts first
	Unread       []Unread       `json:"unread"`
}

// Unread is a repository that no sum includes, and the reason: one line, inert.
type Unread struct {
	Repository string `json:"repository"`
	Reason     string `json:"reason"`
}

// Repository is the sum over the drafts of one repository.
type Repository struct {
	Name     string         `json:"name"`
	Drafts   int            `json:"drafts"`
	Outcomes map[string]int `json:"outcomes"`
	Cost     *cost.MicroUSD `json:"cost_microusd"` // nil if no price is known
	Seconds  *Quantile      `json:"seconds"`       // per draft; nil if none recorded it
	Findings Tally          `json:"findings"`
}

// Runs sums up what drafts cost and how long they took.
type Runs struct {
	Drafts  int            `json:"drafts"`
	Cost    *cost.MicroUSD `json:"cost_microusd"`          // of all calls with a known price; nil if none is known
	PerPull *float64       `json:"cost_microusd_per_pull"` // the mean; nil without a pull request or a price
	// calls without a known price, which no sum includes
	Unpriced int64     `json:"unpriced_calls"`
	Seconds  *Quantile `json:"seconds"` // per draft; nil if none recorded it
	Pulls    []Pull    `json:"pulls"`   // most expensive first
}

// Pull is what the drafts of one pull request cost. Cost is nil if no price is known.
type Pull struct {
	Name   string         `json:"pull"`
	Drafts int            `json:"drafts"`
	Cost   *cost.MicroUSD `json:"cost_microusd"`
}

// Sum returns the sum over runs. unread lists the repositories that could not be read.
func Sum(all []Run, unread []Unread) Summary {
	s := Summary{Stats: sum(Verdicts(all)), Runs: sumRuns(all), Outcomes: countOutcomes(all),
		Repositories: []Repository{}, Unread: append([]Unread{}, unread...)}
	for _, of := range order.Grouped(all, func(r Run) string { return r.Repository }) {
		used, seconds := totalUsage(of)
		s.Repositories = append(s.Repositories, Repository{Name: of[0].Repository, Drafts: len(of),
			Outcomes: countOutcomes(of), Cost: used.Known(), Seconds: Quantiles(seconds),
			Findings: sum(Verdicts(of)).All})
	}
	order.Stable(s.Repositories, func(a, b Repository) int {
		return cmp.Or(cmp.Compare(b.Drafts, a.Drafts), cmp.Compare(a.Name, b.Name))
	})
	return s
}

func countOutcomes(runs []Run) map[string]int {
	all := map[string]int{}
	for _, r := range runs {
		all[r.Outcome]++
	}
	return all
}

// sumRuns returns the sum over drafts, in total and by pull request.
func sumRuns(all []Run) Runs {
	total, seconds := totalUsage(all)
	r := Runs{Drafts: len(all), Cost: total.Known(), Unpriced: total.Unpriced, Seconds: Quantiles(seconds),
		Pulls: []Pull{}}
	for _, of := range order.Grouped(all, func(r Run) string { return r.Pull }) {
		used, _ := totalUsage(of)
		r.Pulls = append(r.Pulls, Pull{Name: of[0].Pull, Drafts: len(of), Cost: used.Known()})
	}
	none := cost.MicroUSD(0)
	order.Stable(r.Pulls, func(a, b Pull) int {
		return cmp.Or(cmp.Compare(*cmp.Or(b.Cost, &none), *cmp.Or(a.Cost, &none)), cmp.Compare(a.Name, b.Name))
	})
	if paid := total.Known(); paid != nil && len(r.Pulls) > 0 {
		mean := float64(*paid) / float64(len(r.Pulls))
		r.PerPull = &mean
	}
	return r
}

// totalUsage returns the total usage of drafts, and the seconds of those that recorded them.
func totalUsage(all []Run) (total cost.Usage, seconds []float64) {
	for _, r := range all {
		total = cost.Add(total, r.Usage)
		if r.Seconds > 0 {
			seconds = append(seconds, r.Seconds)
		}
	}
	return total, seconds
}

// Quantile holds the median and the 95th percentile, each a measured value (nearest rank).
type Quantile struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Quantiles returns the quantiles of values, or nil if there are none.
func Quantiles(values []float64) *Quantile {
	if len(values) == 0 {
		return nil
	}
	all := slices.Sorted(slices.Values(values))
	rank := func(share float64) float64 { return all[int(math.Ceil(share*float64(len(all))))-1] }
	return &Quantile{rank(0.5), rank(0.95)}
}
