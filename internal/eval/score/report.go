package score

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/stats"
)

// Scripted is the name of the reviewer that knows the answers. It measures the
// pipeline, not a model.
const Scripted = "scripted"

// About describes a run, beside its results.
type About struct {
	Fingerprints map[string]string `json:"fingerprints"`    // cases, prompt, model, judge, config, commit, …
	Reviewer     string            `json:"reviewer"`        // Scripted, or another name for what was under test
	Model        string            `json:"model"`           // untrusted text; empty for none
	Judge        string            `json:"judge"`           // untrusted text; empty if only the place decides
	Agreement    *Agreement        `json:"agreement"`       // nil if it was not measured
	Judging      Bill              `json:"judging"`         // the judge's usage; from the caller only that of Agreement
	Latency      *stats.Quantile   `json:"latency_seconds"` // per case; nil if no model was asked
	Seconds      float64           `json:"seconds"`         // duration of the whole run
}

// Agreement counts how often the judge agreed with the author of labelled pairs.
type Agreement struct {
	Agreed int `json:"agreed"`
	Of     int `json:"of"`
}

// usable reports whether the judge may be used: it must be right on 27 of 30
// pairs, as the format of the cases requires.
func (a Agreement) usable() bool { return 10*a.Agreed >= 9*a.Of }

// Report is the result of a run: the object that "eval run --json" prints.
// Only Seconds and Latency depend on time.
type Report struct {
	Counts
	By    map[string]map[string]Counts `json:"by"` // by language, severity and visibility
	Rates Rates                        `json:"rates"`
	About
	Losses      map[string][]Lost `json:"losses"`                 // by stage, in the order of the cases
	Moved       map[string][]Lost `json:"moved"`                  // by stage, in the order of the cases
	Cost        *cost.MicroUSD    `json:"cost_microusd"`          // of review and judge; nil if no price is known
	CostPerCase *stats.Quantile   `json:"cost_per_case_microusd"` // of the review
	UnreadCases int               `json:"unread_cases"`           // not read in full, including failed runs
	Usage       Bill              `json:"usage"`                  // of the review
	NotPassed   []NotPassed       `json:"not_passed"`             // in the order of the cases
	Asked       *TicketScore      `json:"asked,omitempty"`        // nil if no case has a ticket
	// what the scripted reviewer found that depends on what it is shown, with packs and tools
	// ("both"), with one of the two, and with neither
	Shown map[string]Seen `json:"shown,omitempty"`
}

// Bill is a usage whose cost is null in JSON if a price is unknown.
type Bill cost.Usage

// MarshalJSON encodes b like a cost.Usage.
func (b Bill) MarshalJSON() ([]byte, error) {
	u := cost.Usage(b)
	return json.Marshal(struct {
		cost.Usage
		Cost *cost.MicroUSD `json:"cost_microusd"`
	}{u, u.Known()})
}

func (b Bill) plus(more cost.Usage) Bill { return Bill(cost.Add(cost.Usage(b), more)) }

// Seen holds the figures of one run in Report.Shown. Elsewhere counts the known
// findings that depend on lines outside the diff.
type Seen struct {
	Counts
	Elsewhere Part `json:"elsewhere"`
	// of its questions, estimated from their bytes
	InputTokens int64 `json:"input_tokens"`
}

// Part counts the known findings of a group and those that were hit.
type Part struct {
	Hit    int `json:"hit"`
	Golden int `json:"golden"`
}

// SeenIn returns the figures of a run for Report.Shown.
func SeenIn(r Report, results []Result) Seen {
	s := Seen{Counts: r.Counts, InputTokens: r.Usage.InputTokens}
	for _, result := range results {
		for _, k := range result.Golden {
			if len(k.Evidence) > 0 {
				s.Elsewhere.Golden++
				s.Elsewhere.Hit += boolToInt(k.Hit != "")
			}
		}
	}
	return s
}

// Rates holds shares with their intervals, and means. Undefined ones are nil.
type Rates struct {
	Pass      *stats.Interval `json:"pass"`
	Recall    *stats.Interval `json:"recall"`
	Precision *stats.Interval `json:"precision"` // a lower bound: not all defects are known
	// also counts findings that the judge calls valid; nil without a judge
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

// Summarize returns the report on results. Their order only affects the order of
// the report's lists.
func Summarize(results []Result, about About) Report {
	r := Report{By: breakDown(results), About: about, Losses: map[string][]Lost{}, Moved: map[string][]Lost{},
		NotPassed: []NotPassed{}}
	r.Fingerprints = map[string]string{}
	maps.Copy(r.Fingerprints, about.Fingerprints)
	for _, c := range r.By[byLanguage] {
		r.Counts = r.Counts.plus(c)
	}
	grave, costs := 0, make([]float64, 0, len(results))
	for _, of := range results {
		grave += of.unmatchedMajor()
		if known := of.Usage.Known(); known != nil {
			costs = append(costs, float64(*known))
		}
		r.add(of)
	}
	r.Cost, r.CostPerCase = cost.Usage(r.Usage.plus(cost.Usage(r.Judging))).Known(), stats.Quantiles(costs)
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

// add adds a case's cost, losses and grade to the report.
func (r *Report) add(of Result) {
	r.Usage, r.Judging = r.Usage.plus(of.Usage), r.Judging.plus(of.Judging)
	r.Asked = r.Asked.plus(of.Asked)
	r.UnreadCases += boolToInt(len(of.Unread) > 0 || of.Outcome == reviewpr.Failed)
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

// mean returns sum divided by of, or nil if of is 0.
func mean(sum, of int) *float64 {
	if of == 0 {
		return nil
	}
	v := stats.Round(float64(sum) / float64(of))
	return &v
}

// Counts holds the figures of a group of cases. Matched and Hit are equal over all
// cases, since each finding hits at most one known one.
type Counts struct {
	Cases  int `json:"cases"`
	Passed int `json:"passed"`
	Golden int `json:"golden"` // known findings
	Hit    int `json:"hit"`    // known findings that a posted one hits
	// known findings in files with a posted finding; reported, never scored
	FileHit             int `json:"file_hit"`
	Posted              int `json:"posted"`
	Matched             int `json:"matched"` // posted findings that hit a known one
	Valid               int `json:"valid"`   // posted findings that hit none but are true defects to the judge
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

// The dimensions of the breakdowns, by their names in a report.
const (
	byLanguage   = "language"
	bySeverity   = "severity"
	byVisibility = "visibility"
)

// breakDown returns the counts by dimension and group. A case with known findings has
// the severity of its most severe one, and is local if all of them are. Clean cases are
// their own group, so that every breakdown adds up to all cases.
func breakDown(results []Result) map[string]map[string]Counts {
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
		add(severity, visibility, Counts{Cases: 1, Passed: boolToInt(r.Passed), CleanCases: boolToInt(clean)})
		for _, k := range r.Golden {
			c := Counts{Golden: 1, Hit: boolToInt(k.Hit != ""), FileHit: boolToInt(k.FileHit)}
			add(string(k.Severity), string(k.Visibility), c)
		}
		for _, p := range r.Posted {
			hits := p.Golden >= 0
			c := Counts{Posted: 1, Matched: boolToInt(hits), Valid: boolToInt(!hits && p.Valid),
				CleanFalsePositives: boolToInt(clean)}
			add(string(p.Severity), visibility, c)
		}
	}
	return by
}

func boolToInt(b bool) int {
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
