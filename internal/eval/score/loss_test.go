package score_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/review"
)

// script is a model that says its texts one after the other, the last for ever.
type script struct {
	texts []string
	ended error
	said  []string
}

func (s *script) Identity() string { return "script" }

func (s *script) Chat(context.Context, llm.Request) (llm.Answer, error) {
	text := s.texts[min(len(s.said), len(s.texts)-1)]
	s.said = append(s.said, text)
	return llm.Answer{Text: text, Usage: cost.Usage{Calls: 1}}, s.ended
}

var changed = diff.File{Path: "a.go", Status: diff.Modified, Additions: 3, Patch: "@@ -1,2 +1,5 @@\n a\n+b\n+c\n+d\n e"}

// reviewed is what the reviewer makes of answers, with those that it asked for.
func reviewed(t testing.TB, s *script) score.FileAnswers {
	t.Helper()
	got, err := review.NewModel(review.Options{Review: s,
		Random: strings.NewReader(strings.Repeat("0123456789abcdef", 64))}).Review(t.Context(), changed)
	require.NoError(t, err)
	return score.FileAnswers{Answers: s.said, Review: got}
}

func one(line int, title string, other ...string) string {
	keys := []string{fmt.Sprintf(`"line":%d,"title":%q`, line, title), `"severity":"major","confidence":0.9`}
	if len(other) > 0 {
		keys = append(keys[:1], other...)
	}
	return "{" + strings.Join(keys, ",") + "}"
}

func answer(findings ...string) string { return `{"findings":[` + strings.Join(findings, ",") + "]}" }

func titles(all []score.Loss) (titles []string) {
	for _, l := range all {
		titles = append(titles, l.Title)
	}
	return titles
}

const offSchema = `"severity":"grave","confidence":0.9`

func TestWhatAnAnswerHoldsAndTheReviewDoesNotWasLostInParsing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts []string
		ended error
		lost  []string
	}{
		"a whole answer":         {texts: []string{answer(one(2, "b"), one(3, "c"))}},
		"no finding":             {texts: []string{answer()}},
		"in a fence":             {texts: []string{"```json\n" + answer(one(2, "b")) + "\n```"}},
		"white space in a title": {texts: []string{answer(one(2, "b \t b"))}},
		"one off the schema": {texts: []string{answer(one(2, "b"), one(3, "c", offSchema))},
			lost: []string{"c"}},
		"one about another file": {texts: []string{answer(one(2, "b"),
			one(3, "c", `"severity":"nit","confidence":1,"path":"z.go"`))}, lost: []string{"c"}},
		"two that are alike, one of them off": {texts: []string{answer(one(2, "b"), one(2, "b", offSchema))},
			lost: []string{"b"}},
		"all off the schema": {texts: []string{answer(one(2, "b", offSchema), one(3, "c", offSchema))},
			lost: []string{"b", "c"}},
		"a key too many":          {texts: []string{`{"summary":"good",` + answer(one(2, "b"))[1:]}},
		"a title around the list": {texts: []string{`{"title":"Review",` + answer(one(2, "b"))[1:]}},
		"a bare list":             {texts: []string{"[" + one(2, "b") + "]"}, lost: []string{"b"}},
		"prose around it": {texts: []string{"Look at {this}: " + answer(one(2, "b")) + " Done."},
			lost: []string{"b"}},
		"cut off":         {texts: []string{answer(one(2, "b"), one(3, "c"))[:115]}, lost: []string{"c"}},
		"a comma missing": {texts: []string{answer(one(2, "b") + one(3, "c"))}, lost: []string{"b", "c"}},
		"refused":         {texts: []string{answer(one(2, "b"))}, ended: llm.ErrRefused, lost: []string{"b"}},
		"truncated": {texts: []string{answer(one(2, "b"), one(3, "c"))[:115]}, ended: llm.ErrTruncated,
			lost: []string{"c"}},
		"prose alone": {texts: []string{"Nothing at line 3."}},

		"repaired":                {texts: []string{answer(one(2, "b", offSchema)), answer(one(2, "b"))}},
		"repaired in other words": {texts: []string{answer(one(2, "b", offSchema)), answer(one(3, "B!"))}},
		"repaired with more": {texts: []string{answer(one(2, "b", offSchema)),
			answer(one(2, "b"), one(3, "c"))}},
		"repaired with fewer": {texts: []string{answer(one(2, "b", offSchema), one(3, "c"), one(4, "d")),
			answer(one(3, "c"))}, lost: []string{"b"}},
		"fewer, in other words": {texts: []string{answer(one(2, "b", offSchema), one(3, "c", offSchema)),
			answer(one(2, "It is b"))}, lost: []string{"c"}},
		"fewer, at another line": {texts: []string{answer(one(2, "b", offSchema), one(3, "c", offSchema)),
			answer(one(4, "c"))}, lost: []string{"b"}},
		"fewer, of one line": {texts: []string{answer(one(2, "b", offSchema), one(2, "c", offSchema)),
			answer(one(2, "c"))}, lost: []string{"b"}},
		"repaired to nothing": {texts: []string{answer(one(2, "b", offSchema)), answer()}, lost: []string{"b"}},
		"asked anew":          {texts: []string{"Nothing.", answer(one(2, "b"))}},
		"asked anew, for less": {texts: []string{"So: " + answer(one(2, "b"), one(3, "c")), answer(one(3, "c"))},
			lost: []string{"b"}},
		"broken twice, half better": {texts: []string{answer(one(2, "b", offSchema), one(3, "c", offSchema)),
			answer(one(2, "b"), one(3, "c", offSchema))}, lost: []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := reviewed(t, &script{texts: c.texts, ended: c.ended})
			lost, moved := score.Trace(score.Pipeline{Files: []score.FileAnswers{f}})
			require.Equal(t, c.lost, titles(lost), "%+v", f.Review)
			require.Empty(t, moved)
			for _, l := range lost {
				require.Equal(t, []string{score.StageParse, changed.Path}, []string{l.Stage, l.Path})
				require.NotEmpty(t, l.Why)
			}
		})
	}
}

