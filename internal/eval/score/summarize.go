package score

import (
	"cmp"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
)

// About is what a report says beside the results.
type About struct {
	Fingerprints map[string]string // what the figures hold for: cases, prompt, model, judge, config, commit, …
	Reviewer     string            // Scripted, or another name for what was under test
	Model        string            // untrusted text; empty for none
	Judge        string            // untrusted text; empty where place alone decides
	Agreement    *Agreement        // nil where it was not measured
	Measuring    cost.Usage        // of measuring it
	Latencies    []float64         // seconds of each case
	Seconds      float64           // of the whole run
	Decided      bool              // decisions were read, though they may drop nothing
}

// Summarize makes the report. The order of the results decides the order of its
// lists and nothing else.
func Summarize(results []Result, about About) Report {
	judged := about.Judge != ""
	r := Report{
		Scores:       scores(results, judged),
		By:           map[string]map[string]Counts{},
		Losses:       lost(results, func(r Result) []Loss { return r.Lost }),
		Moved:        lost(results, func(r Result) []Loss { return r.Moved }),
		Fingerprints: map[string]string{}, Reviewer: about.Reviewer, Model: about.Model, Judge: about.Judge,
		Judged: judged, Agreement: about.Agreement, Seconds: round(about.Seconds), Latency: percentiles(about.Latencies),
		KnownLost: map[string]int{}, NotPassed: []NotPassed{}, Judging: about.Measuring,
	}
	maps.Copy(r.Fingerprints, about.Fingerprints)
	for name, d := range dimensions() {
		r.By[name] = d.group(results)
	}
	r.spend(results)
	r.unfinished(results)
	if about.Decided || slices.ContainsFunc(results, func(r Result) bool { return r.Decided }) {
		s := scores(afterGate(results), judged)
		r.AfterGate = &s
	}
	return r
}

func (r *Report) spend(results []Result) {
	costs := make([]float64, 0, len(results))
	for _, one := range results {
		r.Usage = cost.Add(r.Usage, one.Usage)
		r.Judging = cost.Add(r.Judging, one.Judging)
		costs = append(costs, float64(one.Usage.Cost))
	}
	r.Cost = r.Usage.Cost + r.Judging.Cost
	r.CostPerCase = percentiles(costs)
}

// unfinished collects what was not read, not kept and not passed.
func (r *Report) unfinished(results []Result) {
	for _, one := range results {
		if len(one.Unread) > 0 || one.Outcome == reviewpr.Failed {
			r.UnreadCases++
		}
		for _, k := range one.Golden {
			if k.Hit == "" && k.LostAt != "" {
				r.KnownLost[k.LostAt]++
			}
		}
		if !one.Passed {
			r.NotPassed = append(r.NotPassed, NotPassed{one.ID, one.Why})
		}
	}
}

func lost(results []Result, of func(Result) []Loss) map[string][]Lost {
	stages := map[string][]Lost{}
	for _, r := range results {
		for _, l := range of(r) {
			stages[l.Stage] = append(stages[l.Stage], Lost{r.ID, l})
		}
	}
	return stages
}

func scores(results []Result, judged bool) Scores {
	s := Scores{Counts: total(results...)}
	group := dimensions()[byVisibility].group(results)
	local, context, clean := group[string(dataset.Local)], group[string(dataset.Context)], group[string(dataset.Clean)]
	s.CasesLocal, s.PassedLocal, s.PassedClean = local.Cases, local.Passed, clean.Passed
	s.GoldenLocal, s.HitLocal = local.Golden, local.Hit
	s.Rates = Rates{
		Pass: Wilson(s.Passed, s.Cases), PassLocal: Wilson(s.PassedLocal, s.CasesLocal), PassClean: Wilson(s.PassedClean, s.CleanCases),
		Recall: Wilson(s.Hit, s.Golden), RecallLocal: Wilson(local.Hit, local.Golden), RecallContext: Wilson(context.Hit, context.Golden),
		Precision:             Wilson(s.Matched, s.Posted),
		FalsePositivesOnClean: perCase(results, true, func(r Result) int { return len(r.Posted) }),
		PostedPerCase:         perCase(results, false, func(r Result) int { return len(r.Posted) }),
		UnmatchedMajorPerCase: perCase(results, false, Result.unmatchedMajor),
	}
	if judged {
		s.Rates.PrecisionJudged = Wilson(s.Matched+s.Valid, s.Posted)
	}
	if n := s.Golden + s.Posted; n > 0 {
		f1 := round(float64(s.Hit+s.Matched) / float64(n))
		s.F1 = &f1
	}
	return s
}

// perCase is the mean of a number over cases, or over the clean ones.
func perCase(results []Result, clean bool, number func(Result) int) *Interval {
	var values []float64
	for _, r := range results {
		if !clean || r.Kind == dataset.Clean {
			values = append(values, float64(number(r)))
		}
	}
	return bootstrap(values, mean)
}

// afterGate gives the results as recorded decisions left them: without what they
// dropped, with the severities that they gave, and graded anew.
func afterGate(results []Result) []Result {
	after := slices.Clone(results)
	for i, r := range results {
		if r.Decided {
			after[i] = r.decided()
		}
	}
	return after
}

func (r Result) decided() Result {
	before := r.Posted
	r.Golden, r.Posted = slices.Clone(r.Golden), nil
	for _, p := range before {
		switch {
		case !p.Dropped:
			p.Severity = cmp.Or(p.Regraded, p.Severity)
			r.Posted = append(r.Posted, p)
		case p.Golden >= 0:
			r.Golden[p.Golden].Hit = ""
		}
	}
	r.markFiles()
	Grade(&r)
	return r
}
