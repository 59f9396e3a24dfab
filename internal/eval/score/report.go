package score

import (
	"github.com/org/pr-review-action/internal/cost"
)

// Scripted names the reviewer that knows the answers, which measures the
// pipeline and no model.
const Scripted = "scripted"

// Report is what a run comes to: the object that "eval run --json" prints.
// Nothing but Seconds and Latency depends on time.
type Report struct {
	Scores
	By           map[string]map[string]Counts `json:"by"`                     // language, severity, visibility, category → group
	Losses       map[string][]Lost            `json:"losses"`                 // by stage, in the order of the cases
	Moved        map[string][]Lost            `json:"moved"`                  // by stage, in the order of the cases
	KnownLost    map[string]int               `json:"known_lost"`             // by stage: missed known findings near which a finding was lost there
	Cost         cost.MicroUSD                `json:"cost_microusd"`          // of review and judge together
	CostPerCase  *Percentiles                 `json:"cost_per_case_microusd"` // of the review
	Seconds      float64                      `json:"seconds"`
	Latency      *Percentiles                 `json:"latency_seconds"` // of a case
	Fingerprints map[string]string            `json:"fingerprints"`    // what the figures hold for: cases, prompt, model, judge, …
	Reviewer     string                       `json:"reviewer"`
	Model        string                       `json:"model"`
	Judge        string                       `json:"judge"`
	Judged       bool                         `json:"judged"`
	Agreement    *Agreement                   `json:"agreement"`
	UnreadCases  int                          `json:"unread_cases"` // not read in full, those whose run failed among them
	Usage        cost.Usage                   `json:"usage"`        // of the review
	Judging      cost.Usage                   `json:"judging"`      // of the judge
	NotPassed    []NotPassed                  `json:"not_passed"`   // in the order of the cases
	AfterGate    *Scores                      `json:"after_gate"`   // the scores of what recorded decisions made of it; nil without such

	noJudging bool // read from an object that does not say whether a judge was asked
}

// Scores are counts with what follows from them.
type Scores struct {
	Counts
	CasesLocal  int      `json:"cases_local"` // cases whose known findings are all local
	PassedLocal int      `json:"passed_local"`
	PassedClean int      `json:"passed_clean"`
	GoldenLocal int      `json:"golden_local"` // known findings that are local; the others need context
	HitLocal    int      `json:"hit_local"`
	Rates       Rates    `json:"rates"`
	F1          *float64 `json:"f1"` // of recall and precision
}

// Rates are shares and means with their intervals; nil where undefined.
type Rates struct {
	Pass                  *Interval `json:"pass"`
	PassLocal             *Interval `json:"pass_local"`
	PassClean             *Interval `json:"pass_clean"`
	Recall                *Interval `json:"recall"`
	RecallLocal           *Interval `json:"recall_local"`
	RecallContext         *Interval `json:"recall_context"`
	Precision             *Interval `json:"precision"`        // a lower bound: the known findings are not all there are
	PrecisionJudged       *Interval `json:"precision_judged"` // those that the judge holds valid count too; nil without a judge
	FalsePositivesOnClean *Interval `json:"false_positives_per_clean"`
	PostedPerCase         *Interval `json:"posted_per_case"`
	UnmatchedMajorPerCase *Interval `json:"unmatched_major_per_case"`
}

// Agreement is how often the judge agreed with people over labelled pairs.
type Agreement struct {
	Agreed int `json:"agreed"`
	Of     int `json:"of"`
}

// Usable reports whether the judge may be used: from 27 of 30 pairs on, as the
// cases' format asks for.
func (a Agreement) Usable() bool { return 10*a.Agreed >= 9*a.Of }

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
