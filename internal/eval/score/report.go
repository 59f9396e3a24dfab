package score

import (
	"cmp"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/stats"
)

// Scripted names the reviewer that knows the answers, which measures the
// pipeline and no model.
const Scripted = "scripted"

// About is what a report says beside the results.
type About struct {
	Fingerprints map[string]string `json:"fingerprints"`    // cases, prompt, model, judge, config, commit, …
	Reviewer     string            `json:"reviewer"`        // Scripted, or another name for what was under test
	Model        string            `json:"model"`           // untrusted text; empty for none
	Judge        string            `json:"judge"`           // untrusted text; empty where place alone decides
	Agreement    *Agreement        `json:"agreement"`       // nil where it was not measured
	Judging      cost.Usage        `json:"judging"`         // of the judge; at first of measuring it
	Latency      *stats.Quantile   `json:"latency_seconds"` // of a case; nil where nobody was asked
	Seconds      float64           `json:"seconds"`         // of the whole run
}

// Agreement is how often the judge agreed with the author of labelled pairs.
type Agreement struct {
	Agreed int `json:"agreed"`
	Of     int `json:"of"`
}

// usable reports whether the judge may be used: from 27 of 30 pairs on, as the
// cases' format asks for.
func (a Agreement) usable() bool { return 10*a.Agreed >= 9*a.Of }

// Report is what a run comes to: the object that "eval run --json" prints.
// Nothing but Seconds and Latency depends on time.
type Report struct {
	Counts
	By    map[string]map[string]Counts `json:"by"` // for every language, severity and visibility
	Rates Rates                        `json:"rates"`
	About
	Losses      map[string][]Lost `json:"losses"`                 // by stage, in the order of the cases
	Moved       map[string][]Lost `json:"moved"`                  // by stage, in the order of the cases
	Cost        cost.MicroUSD     `json:"cost_microusd"`          // of review and judge together
	CostPerCase *stats.Quantile   `json:"cost_per_case_microusd"` // of the review
	UnreadCases int               `json:"unread_cases"`           // not read in full, those whose run failed among them
	Usage       cost.Usage        `json:"usage"`                  // of the review
	NotPassed   []NotPassed       `json:"not_passed"`             // in the order of the cases
	Asked       *Asked            `json:"asked,omitempty"`        // nil where no case has a ticket
	// of a scripted reviewer that goes by what it is shown: what it finds with packs and tools
	// (both), one of the two, and neither
	Shown map[string]Seen `json:"shown,omitempty"`
}

// Seen is one of these runs. Elsewhere counts the known findings that lines beside
// the diff decide.
type Seen struct {
	Counts
	Elsewhere Part `json:"elsewhere"`
	// what its questions take, by bytes
	InputTokens int64 `json:"input_tokens"`
}

// Part is how many of so many.
type Part struct {
	Hit    int `json:"hit"`
	Golden int `json:"golden"`
}

// SeenIn sums up one of the runs.
func SeenIn(r Report, results []Result) Seen {
	s := Seen{Counts: r.Counts, InputTokens: r.Usage.InputTokens}
	for _, result := range results {
		for _, k := range result.Golden {
			if len(k.Evidence) > 0 {
				s.Elsewhere.Golden++
				s.Elsewhere.Hit += one(k.Hit != "")
			}
		}
	}
	return s
}

// Rates are shares with their intervals, and means; nil where undefined.
type Rates struct {
	Pass      *stats.Interval `json:"pass"`
	Recall    *stats.Interval `json:"recall"`
	Precision *stats.Interval `json:"precision"` // a lower bound: the known findings are not all there are
	// those that the judge calls valid count too; nil without a judge
	PrecisionJudged *stats.Interval `json:"precision_judged"`

	PostedPerCase         *float64 `json:"posted_per_case"`
	UnmatchedMajorPerCase *float64 `json:"unmatched_major_per_case"`
	FalsePositivesOnClean *float64 `json:"false_positives_per_clean"`
}

// Lost is a finding that a stage lost or moved, with its case.
type Lost struct {
	Case string `json:"case"`
	Loss
}

// NotPassed is a case that did not pass.
type NotPassed struct {
	Case string `json:"case"`
	Why  string `json:"why"`
}

// Summarize makes the report. The order of the results decides the order of its
// lists and nothing else.
func Summarize(results []Result, about About) Report {
	r := Report{By: count(results), About: about, Losses: map[string][]Lost{}, Moved: map[string][]Lost{},
		NotPassed: []NotPassed{}}
	r.Fingerprints = map[string]string{}
	maps.Copy(r.Fingerprints, about.Fingerprints)
	for _, c := range r.By[byLanguage] {
		r.Counts = r.Counts.plus(c)
	}
	grave, costs := 0, make([]float64, 0, len(results))
	for _, of := range results {
		grave += of.unmatchedMajor()
		costs = append(costs, float64(of.Usage.Cost))
		r.add(of)
	}
	r.Cost, r.CostPerCase = r.Usage.Cost+r.Judging.Cost, stats.Quantiles(costs)
	r.Rates = Rates{
		Pass: stats.Wilson(r.Passed, r.Cases), Recall: stats.Wilson(r.Hit, r.Golden),
		Precision:     stats.Wilson(r.Matched, r.Posted),
		PostedPerCase: mean(r.Posted, r.Cases), UnmatchedMajorPerCase: mean(grave, r.Cases),
		FalsePositivesOnClean: mean(r.CleanFalsePositives, r.CleanCases),
	}
	if about.judged() {
		r.Rates.PrecisionJudged = stats.Wilson(r.Matched+r.Valid, r.Posted)
	}
	return r
}

