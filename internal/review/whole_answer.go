package review

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ticket"
)

// The bounds of an answer about a whole change.
const (
	maxOverview = 1_200 // characters of the sentences that are shown
	maxEvidence = 10    // places of one criterion
	maxUnasked  = 20
	maxDoes     = 120 // characters of what a part does
)

// wholeAnswer is an answer about a whole change, before its places were checked.
type wholeAnswer struct {
	text     string
	findings []finding.Finding
	criteria []finding.Criterion
	unasked  []finding.Unasked
}

// decodeWhole reads an answer about a whole change. One without its two lists, or with a
// finding that is off the schema or about another file, is broken: a *brokenError.
func decodeWhole(text string, files []diff.File) (wholeAnswer, error) {
	var w struct {
		Overview *string                   `json:"overview"`
		Findings []jsontext.Value          `json:"findings"`
		Criteria []finding.Criterion       `json:"criteria"`
		Unasked  []finding.Unasked         `json:"unasked"`
		Others   map[string]jsontext.Value `json:",unknown"`
	}
	err := json.Unmarshal([]byte(Unfence(text)), &w)
	switch {
	case err != nil:
		return wholeAnswer{}, broken("%s", problem(err, "it is no JSON object of the form"))
	case w.Overview == nil || w.Findings == nil:
		return wholeAnswer{}, broken(`it is no JSON object with "overview" and a list "findings"`)
	case has(w.Others, mistaken):
		return wholeAnswer{}, broken(unknownKey)
	case len(w.Findings) > maxFindings:
		return wholeAnswer{}, broken("it holds more than %d findings", maxFindings)
	}
	a := wholeAnswer{text: sentences(*w.Overview), criteria: w.Criteria, unasked: w.Unasked}
	for i, value := range w.Findings {
		path, err := pathOf(value, files)
		if err != "" {
			return wholeAnswer{}, broken("finding %d: %s", i+1, err)
		}
		f, bad := readFinding(value, path)
		if bad != nil {
			return wholeAnswer{}, broken("finding %d: %s", i+1, bad)
		}
		a.findings = append(a.findings, f)
	}
	return a, nil
}

// pathOf is the changed file that a finding names; problem says why there is none.
func pathOf(value jsontext.Value, files []diff.File) (path, problem string) {
	var at struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(value, &at) != nil {
		return "", "it has no path"
	}
	for _, f := range files {
		if f.Path == at.Path || guard.Visible(f.Path) == at.Path {
			return f.Path, ""
		}
	}
	return "", "its path is none of the changed files"
}

// decodeJudgement reads verdicts and places.
func decodeJudgement(text string) (wholeAnswer, error) {
	var w struct {
		Criteria []finding.Criterion `json:"criteria"`
		Unasked  []finding.Unasked   `json:"unasked"`
	}
	if err := json.Unmarshal([]byte(Unfence(text)), &w); err != nil || w.Criteria == nil {
		return wholeAnswer{}, broken("%s", problem(err, `it is no JSON object with a list "criteria"`))
	}
	return wholeAnswer{criteria: w.Criteria, unasked: w.Unasked}, nil
}

// sentences is a text as one paragraph of bounded length.
func sentences(text string) string {
	text = oneLine(text)
	if utf8.RuneCountInString(text) <= maxOverview {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:maxOverview-1])) + "…"
}

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
	switch v := about[0].Verdict; {
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
