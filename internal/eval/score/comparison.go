package score

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// significant is the p-value below which a change is more than noise.
const significant = 0.05

// Markdown says what changed from the first run to the later one, and whether
// that is more than noise. Only cases whose result changed are named.
func (c Comparison) Markdown() string {
	if c.Cases == 0 {
		return page(c.head(), "There is nothing to compare.")
	}
	t := table{head: []string{"figure", "first", "second", "change", "in plain words"}, align: "lrrrl"}
	c.Passed.row(&t, "cases passed")
	c.Hit.row(&t, "known findings hit")
	first, later := c.Precision[0], c.Precision[1]
	if first != nil && later != nil {
		moved := fmt.Sprintf("%+.1f points", 100*(later.Value-first.Value))
		t.add("precision", percent(first.Value), percent(later.Value), moved,
			"95 % intervals: "+between(first)+" and "+between(later))
	}
	return page(c.head(), t.String(), c.cases())
}

func (c Comparison) head() string {
	text := "**" + wording.Count(c.Cases, "case") + "** in both runs"
	var apart []string
	for _, group := range []struct {
		n    int
		says string
	}{{c.OnlyFirst, "in the first alone"}, {c.OnlyLater, "in the second alone"},
		{c.Redefined, "with other known findings"}} {
		if group.n > 0 {
			apart = append(apart, fmt.Sprintf("%d %s", group.n, group.says))
		}
	}
	if len(apart) > 0 {
		text += " (not compared: " + strings.Join(apart, ", ") + ")"
	}
	if len(c.Differs) == 0 {
		return text + ". Their fingerprints are the same."
	}
	return text + ". Fingerprints that differ: " + inline(strings.Join(c.Differs, ", ")) + "."
}

func (p Paired) row(t *table, name string) {
	says := "no change"
	if p.Better+p.Worse > 0 {
		says = fmt.Sprintf("%d better, %d worse; p = %.3f: not more than noise", p.Better, p.Worse, p.P)
		if p.P < significant {
			says = fmt.Sprintf("%d better, %d worse; p = %.3f: **more than noise**", p.Better, p.Worse, p.P)
		}
	}
	t.add(name, outOf(p.First, p.Of), outOf(p.Later, p.Of), fmt.Sprintf("%+d", p.Later-p.First), says)
}

// cases names those whose result changed.
func (c Comparison) cases() string {
	if len(c.Changed) == 0 {
		return "No case changed: the same ones pass, the same known findings are hit," +
			" and as many unmatched findings are of severity major or graver."
	}
	of := map[Verdict]int{}
	rows := make([]string, 0, len(c.Changed))
	for _, change := range c.Changed {
		of[change.Verdict]++
		rows = append(rows, fmt.Sprintf("- %s, %s: %s", change.Verdict, guard.Code(change.Case),
			inline(strings.Join(change.What, "; "))))
	}
	head := fmt.Sprintf("**%s changed:** %d better, %d worse", wording.Count(len(c.Changed), "case"), of[Better],
		of[Worse])
	if of[Mixed] > 0 {
		head += fmt.Sprintf(", %d better in one respect and worse in another", of[Mixed])
	}
	return paragraphs(head, strings.Join(rows, "\n"))
}
