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
type Comparison struct {
	Cases     int         `json:"cases"`
	OnlyFirst int         `json:"only_first"` // cases of the first run alone
	OnlyLater int         `json:"only_later"`
	Redefined int         `json:"redefined"` // cases of both whose known findings are not the same
	Differs   []string    `json:"differs"`   // fingerprints that differ; the caller sets them, from Differing
	Changed   []Change    `json:"changed"`   // in the order of the first run
	Passed    Paired      `json:"passed"`
	Hit       Paired      `json:"hit"`
	Recall    *Difference `json:"recall"`    // nil where there are no known findings
	Precision *Difference `json:"precision"` // nil where a run posted nothing
}

// Change is a case whose result changed. What is in our words, around paths.
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
		if change, changed := p.change(); changed {
			c.Changed = append(c.Changed, change)
		}
	}
	c.Passed.P = mcNemar(c.Passed.Better, c.Passed.Worse)
	c.Hit.P = mcNemar(c.Hit.Better, c.Hit.Worse)
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.first.ID, b.first.ID) })
	c.Recall = difference(pairs, func(r Result) share { n := total([]Result{r}); return share{n.Hit, n.Golden} })
	c.Precision = difference(pairs, func(r Result) share { n := total([]Result{r}); return share{n.Matched, n.Posted} })
	return c
}

// Differing names the fingerprints that two reports do not have in common, in
// alphabetical order: what was changed between the runs.
func Differing(first, later Report) []string {
	all := map[string]string{}
	maps.Copy(all, first.Fingerprints)
	maps.Copy(all, later.Fingerprints)
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if first.Fingerprints[name] != later.Fingerprints[name] {
			names = append(names, name)
		}
	}
	return names
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
		return a.Place == b.Place && slices.Equal(a.Also, b.Also) && a.Severity == b.Severity && a.Issue == b.Issue
	})
}

func (p *Paired) count(first, later bool) {
	p.First += one(first)
	p.Later += one(later)
	p.Of++
	p.Better += one(!first && later)
	p.Worse += one(first && !later)
}

// change says what of a case's result changed.
func (p pair) change() (Change, bool) {
	var better, worse []string
	switch {
	case p.later.Passed && !p.first.Passed:
		better = append(better, "passes now")
	case p.first.Passed && !p.later.Passed:
		worse = append(worse, "passes no longer")
	}
	better = append(better, hits("hits ", p.first, p.later)...)
	worse = append(worse, hits("misses ", p.later, p.first)...)
	switch was, is := p.first.unmatchedMajor(), p.later.unmatchedMajor(); {
	case is < was:
		better = append(better, fmt.Sprintf("%s of severity major or graver instead of %d", render.Count(is, "unmatched finding"), was))
	case is > was:
		worse = append(worse, fmt.Sprintf("%s of severity major or graver instead of %d", render.Count(is, "unmatched finding"), was))
	}
	verdict := Mixed
	switch {
	case len(worse) == 0:
		verdict = Better
	case len(better) == 0:
		verdict = Worse
	}
	return Change{p.first.ID, verdict, append(better, worse...)}, len(better)+len(worse) > 0
}

// hits names the known findings that there has and here has not.
func hits(does string, here, there Result) []string {
	var places []string
	for i, k := range here.Golden {
		if k.Hit == "" && there.Golden[i].Hit != "" {
			places = append(places, guard.Code(k.at()))
		}
	}
	if len(places) == 0 {
		return nil
	}
	return []string{does + strings.Join(places, ", ")}
}

// difference is nil where the rate is undefined in a run. A sample in which it
// is undefined tells nothing and is left out.
func difference(pairs []pair, rate func(Result) share) *Difference {
	shares := make([][2]share, len(pairs))
	for i, p := range pairs {
		shares[i] = [2]share{rate(p.first), rate(p.later)}
	}
	once := func(int) int { return 1 }
	first, later, ok := rates(shares, once)
	if !ok {
		return nil
	}
	var drawn []float64
	resample(len(pairs), func(times []int) {
		if a, b, ok := rates(shares, func(i int) int { return times[i] }); ok {
			drawn = append(drawn, b-a)
		}
	})
	if len(drawn) == 0 {
		return nil
	}
	low, high := middle95(drawn)
	return &Difference{round(first), round(later), *rounded(later-first, low, high)}
}

// rates sums what the cases have, each taken so many times.
func rates(shares [][2]share, times func(int) int) (first, later float64, ok bool) {
	var sum [2]share
	for i, s := range shares {
		for run := range sum {
			sum[run].n += times(i) * s[run].n
			sum[run].of += times(i) * s[run].of
		}
	}
	return sum[0].points() / 100, sum[1].points() / 100, sum[0].of > 0 && sum[1].of > 0
}
