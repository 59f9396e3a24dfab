package review

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/wording"
)

// The limits of an answer about a whole change.
const (
	maxOverview = 1_200 // characters of the shown sentences
	maxEvidence = 10    // places of one criterion
	maxUnasked  = 20
	maxDoes     = 120 // characters of a part's description
)

type wholeAnswer struct {
	Overview *string                   `json:"overview,omitempty"`
	Findings []jsontext.Value          `json:"findings,omitempty"`
	Criteria []finding.Criterion       `json:"criteria"`
	Unasked  []finding.Unasked         `json:"unasked"`
	Others   map[string]jsontext.Value `json:",embed"`
	found    []finding.Finding
}

// decode parses an answer. If it judges, it must have verdicts; otherwise it must have its sentences
// and findings. A missing part, or a finding that does not match the schema or the files, is a
// *brokenError, returned together with the valid parts.
func (o *overview) decode(text string, judges bool) (a wholeAnswer, err error) {
	err = json.Unmarshal([]byte(Unfence(text)), &a)
	switch {
	case err != nil:
		return wholeAnswer{}, brokenf("%s", problem(err, "it is not a JSON object of the form"))
	case judges && a.Criteria == nil:
		return wholeAnswer{}, brokenf(`it is not a JSON object with a list "criteria"`)
	case judges:
		return a, nil
	case a.Overview == nil || a.Findings == nil:
		return wholeAnswer{}, brokenf(`it is not a JSON object with "overview" and a list "findings"`)
	case hasKey(a.Others, reservedKey()):
		return wholeAnswer{}, brokenf(unknownKey)
	case len(a.Findings) > maxFindings:
		return wholeAnswer{}, brokenf("it contains more than %d findings", maxFindings)
	}
	a.found, err = readFindings(a.Findings, o.pathOf)
	return a, err
}

func (o *overview) pathOf(value jsontext.Value) (string, error) {
	var at struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(value, &at) != nil {
		return "", errors.New("it has no path")
	}
	f := o.fileOf(at.Path)
	if f.Path == "" {
		return "", errors.New("its path is not one of the changed files")
	}
	return f.Path, nil
}

// fileOf returns the changed file with a path, given as it is or as it was shown, or a zero File
// if there is none.
func (o *overview) fileOf(path string) diff.File {
	at := slices.IndexFunc(o.Files, func(f diff.File) bool { return f.Path == path || guard.Visible(f.Path) == path })
	if at < 0 {
		return diff.File{}
	}
	return o.Files[at]
}

func clipOverview(text string) string {
	text = oneLine(text)
	if kept, left := wording.Clip(text, maxOverview-1); left > 1 { // one takes the room of the ellipsis
		return strings.TrimSpace(kept) + "…"
	}
	return text
}

var toSnakeCase = strings.NewReplacer(" ", "_", "-", "_")

// takeVerdicts adds the verdicts on the existing criteria, in their order, each with the evidence that is
// in the diff: met without evidence becomes unknown. Texts are kept as far as the context may be
// shown.
func (o *overview) takeVerdicts(a wholeAnswer) {
	for _, c := range o.Context.Shown(o.Show).Criteria() {
		o.result.Criteria = append(o.result.Criteria, o.verdict(c, a.Criteria))
	}
	for _, u := range a.Unasked {
		at, ok := o.place(u.Lines)
		if !ok || len(o.result.Unasked) == maxUnasked {
			continue
		}
		part := finding.Unasked{Lines: at}
		if o.Show.Words() {
			part.Text = guard.Line(o.Redact.Redact(oneLine(u.Text)), maxDoes)
		}
		o.result.Unasked = append(o.result.Unasked, part)
	}
}

// verdict returns what an answer says about one criterion; unknown if nothing, or more than one
// thing.
func (o *overview) verdict(c ticket.Criterion, said []finding.Criterion) finding.Criterion {
	out := finding.Criterion{N: c.N, Text: o.Redact.Redact(c.Text), Verdict: finding.Unknown,
		Evidence: []finding.Lines{}}
	about := slices.DeleteFunc(slices.Clone(said), func(s finding.Criterion) bool { return s.N != c.N })
	if len(about) != 1 {
		return out
	}
	for _, l := range about[0].Evidence {
		if at, ok := o.place(l); ok && len(out.Evidence) < maxEvidence && !slices.Contains(out.Evidence, at) {
			out.Evidence = append(out.Evidence, at)
		}
	}
	switch v := finding.Verdict(toSnakeCase.Replace(strings.ToLower(string(about[0].Verdict)))); {
	case v == finding.NotMet, v == finding.Met && len(out.Evidence) > 0:
		out.Verdict = v
	default:
		out.Evidence = []finding.Lines{}
	}
	return out
}

// place resolves a range's path, and reports whether the diff shows its lines on either side.
func (o *overview) place(l finding.Lines) (finding.Lines, bool) {
	f := o.fileOf(l.Path)
	l.Path = f.Path
	return l, f.Shows(l.StartLine, l.EndLine)
}
