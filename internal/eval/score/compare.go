package score

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/stats"
	"github.com/org/pr-review-action/internal/wording"
)

// Comparison compares two runs, over the cases that both have with the same known findings.
// Passed and Hit are tested at 5 %, uncorrected. Hit treats the known findings of a case as
// independent, so its p is a little too small.
type Comparison struct {
	Cases int    `json:"cases"`
	Apart [2]int `json:"not_compared"` // cases by run that the other has not, or has with other known findings
	// fingerprints that differ; the caller sets them, from Differing
	Differs   []string           `json:"differs"`
	Changed   []Change           `json:"changed"` // in the order of the first run
	Passed    Paired             `json:"passed"`
	Hit       Paired             `json:"hit"`
	Precision [2]*stats.Interval `json:"precision"` // by run; nil if the run posted nothing
}

// Change is a case whose result changed, and in which respects. These are trusted text except
// for the paths in it.
type Change struct {
	Case   string   `json:"case"`
	Better []string `json:"better,omitempty"`
	Worse  []string `json:"worse,omitempty"`
}

// Paired counts the outcomes that changed between two runs. P is the two-sided
// p-value of McNemar's exact test, that chance alone gives so uneven a change.
type Paired struct {
	First  int     `json:"first"` // successes in the first run
	Later  int     `json:"later"`
	Of     int     `json:"of"`
	Better int     `json:"better"`
	Worse  int     `json:"worse"`
	P      float64 `json:"p"`
}

// Compare compares the results of two runs case by case.
func Compare(first, later []Result) Comparison {
	pairs, c := pairUp(first, later)
	var matched, posted [2]int
	for _, p := range pairs {
		c.Passed.count(p[0].Passed, p[1].Passed)
		for i, k := range p[0].Golden {
			c.Hit.count(k.Hit != "", p[1].Golden[i].Hit != "")
		}
		for i, r := range p {
			posted[i] += len(r.Posted)
			for _, f := range r.Posted {
				matched[i] += boolToInt(f.Golden >= 0)
			}
		}
		if change := p.change(); len(change.Better)+len(change.Worse) > 0 {
			c.Changed = append(c.Changed, change)
		}
	}
	c.Passed.P, c.Hit.P = mcNemar(c.Passed.Better, c.Passed.Worse), mcNemar(c.Hit.Better, c.Hit.Worse)
	for i := range c.Precision {
		c.Precision[i] = stats.Wilson(matched[i], posted[i])
	}
	return c
}

// Differing returns the names of the fingerprints that differ between two reports,
// in alphabetical order: what was changed between the runs.
func Differing(first, later Report) []string {
	all := map[string]string{}
	maps.Copy(all, first.Fingerprints)
	maps.Copy(all, later.Fingerprints)
	maps.DeleteFunc(all, func(name, _ string) bool { return first.Fingerprints[name] == later.Fingerprints[name] })
	return append([]string{}, names(all, nil)...)
}

type pair [2]Result

// pairUp returns the results of the cases that both runs have.
func pairUp(first, later []Result) (pairs []pair, c Comparison) {
	c.Changed, c.Differs = []Change{}, []string{}
	for _, r := range first {
		at := slices.IndexFunc(later, func(other Result) bool { return other.ID == r.ID && sameKnown(r, other) })
		if at >= 0 {
			pairs = append(pairs, pair{r, later[at]})
		}
	}
	c.Cases, c.Apart = len(pairs), [2]int{len(first) - len(pairs), len(later) - len(pairs)}
	return pairs, c
}

func sameKnown(a, b Result) bool {
	return a.Kind == b.Kind && slices.EqualFunc(a.Golden, b.Golden, func(a, b Known) bool {
		return slices.Equal(a.Places(), b.Places()) && a.Severity == b.Severity && a.Issue == b.Issue
	})
}

func (p *Paired) count(first, later bool) {
	p.First += boolToInt(first)
	p.Later += boolToInt(later)
	p.Of++
	p.Better += boolToInt(!first && later)
	p.Worse += boolToInt(first && !later)
}

