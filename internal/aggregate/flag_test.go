package aggregate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

var flagged = diff.File{Path: "a.go", Patch: "@@ -1,2 +1,3 @@\n a\n+b\n c"}

func flagOn(line int, s finding.Severity, title string) finding.Finding {
	return finding.Finding{
		Path: "a.go", Side: finding.Right, StartLine: line, Line: line, Severity: s, Category: "error-handling",
		Confidence: 0.8, Title: title, Body: "Because.", Source: finding.Rule,
	}
}

// said gives what became of a flag and of a model's finding beside it.
func said(flag, model finding.Finding) (byRule, byModel finding.Finding) {
	model.Source = finding.Model
	all := merged([]diff.File{flagged}, []finding.Finding{flag},
		[]finding.FileReview{{Path: "a.go", State: finding.Reviewed, Findings: []finding.Finding{model}}}, 0)
	for _, f := range all {
		if f.Source == finding.Rule {
			byRule = f
		} else {
			byModel = f
		}
	}
	return byRule, byModel
}

func TestD5_NoAnswerTakesAFlagAway(t *testing.T) {
	t.Parallel()
	flag := flagOn(2, finding.Minor, "The error of `close` is dropped")
	for name, change := range map[string]func(*finding.Finding){
		"the same words, more gravely": func(f *finding.Finding) { f.Severity = finding.Blocker },
		"the same words, and surer":    func(f *finding.Finding) { f.Confidence = 1 },
		"the same words, as gravely":   func(*finding.Finding) {},
		"no confidence at all":         func(f *finding.Finding) { f.Confidence = 0 },
		"on more lines": func(f *finding.Finding) {
			f.StartLine, f.Line, f.Severity = 1, 3, finding.Blocker
		},
	} {
		model := flag
		change(&model)
		byRule, _ := said(flag, model)
		require.Empty(t, byRule.Filtered, name)
		require.NotEmpty(t, byRule.ID, name)
	}
}

func TestAModelThatSaysWhatARuleSaysIsHeldBack(t *testing.T) {
	t.Parallel()
	flag := flagOn(2, finding.Major, "The error of `tx.Commit` is dropped")
	for name, c := range map[string]struct {
		change   func(*finding.Finding)
		filtered finding.Filter
	}{
		"in other words": {func(f *finding.Finding) {
			f.Title = "PostDay drops the error of tx.Commit"
		}, finding.Duplicate},
		"more gravely": {func(f *finding.Finding) {
			f.Title, f.Severity = "PostDay drops the error of tx.Commit", finding.Blocker
		}, ""},
		"of another kind": {func(f *finding.Finding) {
			f.Title, f.Category = "The error of tx.Commit races", "concurrency"
		}, ""},
		"another fault there": {func(f *finding.Finding) { f.Title = "The retry goes on for ever" }, ""},
		"on another line": {func(f *finding.Finding) {
			f.Title, f.StartLine, f.Line = "PostDay drops the error of tx.Commit", 3, 3
		}, ""},
		"one word is too few": {func(f *finding.Finding) { f.Title = "An error loops" }, ""},
	} {
		model := flag
		c.change(&model)
		byRule, byModel := said(flag, model)
		require.Empty(t, byRule.Filtered, name)
		require.Equal(t, c.filtered, byModel.Filtered, name)
	}
}

func TestWhatAReviewHeldBackStaysSo(t *testing.T) {
	t.Parallel()
	weak := flagOn(2, finding.Major, "x")
	weak.Confidence, weak.Filtered, weak.Note = 0.1, finding.Refuted, "a second look"
	_, byModel := said(flagOn(3, finding.Minor, "y"), weak)
	require.Equal(t, finding.Refuted, byModel.Filtered)
	require.Equal(t, "a second look", byModel.Note)
}