// add takes in what a case cost, what got lost in it, and whether it passed.
func (r *Report) add(of Result) {
	r.Usage, r.Judging, r.Asked = cost.Add(r.Usage, of.Usage), cost.Add(r.Judging, of.Judging), r.Asked.plus(of.Asked)
	r.UnreadCases += one(len(of.Unread) > 0 || of.Outcome == reviewpr.Failed)
	for _, l := range of.Lost {
		r.Losses[l.Stage] = append(r.Losses[l.Stage], Lost{of.ID, l})
	}
	for _, l := range of.Moved {
		r.Moved[l.Stage] = append(r.Moved[l.Stage], Lost{of.ID, l})
	}
	if !of.Passed {
		r.NotPassed = append(r.NotPassed, NotPassed{of.ID, of.Why})
	}
}

// mean is nil for a mean over nothing.
func mean(sum, of int) *float64 {
	if of == 0 {
		return nil
	}
	v := stats.Round(float64(sum) / float64(of))
	return &v
}

// Counts are the figures that every group of cases has. Matched and Hit are
// equal over all cases, since each finding hits at most one known one.
type Counts struct {
	Cases  int `json:"cases"`
	Passed int `json:"passed"`
	Golden int `json:"golden"` // known findings
	Hit    int `json:"hit"`    // known findings that a posted one hits
	// known findings whose file something was posted on; reported, never scored
	FileHit             int `json:"file_hit"`
	Posted              int `json:"posted"`
	Matched             int `json:"matched"` // posted findings that hit a known one
	Valid               int `json:"valid"`   // posted findings that hit none and that the judge holds for true defects
	CleanCases          int `json:"clean_cases"`
	CleanFalsePositives int `json:"clean_false_positives"` // posted findings on clean cases
}

func (c Counts) plus(o Counts) Counts {
	return Counts{
		Cases: c.Cases + o.Cases, Passed: c.Passed + o.Passed,
		Golden: c.Golden + o.Golden, Hit: c.Hit + o.Hit, FileHit: c.FileHit + o.FileHit,
		Posted: c.Posted + o.Posted, Matched: c.Matched + o.Matched, Valid: c.Valid + o.Valid,
		CleanCases: c.CleanCases + o.CleanCases, CleanFalsePositives: c.CleanFalsePositives + o.CleanFalsePositives,
	}
}

// The ways in which counts are broken down, by their names in a report.
const (
	byLanguage   = "language"
	bySeverity   = "severity"
	byVisibility = "visibility"
)

// count breaks the counts down. A case with known findings goes by severity where
// its gravest one does; by visibility it is local when all its known findings are.
// A clean one is a group of its own, so that the cases of every breakdown add up.
func count(results []Result) map[string]map[string]Counts {
	by := map[string]map[string]Counts{byLanguage: {}, bySeverity: {}, byVisibility: {}}
	for _, r := range results {
		add := func(severity, visibility string, c Counts) {
			groups := map[string]string{
				byLanguage: cmp.Or(r.Language, "other"), bySeverity: severity, byVisibility: visibility,
			}
			for name, group := range groups {
				by[name][group] = by[name][group].plus(c)
			}
		}
		clean, severity, visibility := r.Kind == dataset.Clean, r.gravest(), r.visibility()
		add(severity, visibility, Counts{Cases: 1, Passed: one(r.Passed), CleanCases: one(clean)})
		for _, k := range r.Golden {
			c := Counts{Golden: 1, Hit: one(k.Hit != ""), FileHit: one(k.FileHit)}
			add(string(k.Severity), string(k.Visibility), c)
		}
		for _, p := range r.Posted {
			hits := p.Golden >= 0
			c := Counts{Posted: 1, Matched: one(hits), Valid: one(!hits && p.Valid), CleanFalsePositives: one(clean)}
			add(string(p.Severity), visibility, c)
		}
	}
	return by
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r Result) gravest() string {
	if len(r.Golden) == 0 {
		return string(dataset.Clean)
	}
	graver := func(a, b Known) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) }
	return string(slices.MaxFunc(r.Golden, graver).Severity)
}

func (r Result) visibility() string {
	switch {
	case r.Kind == dataset.Clean:
		return string(dataset.Clean)
	case slices.ContainsFunc(r.Golden, func(k Known) bool { return k.Visibility != dataset.Local }):
		return string(dataset.Context)
	}
	return string(dataset.Local)
}