func TestALostFindingSaysWhatCouldBeReadOfIt(t *testing.T) {
	t.Parallel()
	f := reviewed(t, &script{texts: []string{answer(
		`{"start_line":2,"line":3,"title":"b","severity":"minor"}`,
		`{"line":"4","title":" c\n c ","severity":"critical"}`,
		`{"line":{"from":4},"title":"d","start_line":9}`,
		`{"line":-1}`,
	)}})
	lost, _ := score.Trace(score.Pipeline{Files: []score.FileAnswers{f}})
	why := string(f.Review.Reason)
	require.Contains(t, why, "4 of 4 findings are off the schema")
	require.Equal(t, []score.Loss{
		{Stage: score.StageParse, Path: "a.go", StartLine: 2, Line: 3, Severity: finding.Minor, Title: "b", Why: why},
		{Stage: score.StageParse, Path: "a.go", StartLine: 4, Line: 4, Title: "c c", Why: why},
		{Stage: score.StageParse, Path: "a.go", Title: "d", Why: why},
		{Stage: score.StageParse, Path: "a.go", Why: why},
	}, lost)
}

// claims is a file's review with findings of every fate, and their titles say which.
func claims() finding.FileReview {
	at := func(line int, confidence float64, title string) finding.Finding {
		return finding.Finding{Path: "a.go", Side: finding.Right, Line: line, Severity: finding.Major,
			Confidence: confidence, Title: title, Source: finding.Model}
	}
	return finding.FileReview{Path: "a.go", State: finding.Reviewed, Findings: []finding.Finding{
		at(2, 0.9, "kept"), at(2, 0.9, "KEPT."), at(3, 0.49, "weak"), at(40, 0.9, "off the diff"),
		at(41, 0.1, "weak and off the diff"),
	}}
}

func TestEveryFindingHasOneFate(t *testing.T) {
	t.Parallel()
	all, _ := aggregate.Findings(aggregate.Input{Files: []diff.File{changed}, Reviews: []finding.FileReview{claims()},
		Inline: 1000})
	lost, moved := score.Trace(score.Pipeline{Files: []score.FileAnswers{{Review: claims()}}, Aggregated: all})
	require.Equal(t, []score.Loss{
		{Stage: score.StageThreshold, Path: "a.go", StartLine: 3, Line: 3, Severity: finding.Major, Title: "weak",
			Why: "confidence 0.49 is below 0.50"},
		{Stage: score.StageThreshold, Path: "a.go", StartLine: 41, Line: 41, Severity: finding.Major,
			Title: "weak and off the diff", Why: "confidence 0.10 is below 0.50"},
		{Stage: score.StageDedupe, Path: "a.go", StartLine: 2, Line: 2, Severity: finding.Major, Title: "kept",
			Why: "says the same as the finding at line 2"},
	}, lost)
	require.Equal(t, []score.Loss{
		{Stage: score.StageAnchor, Path: "a.go", StartLine: 40, Line: 40, Severity: finding.Major,
			Title: "off the diff", Why: "line 40 is not part of the diff"},
	}, moved)
}

