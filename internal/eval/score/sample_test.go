package score

import (
	"fmt"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/stats"
)

// sample is a run over six cases: hits, misses, noise, a loss and a move.
func sample() []Result {
	all := []Result{
		{ID: "go-1", Language: "go", Kind: dataset.Bug, Golden: []Known{
			knownAt("a.go", finding.Blocker, dataset.Local, "correctness", "F1"),
			knownAt("b.go", finding.Minor, dataset.Context, "", ""),
		}, Posted: []Posted{post(0, finding.Major, "correctness"), post(-1, finding.Nit, "test")}},
		{ID: "go-2", Language: "go", Kind: dataset.Bug,
			Golden: []Known{knownAt("c.go", finding.Major, dataset.Context, "concurrency", "")},
			Posted: []Posted{post(-1, finding.Major, "resource"), post(-1, finding.Blocker, "")}},
		{ID: "ts-1", Language: "typescript", Kind: dataset.Bug,
			Golden: []Known{knownAt("d.ts", finding.Minor, dataset.Local, "error-handling", "F1")},
			Posted: []Posted{post(0, finding.Minor, "error-handling")}},
		{ID: "ts-2", Language: "typescript", Kind: dataset.Bug,
			Golden: []Known{knownAt("e.ts", finding.Major, dataset.Local, "correctness", "")}},
		{ID: "py-1", Language: "python", Kind: dataset.Clean, Posted: []Posted{post(-1, finding.Minor, "correctness")}},
		{ID: "py-2", Language: "python", Kind: dataset.Clean, Unread: []string{"x.py: failed no answer"}},
	}
	all[0].Posted[1].Valid = true
	all[0].Golden[0].LostAt = "dedupe" // and hit anyway
	all[2].Posted[0].Path, all[2].Posted[0].Valid = "d.ts", true
	all[3].Golden[0].LostAt = "threshold"
	all[3].Lost = []Loss{{"threshold", "e.ts", 7, 7, finding.Major, "The timer is never cleared", true,
		"confidence 0.40 is below 0.50"}, {"dedupe", "e.ts", 89, 90, finding.Nit, "Twice", false, ""}}
	all[0].Moved = []Loss{{"anchor", "b.go", 99, 99, finding.Minor, "Off the diff", false,
		"line 99 is not part of the diff"}}
	for i := range all {
		all[i].Outcome = "PAUSED"
		all[i].Usage = cost.Usage{InputTokens: 1_000, OutputTokens: 100, Calls: 2, Cost: cost.MicroUSD(3_000 * (i + 1))}
		all[i].Judging = cost.Usage{InputTokens: 500, OutputTokens: 10, Calls: 1, Cost: 500}
		all[i].number()
		Grade(&all[i])
	}
	return all
}

func (r *Result) number() {
	for i := range r.Posted {
		r.Posted[i].ID = fmt.Sprintf("F%d", i+1)
	}
	r.markFiles()
}

func knownAt(path string, s finding.Severity, v dataset.Visibility, category, hit string) Known {
	known := Known{Golden: defect(path, s), Hit: hit}
	known.Visibility, known.Category, known.Issue = v, category, "the issue"
	return known
}

func post(golden int, s finding.Severity, category string) Posted {
	return Posted{Path: "a.go", Line: 7, Severity: s, Category: category, Golden: golden}
}

func aboutSample() About {
	return About{
		Fingerprints: map[string]string{"cases": "3f9c2a71be04d855c1e07d4492ab6f38", "prompt": "58d1e0c2a9b7f346",
			"model": "small-1", "graph": "77d0"},
		Reviewer: "model", Model: "small-1", Judge: "large-2", Agreement: &Agreement{28, 30},
		Latency: stats.Quantiles([]float64{1.5, 2, 2.5, 3, 9, 4}), Seconds: 21.25,
	}
}
