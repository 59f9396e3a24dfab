package score

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/render"
)

// figure is a row of the table of scores.
type figure struct {
	name string
	v    *Interval
	of   string
	show func(float64) string
	part bool // of the figure above; left out where undefined
}

func number(v float64) string { return fmt.Sprintf("%.2f", v) }

func dollars(v float64) string { return fmt.Sprintf("$%.4f", v/1e6) }

// figures are the scores for people, shares first.
func (s Scores) figures() []figure {
	r, cases := s.Rates, render.Count(s.Cases, "case")
	return []figure{
		{"cases passed", r.Pass, outOf(s.Passed, s.Cases), percent, false},
		{"… with local defects alone", r.PassLocal, outOf(s.PassedLocal, s.CasesLocal), percent, true},
		{"… clean", r.PassClean, outOf(s.PassedClean, s.CleanCases), percent, true},
		{"recall: known findings hit", r.Recall, outOf(s.Hit, s.Golden), percent, false},
		{"… local", r.RecallLocal, outOf(s.HitLocal, s.GoldenLocal), percent, true},
		{"… that need context", r.RecallContext, outOf(s.Hit-s.HitLocal, s.Golden-s.GoldenLocal), percent, true},
		{"… with a finding anywhere in their file", Wilson(s.FileHit, s.Golden), outOf(s.FileHit, s.Golden), percent, true},
		{"precision: posted findings that hit", r.Precision, outOf(s.Matched, s.Posted), percent, false},
		{"… or that the judge holds valid", r.PrecisionJudged, outOf(s.Matched+s.Valid, s.Posted), percent, true},
		{"F1 of recall and precision", s.f1(), "", percent, true},
		{"posted per case", r.PostedPerCase, cases, number, false},
		{"unmatched of major or graver per case", r.UnmatchedMajorPerCase, cases, number, false},
		{"false positives per clean case", r.FalsePositivesOnClean, render.Count(s.CleanCases, "case"), number, false},
	}
}

// f1 has no interval.
func (s Scores) f1() *Interval {
	if s.F1 == nil {
		return nil
	}
	return &Interval{Value: *s.F1, Low: *s.F1, High: *s.F1}
}

// spending is what the review of a case cost.
func (r Report) spending() []figure {
	if r.CostPerCase == nil || r.Usage.Cost == 0 {
		return nil
	}
	cases := render.Count(r.Cases, "case")
	return []figure{
		{"cost of a case's review, median", &r.CostPerCase.P50, cases, dollars, false},
		{"… 95th percentile", &r.CostPerCase.P95, cases, dollars, false},
	}
}

func headline(all []figure) string {
	t := table{head: []string{"figure", "value", "of", "95 % interval"}, align: "lrrr"}
	for _, f := range all {
		switch {
		case f.v != nil:
			t.add(f.name, f.show(f.v.Value), f.of, f.between())
		case !f.part:
			t.add(f.name, none, f.of, none)
		}
	}
	return t.String()
}

// between is the interval. One without width comes from values that are all
// equal, and says nothing about other cases.
func (f figure) between() string {
	if f.v.Low == f.v.High {
		return none
	}
	return strings.TrimSuffix(f.show(f.v.Low), " %") + " – " + f.show(f.v.High)
}
