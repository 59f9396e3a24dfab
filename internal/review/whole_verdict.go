package review

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ticket"
)

// take takes over verdicts on the criteria that there are, in their order, each with the
// evidence that stands in the diff: without any, met is unknown. Texts are kept as far as
// the context may be shown.
func (o *overview) take(a wholeAnswer) {
	for _, c := range o.Context.Shown(o.Show).Criteria() {
		o.result.Criteria = append(o.result.Criteria, o.verdict(c, a.criteria))
	}
	for _, u := range a.unasked {
		at, ok := o.place(u.Lines)
		if !ok || len(o.result.Unasked) == maxUnasked {
			continue
		}
		part := finding.Unasked{Lines: at}
		if o.Show == ticket.ShowCriteria || o.Show == ticket.ShowFull {
			part.Text = guard.Line(o.Redact.Redact(oneLine(u.Text)), maxDoes)
		}
		o.result.Unasked = append(o.result.Unasked, part)
	}
}

var spaced = strings.NewReplacer(" ", "_", "-", "_")

// verdict is what was said of one criterion; unknown where that is nothing, or two things.
func (o *overview) verdict(c ticket.Criterion, said []finding.Criterion) finding.Criterion {
	out := finding.Criterion{N: c.N, Text: o.Redact.Redact(c.Text), Verdict: finding.Unknown,
		Evidence: []finding.Lines{}}
	var about []finding.Criterion
	for _, s := range said {
		if s.N == c.N {
			about = append(about, s)
		}
	}
	if len(about) != 1 {
		return out
	}
	for _, l := range about[0].Evidence {
		if at, ok := o.place(l); ok && len(out.Evidence) < maxEvidence && !slices.Contains(out.Evidence, at) {
			out.Evidence = append(out.Evidence, at)
		}
	}
	switch v := finding.Verdict(spaced.Replace(strings.ToLower(string(about[0].Verdict)))); {
	case v == finding.NotMet, v == finding.Met && len(out.Evidence) > 0:
		out.Verdict = v
	default:
		out.Evidence = []finding.Lines{}
	}
	return out
}

// place is lines of the diff, on its new side or, for what was removed, on its old one.
func (o *overview) place(l finding.Lines) (finding.Lines, bool) {
	for _, f := range o.Files {
		if f.Path != l.Path && guard.Visible(f.Path) != l.Path {
			continue
		}
		anchors, err := f.Anchors()
		l.Path = f.Path
		return l, err == nil && (anchors.Check(string(finding.Right), l.StartLine, l.EndLine) == nil ||
			anchors.Check(string(finding.Left), l.StartLine, l.EndLine) == nil)
	}
	return l, false
}

// encoded is a judgement of which every word is known: numbers of criteria that there are,
// verdicts of the list, places of the diff.
func (o *overview) encoded(a wholeAnswer) string {
	known := &overview{task: o.task, Whole: o.Whole}
	known.Show = ticket.ShowKey
	known.take(a)
	text, err := json.Marshal(map[string]any{"criteria": known.result.Criteria, "unasked": known.result.Unasked},
		json.Deterministic(true))
	if err != nil {
		return "" // numbers, and paths that were read as JSON: it cannot be
	}
	return string(text)
}
