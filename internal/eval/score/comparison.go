package score

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
)

// Markdown says what changed from the first run to the later one, and whether
// that is more than noise. Only cases whose result changed are named.
func (c Comparison) Markdown() string {
	return page(c.head(), c.noise(), c.cases())
}

func (c Comparison) head() string {
	text := "**" + render.Count(c.Cases, "case") + "** in both runs"
	var apart []string
	for _, group := range []struct {
		n    int
		says string
	}{{c.OnlyFirst, "in the first alone"}, {c.OnlyLater, "in the second alone"}, {c.Redefined, "with other known findings"}} {
		if group.n > 0 {
			apart = append(apart, fmt.Sprintf("%d %s", group.n, group.says))
		}
	}
	if len(apart) > 0 {
		text += " (not compared: " + strings.Join(apart, ", ") + ")"
	}
	text += ". "
	if len(c.Differs) == 0 {
		return text + "Their fingerprints are the same."
	}
	return text + "Fingerprints that differ: " + inline(strings.Join(c.Differs, ", ")) + "."
}

// noise is a table of what moved, each row with its verdict in plain words.
func (c Comparison) noise() string {
	if c.Cases == 0 {
		return "There is nothing to compare."
	}
	t := table{head: []string{"figure", "first", "second", "change", "in plain words"}, align: "lrrrl"}
	c.Passed.row(&t, "cases passed")
	c.Hit.row(&t, "known findings hit")
	c.Recall.row(&t, "recall")
	c.Precision.row(&t, "precision")
	return t.String()
}

func (p Paired) row(t *table, name string) {
	says := "no change"
	if p.Better+p.Worse > 0 {
		says = fmt.Sprintf("%d better, %d worse; %s: %s", p.Better, p.Worse, chance(p.P), verdict(p.P < significant))
	}
	t.add(name, outOf(p.First, p.Of), outOf(p.Later, p.Of), fmt.Sprintf("%+d", p.Later-p.First), says)
}

func (d *Difference) row(t *table, name string) {
	if d == nil {
		t.add(name, none, none, none, "undefined in one of the runs")
		return
	}
	says := "no change"
	if d.Value != 0 || d.Low != d.High {
		says = fmt.Sprintf("95 %% interval %+.1f to %+.1f: %s", 100*d.Low, 100*d.High, verdict(d.Low > 0 || d.High < 0))
	}
	t.add(name, percent(d.First), percent(d.Later), fmt.Sprintf("%+.1f points", 100*d.Value), says)
}

func chance(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", p)
}

func verdict(real bool) string {
	if real {
		return "**more than noise**"
	}
	return "not more than noise"
}

func (c Comparison) cases() string {
	if len(c.Changed) == 0 {
		return "No case changed its result."
	}
	of := map[Verdict]int{}
	rows := make([]string, 0, len(c.Changed))
	for _, change := range c.Changed {
		of[change.Verdict]++
		rows = append(rows, fmt.Sprintf("- %s, %s: %s", change.Verdict, guard.Code(change.Case), inline(strings.Join(change.What, "; "))))
	}
	head := fmt.Sprintf("**%s changed:** %d better, %d worse", render.Count(len(c.Changed), "case"), of[Better], of[Worse])
	if of[Mixed] > 0 {
		head += fmt.Sprintf(", %d better in one respect and worse in another", of[Mixed])
	}
	return paragraphs(head, strings.Join(rows, "\n"))
}
