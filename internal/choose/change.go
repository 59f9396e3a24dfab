package choose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

// change is what a person changes about one finding. A dropped finding keeps its other
// changes, in case the drop is undone.
type change struct {
	dropped  bool
	reason   string
	body     string           // the new text; empty for none
	moved    bool             // into the review's body
	severity finding.Severity // the new one; empty for none
}

// chosenBefore returns the changes that a decision makes, by finding, and its commands that
// end findings of earlier reviews.
func chosenBefore(text string, r render.Review) (all []change, ends []string) {
	all = make([]change, len(r.Findings))
	d, err := decision.Parse(text)
	if err != nil {
		return all, nil
	}
	d, _ = d.Check(items(r)) // what does not fit the draft was refused when it was typed
	for _, e := range finding.Standing(r.Earlier) {
		for _, x := range d.Drop {
			if x.ID == e.ID {
				ends = append(ends, "/drop "+x.ID+": "+oneLine(x.Reason))
			}
		}
	}
	for i, f := range r.Findings {
		for _, x := range d.Drop {
			if x.ID == f.ID {
				all[i].dropped, all[i].reason = true, oneLine(x.Reason)
			}
		}
		for _, e := range d.Edit {
			if e.ID == f.ID {
				all[i].body = oneLine(e.Body)
			}
		}
		for _, s := range d.Severity {
			if s.ID == f.ID && s.Severity != f.Severity {
				all[i].severity = s.Severity
			}
		}
		all[i].moved = slices.ContainsFunc(d.Move, func(m decision.Move) bool { return m.ID == f.ID })
	}
	return all, ends
}

// items returns what a decision about the list can name.
func items(r render.Review) []decision.Item { return finding.Items(r.Findings, r.Earlier...) }

// commands returns the commands that make the change.
func (c change) commands(id string) (lines []string) {
	if c.dropped {
		if c.reason == "" {
			return []string{"/drop " + id}
		}
		return []string{"/drop " + id + ": " + c.reason}
	}
	if c.body != "" {
		lines = append(lines, "/edit "+id+": "+c.body)
	}
	if c.severity != "" {
		lines = append(lines, "/severity "+id+" "+string(c.severity))
	}
	if c.moved {
		lines = append(lines, "/summary "+id)
	}
	return lines
}

// words describes the change before a finding's title: "[edited, was major] ".
func (c change) words(f finding.Finding) string {
	var words []string
	switch {
	case c.dropped && c.reason != "":
		return "[dropped: " + c.reason + "] "
	case c.dropped:
		return "[dropped] "
	case c == change{}:
		return ""
	}
	if c.body != "" {
		words = append(words, "edited")
	}
	if c.moved {
		words = append(words, "to the summary")
	}
	if c.severity != "" {
		words = append(words, "was "+string(f.Severity))
	}
	return "[" + strings.Join(words, ", ") + "] "
}

// severityAfter returns a finding's severity after the change.
func (c change) severityAfter(f finding.Finding) finding.Severity {
	return cmp.Or(c.severity, f.Severity)
}

// next returns the next weaker severity, and the highest after the weakest.
func next(s finding.Severity) finding.Severity {
	all := finding.Severities()
	return all[(max(s.Rank(), 0)+len(all)-1)%len(all)]
}

// tally counts changes, as in "2 dropped, 1 edited". It returns "" for none.
func tally(all []change) string {
	n := map[string]int64{}
	count := func(word string, counts bool) {
		if counts {
			n[word]++
		}
	}
	for _, c := range all {
		count("dropped", c.dropped)
		count("edited", !c.dropped && c.body != "")
		count("moved", !c.dropped && c.moved)
		count("regraded", !c.dropped && c.severity != "")
	}
	var parts []string
	for _, word := range []string{"dropped", "edited", "moved", "regraded"} {
		if n[word] > 0 {
			parts = append(parts, wording.Thousands(n[word])+" "+word)
		}
	}
	return strings.Join(parts, ", ")
}
