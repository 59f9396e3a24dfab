package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
)

// Verdict says which way a case changed.
type Verdict string

// The verdicts. Mixed is a change that is better in one respect and worse in
// another.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	Mixed  Verdict = "mixed"
)

// significant is the p-value below which a change is more than noise.
const significant = 0.05

// Comparison holds two runs against each other, over the cases that are in both
// with the same known findings.
//
// Passed and Hit are tested, each at 5 % and without a correction for there being
// two; rates have intervals. The test of Hit takes known findings as independent, which
// those of one case are not quite: where cases have many, its p is too small.
type Comparison struct {
	Cases     int         `json:"cases"`
	OnlyFirst int         `json:"only_first"` // cases of the first run alone
	OnlyLater int         `json:"only_later"`
	Redefined int         `json:"redefined"`      // cases of both whose known findings are not the same
	Differs   []string    `json:"differs"`        // fingerprints that differ; the caller sets them, from Differing
	Changed   []Change    `json:"changed"`        // in the order of the first run
	Others    int         `json:"other_findings"` // cases that are not in Changed and whose findings are others
	Passed    Paired      `json:"passed"`
	Hit       Paired      `json:"hit"`
	Recall    *Difference `json:"recall"`    // nil where there are no known findings; tested by Hit
	Precision *Difference `json:"precision"` // nil where a run posted nothing
}

// Change is a case whose result changed: whether it passes, which known findings
// are hit, or how many unmatched findings of severity major or graver there are.
// What is in our words, around paths.
type Change struct {
	Case    string   `json:"case"`
	Verdict Verdict  `json:"verdict"`
	What    []string `json:"what"`
}

// Paired counts outcomes that flipped, and how likely so uneven a flip is by
// chance: the p-value of McNemar's exact test, two-sided.
type Paired struct {
	First  int     `json:"first"` // successes in the first run
	Later  int     `json:"later"`
	Of     int     `json:"of"`
	Better int     `json:"better"`
	Worse  int     `json:"worse"`
	P      float64 `json:"p"`
}

// Difference is how far a rate moved from the first run to the later one, with
// the 95 % interval of a bootstrap over the cases, in which both runs of a case
// stay together. Shares, not points.
type Difference struct {
	First float64 `json:"first"`
	Later float64 `json:"later"`
	Interval
}

// Compare holds the results of two runs against each other, case by case.
func Compare(first, later []Result) Comparison {
	pairs, c := pairUp(first, later)
	for _, p := range pairs {
		c.Passed.count(p.first.Passed, p.later.Passed)
		for i, k := range p.first.Golden {
			c.Hit.count(k.Hit != "", p.later.Golden[i].Hit != "")
		}
		if change := p.change(); len(change.What) > 0 {
			c.Changed = append(c.Changed, change)
		} else if !slices.EqualFunc(p.first.Posted, p.later.Posted, sameFinding) {
			c.Others++
		}
	}
	c.Passed.P = mcNemar(c.Passed.Better, c.Passed.Worse)
	c.Hit.P = mcNemar(c.Hit.Better, c.Hit.Worse)
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.first.ID, b.first.ID) })
	c.Recall = difference(bothOf(pairs, func(n Counts) share { return share{n.Hit, n.Golden} }))
	c.Precision = difference(bothOf(pairs, func(n Counts) share { return share{n.Matched, n.Posted} }))
	return c
}

// Differing names the fingerprints that two reports do not have in common, in
// alphabetical order: what was changed between the runs.
func Differing(first, later Report) []string {
	all := map[string]string{}
	maps.Copy(all, first.Fingerprints)
	maps.Copy(all, later.Fingerprints)
	differ := []string{}
	for _, name := range names(all, nil) {
		if first.Fingerprints[name] != later.Fingerprints[name] {
			differ = append(differ, name)
		}
	}
	return differ
}

// pair is a case in both runs.
type pair struct{ first, later Result }

func pairUp(first, later []Result) (pairs []pair, c Comparison) {
	c.Changed, c.Differs = []Change{}, []string{}
	byID := make(map[string]Result, len(later))
	for _, r := range later {
		byID[r.ID] = r
	}
	c.OnlyLater = len(byID)
	for _, r := range first {
		other, both := byID[r.ID]
		c.OnlyLater -= one(both)
		switch {
		case !both:
			c.OnlyFirst++
		case !sameKnown(r, other):
			c.Redefined++
		default:
			pairs = append(pairs, pair{r, other})
		}
	}
	c.Cases = len(pairs)
	return pairs, c
}

func sameKnown(a, b Result) bool {
	return a.Kind == b.Kind && slices.EqualFunc(a.Golden, b.Golden, func(a, b Known) bool {
		return slices.Equal(a.Places(), b.Places()) && a.Severity == b.Severity && a.Issue == b.Issue
	})
}

func (p *Paired) count(first, later bool) {
	p.First += one(first)
	p.Later += one(later)
	p.Of++
	p.Better += one(!first && later)
	p.Worse += one(first && !later)
}

// sameFinding takes no notice of what judge and people said of it.
func sameFinding(a, b Posted) bool {
	return a.Path == b.Path && a.Line == b.Line && a.Side == b.Side && a.Severity == b.Severity && a.Title == b.Title
}

// change says what of a case's result changed; nothing where What is empty.
func (p pair) change() Change {
	better := gained(p.later, p.first, "passes now", "hits ")
	worse := gained(p.first, p.later, "passes no longer", "misses ")
	was, is := p.first.unmatchedMajor(), p.later.unmatchedMajor()
	says := fmt.Sprintf("%s of severity major or graver instead of %d", render.Count(is, "unmatched finding"), was)
	switch {
	case is < was:
		better = append(better, says)
	case is > was:
		worse = append(worse, says)
	}
	verdict := Mixed
	switch {
	case len(worse) == 0:
		verdict = Better
	case len(better) == 0:
		verdict = Worse
	}
	return Change{p.first.ID, verdict, append(better, worse...)}
}

// gained words what one result has and the other has not.
func gained(r, other Result, passes, hits string) (what []string) {
	if r.Passed && !other.Passed {
		what = append(what, passes)
	}
	var places []string
	for i, k := range r.Golden {
		if k.Hit != "" && other.Golden[i].Hit == "" {
			places = append(places, guard.Code(k.at()))
		}
	}
	if len(places) > 0 {
		what = append(what, hits+strings.Join(places, ", "))
	}
	return what
}