func TestWhatTheBodyHasNoRoomForIsLostAndNotMoved(t *testing.T) {
	t.Parallel()
	r := finding.FileReview{Path: "a.go", State: finding.Reviewed}
	for i := range 30 {
		r.Findings = append(r.Findings, finding.Finding{
			Path: "a.go", Side: finding.Right, Line: 100 + i, Severity: finding.Major, Confidence: 0.9,
			Title: fmt.Sprint("t", i), Body: strings.Repeat("word ", 1000),
		})
	}
	all, _ := aggregate.Findings(aggregate.Input{Files: []diff.File{changed}, Reviews: []finding.FileReview{r},
		Inline: 1000})
	drawn := render.Review{Name: "demo", Files: []finding.FileReview{r}, Findings: finding.Kept(all)}
	lost, moved := score.Trace(score.Pipeline{Aggregated: all, Cut: render.Cut(drawn)})
	body := render.Body(drawn)
	require.NotEmpty(t, lost)
	require.NotEmpty(t, moved)
	require.Len(t, moved, 30-len(lost))
	for _, l := range lost {
		require.Equal(t, score.StageCap, l.Stage)
		require.NotContains(t, body, " "+l.Title+"**")
	}
	for _, l := range moved {
		require.Contains(t, body, " "+l.Title+"**")
	}
}

func TestWhatAPersonDroppedIsNoLoss(t *testing.T) {
	t.Parallel()
	lost, moved := score.Trace(score.Pipeline{Aggregated: []finding.Finding{{ID: "F1", Filtered: "dropped",
		Placement: finding.Body}}})
	require.Empty(t, lost)
	require.Empty(t, moved)
}

func TestLossesComeInTheOrderOfTheStages(t *testing.T) {
	t.Parallel()
	lost, _ := score.Trace(score.Pipeline{
		Files: []score.FileAnswers{{Answers: []string{answer(one(9, "p1"), one(8, "p2"))}}},
		Aggregated: []finding.Finding{
			{ID: "F1", Title: "c1"}, {Title: "d1", Filtered: finding.Duplicate},
			{Title: "t1", Filtered: finding.LowConfidence}, {Title: "d2", Filtered: finding.Duplicate},
		},
		Cut: []finding.Finding{{ID: "F1"}},
	})
	require.Equal(t, []string{"p1", "p2", "t1", "d1", "d2", "c1"}, titles(lost))
}

func TestALossIsKnownWithinThreeLinesOfAPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		place dataset.Place
		want  bool
	}{
		"inside":          {dataset.Place{Path: "a.go", LineStart: 11, LineEnd: 11}, true},
		"around":          {dataset.Place{Path: "a.go", LineStart: 1, LineEnd: 99}, true},
		"three before":    {dataset.Place{Path: "a.go", LineStart: 5, LineEnd: 7}, true},
		"four before":     {dataset.Place{Path: "a.go", LineStart: 5, LineEnd: 6}, false},
		"three behind":    {dataset.Place{Path: "a.go", LineStart: 15, LineEnd: 20}, true},
		"four behind":     {dataset.Place{Path: "a.go", LineStart: 16, LineEnd: 20}, false},
		"in another file": {dataset.Place{Path: "b.go", LineStart: 11, LineEnd: 11}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, g := range []dataset.Golden{
				{Path: c.place.Path, LineStart: c.place.LineStart, LineEnd: c.place.LineEnd},
				{Path: "z.go", LineStart: 1, LineEnd: 1, Also: []dataset.Place{c.place}},
			} {
				at := finding.Finding{Path: "a.go", StartLine: 10, Line: 12}
				filtered, outside := at, at
				filtered.Filtered, outside.Placement = finding.LowConfidence, finding.Body
				nowhere := finding.Finding{Path: c.place.Path, Filtered: finding.Duplicate}
				lost, moved := score.Trace(score.Pipeline{Golden: []dataset.Golden{{Path: "y.go"}, g},
					Aggregated: []finding.Finding{filtered, outside, nowhere}})
				require.Equal(t, []bool{c.want, c.want, false}, []bool{lost[0].Known, moved[0].Known, lost[1].Known})
				stage := map[bool]string{true: score.StageThreshold}[c.want]
				require.Equal(t, stage, score.StageOf(lost, g))
			}
		})
	}
	require.Empty(t, score.StageOf(nil, dataset.Golden{Path: "a.go"}))
	require.Empty(t, score.StageOf([]score.Loss{{Stage: score.StageParse, Path: "a.go"}},
		dataset.Golden{Path: "a.go", LineStart: 1, LineEnd: 2}), "a finding without a line stood nowhere")
}

func TestTheEarliestStageIsNamed(t *testing.T) {
	t.Parallel()
	lost, _ := score.Trace(score.Pipeline{Aggregated: []finding.Finding{
		{Path: "a.go", Line: 3, Filtered: finding.Duplicate}, {Path: "a.go", Line: 9, Filtered: finding.LowConfidence},
	}})
	require.Equal(t, score.StageThreshold, score.StageOf(lost, dataset.Golden{Path: "a.go", LineStart: 6, LineEnd: 6}))
}