// mcNemar returns the exact two-sided p-value for better and worse changes of
// paired outcomes (Q. McNemar, 1947): how often a fair coin would fall at least
// as unevenly. It is 1 if nothing changed.
func mcNemar(better, worse int) float64 {
	tail := 0.0
	for k := range min(better, worse) + 1 {
		tail += stats.Binomial(k, better+worse, 0.5)
	}
	return stats.Round(min(1, 2*tail))
}

func (p pair) change() Change {
	c := Change{p[0].ID, improvements(p[1], p[0], "passes now", "hits "),
		improvements(p[0], p[1], "passes no longer", "misses ")}
	was, is := p[0].unmatchedMajor(), p[1].unmatchedMajor()
	says := fmt.Sprintf("%s of severity major or higher instead of %d", wording.Count(is, "unmatched finding"), was)
	switch {
	case is < was:
		c.Better = append(c.Better, says)
	case is > was:
		c.Worse = append(c.Worse, says)
	}
	return c
}

func improvements(r, other Result, passes, hits string) (what []string) {
	if r.Passed && !other.Passed {
		what = append(what, passes)
	}
	var places []string
	for i, k := range r.Golden {
		if k.Hit != "" && other.Golden[i].Hit == "" {
			places = append(places, guard.Code(k.location()))
		}
	}
	if len(places) > 0 {
		what = append(what, hits+strings.Join(places, ", "))
	}
	return what
}

// significant is the p-value below which a change is more than noise.
const significant = 0.05

// Markdown describes what changed from the first run to the later one, and whether
// that is more than noise. It lists only the cases whose result changed.
func (c Comparison) Markdown() string {
	if c.Cases == 0 {
		return page(c.head(), "There is nothing to compare.")
	}
	t := table{head: []string{"figure", "first", "second", "change", "in plain words"}, align: "lrrrl"}
	c.Passed.addRow(&t, "cases passed")
	c.Hit.addRow(&t, "known findings hit")
	first, later := c.Precision[0], c.Precision[1]
	if first != nil && later != nil {
		moved := fmt.Sprintf("%+.1f points", 100*(later.Value-first.Value))
		t.add("precision", percent(first.Value), percent(later.Value), moved,
			"95 % intervals: "+intervalText(first)+" and "+intervalText(later))
	}
	return page(c.head(), t.String(), c.cases())
}

func (c Comparison) head() string {
	text := "**" + wording.Count(c.Cases, "case") + "** in both runs"
	if c.Apart != [2]int{} {
		text += fmt.Sprintf(" (not compared: %d of the first and %d of the second)", c.Apart[0], c.Apart[1])
	}
	if len(c.Differs) == 0 {
		return text + ". Their fingerprints are the same."
	}
	return text + ". Fingerprints that differ: " + inline(strings.Join(c.Differs, ", ")) + "."
}

func (p Paired) addRow(t *table, name string) {
	says := "no change"
	if p.Better+p.Worse > 0 {
		says = fmt.Sprintf("%d better, %d worse; p = %.3f: not more than noise", p.Better, p.Worse, p.P)
		if p.P < significant {
			says = fmt.Sprintf("%d better, %d worse; p = %.3f: **more than noise**", p.Better, p.Worse, p.P)
		}
	}
	t.add(name, outOf(p.First, p.Of), outOf(p.Later, p.Of), fmt.Sprintf("%+d", p.Later-p.First), says)
}

func (c Comparison) cases() string {
	if len(c.Changed) == 0 {
		return "No case changed: the same ones pass, the same known findings are hit," +
			" and as many unmatched findings are of severity major or higher."
	}
	rows := make([]string, 0, len(c.Changed))
	for _, change := range c.Changed {
		says := func(word string, what []string) string {
			if len(what) == 0 {
				return ""
			}
			return word + ": " + strings.Join(what, ", ")
		}
		rows = append(rows, "- "+guard.Code(change.Case)+" "+
			inline(wording.Joined("; ", says("better", change.Better), says("worse", change.Worse))))
	}
	return paragraphs("**"+wording.Count(len(c.Changed), "case")+" changed:**", strings.Join(rows, "\n"))
}
