package oracle_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/testvolume"
	"github.com/org/pr-review-action/internal/triage"
)

// historical are the cases that lie next to the product's tree, where they do.
const historical = "../../../../shared/evals/cases.jsonl"

// sets returns the sets of cases that are at hand.
func sets(t *testing.T) map[string][]dataset.Case {
	t.Helper()
	starter, err := dataset.Read(dataset.StarterName)
	require.NoError(t, err)
	all := map[string][]dataset.Case{"starter": starter}
	if _, err := os.Stat(historical); err == nil {
		all["historical"], err = dataset.Read(historical)
		require.NoError(t, err)
	}
	return all
}

// says is a model that answers about one file, as far as it is shown.
type says func(turn string) string

func (s says) Identity() string { return "says" }

func (s says) Chat(_ context.Context, q llm.Request) (llm.Answer, error) {
	return llm.Answer{Text: s(q.User), Usage: cost.Usage{Calls: 1}}, nil
}

// outcome is what the pipeline makes of one case.
type outcome struct {
	all         []finding.Finding // the filtered ones marked
	lost, moved []score.Loss
	drawn       render.Review
}

// reviewed sends what the scripted model says of a case through the reviewer, the
// filters and the renderer.
func reviewed(t *testing.T, o oracle.Options, c dataset.Case) outcome {
	t.Helper()
	change, err := c.Change()
	require.NoError(t, err)
	toReview, rest := triage.Files(change.Files, triage.Options{})
	in := score.Pipeline{}
	var out outcome
	for _, f := range toReview {
		file := ask(t, func(turn string) string {
			o.Turn = turn
			return oracle.Answer(o, c.ID, c.Golden, f)
		}, f)
		in.Files, rest = append(in.Files, file), append(rest, file.Review)
	}
	out.all, _ = aggregate.Findings(aggregate.Input{Files: change.Files, Reviews: rest, Inline: 1000})
	out.drawn = render.Review{Name: c.ID, Files: aggregate.Files(change.Files, rest), Findings: finding.Kept(out.all)}
	in.Aggregated, in.Cut = out.all, render.Cut(out.drawn)
	out.lost, out.moved = score.Trace(in)
	return out
}

// ask is what the reviewer makes of a model's answers, with the whole one as often as it was
// asked for.
func ask(t *testing.T, model says, f diff.File) score.FileAnswers {
	t.Helper()
	got, err := review.NewModel(review.Options{Review: model,
		Random: strings.NewReader(strings.Repeat("0123456789abcdef", 64))}).Review(t.Context(), f)
	require.NoError(t, err)
	file := score.FileAnswers{Review: got}
	for range got.Usage.Calls {
		file.Answers = append(file.Answers, model(""))
	}
	return file
}

// tells finds the one among the findings that reports a known defect on its own
// lines, and no further one.
func tells(all []finding.Finding, g dataset.Golden) (found []finding.Finding) {
	for _, f := range all {
		if f.Path == g.Path && f.Body == strings.TrimSpace(g.Issue) && f.StartLine <= g.LineEnd &&
			g.LineStart <= f.Line {
			found = append(found, f)
		}
	}
	return found
}

// in counts the losses by their stage.
func in(lost []score.Loss, stages map[string]int) map[string]int {
	for _, l := range lost {
		stages[l.Stage]++
	}
	return stages
}

// TestEveryFindingOfTheScriptHasOneFate holds the account of what happens to noise.
func TestEveryFindingOfTheScriptHasOneFate(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	for name, cases := range sets(t) {
		stages := map[string]int{}
		for _, c := range cases {
			got := reviewed(t, oracle.Options{Recall: 1, Noise: 2}, c)
			for _, l := range got.lost {
				require.NotEmpty(t, l.Why)
				require.Positive(t, l.Line)
			}
			unread := in(got.lost, map[string]int{})[score.StageParse]
			require.Len(t, got.lost, unread+len(got.all)-len(got.drawn.Findings), c.ID)
			in(got.moved, in(got.lost, stages))
		}
		for _, stage := range []string{score.StageParse, score.StageThreshold, score.StageDedupe, score.StageAnchor} {
			require.Positive(t, stages[stage], stage)
		}
		t.Log(name, stages)
	}
}

// noises are the means of noise that are measured: of the sample only the ends.
func noises() []float64 {
	if testvolume.Full() {
		return []float64{0.5, 1, 2, 4}
	}
	return []float64{0.5, 4}
}

// TestFiltersRaisePrecision measures what the filters do to the script's noise, with
// every defect found: the share of true findings before and behind them. A defect
// counts once. The figures rest on the script's assumptions.
func TestFiltersRaisePrecision(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	for name, cases := range sets(t) {
		for _, noise := range noises() {
			var known, produced, kept int
			for _, c := range cases {
				got := reviewed(t, oracle.Options{Recall: 1, Noise: noise}, c)
				known += len(c.Golden)
				produced += len(got.all) + in(got.lost, map[string]int{})[score.StageParse]
				kept += len(got.drawn.Findings)
				for _, g := range c.Golden {
					require.NotEmpty(t, tells(got.drawn.Findings, g), "%s: no filter takes a true one", c.ID)
				}
			}
			before, after := float64(known)/float64(produced), float64(known)/float64(kept)
			require.Greater(t, after, before)
			t.Logf("%s, noise %.1f: %d true of %d produced (%.3f), of %d kept (%.3f)", name, noise, known, produced,
				before, kept, after)
		}
	}
}
