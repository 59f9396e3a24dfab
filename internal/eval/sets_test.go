package eval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/testvolume"
)

// sets are the starter set and, where they lie next to the project, historical
// cases of other repositories.
func sets(t *testing.T) map[string][]dataset.Case {
	t.Helper()
	starter, err := dataset.Read(dataset.StarterName)
	require.NoError(t, err)
	all := map[string][]dataset.Case{"starter": starter}
	shared := filepath.Join("..", "..", "..", "shared", "evals", "cases.jsonl")
	if _, err := os.Stat(shared); err == nil {
		all["historical"], err = dataset.Read(shared)
		require.NoError(t, err)
	}
	return all
}

// offline are the reports of the rules alone, by the first case of a set: three tests look at them.
var offline sync.Map

func rules(t *testing.T, cases []dataset.Case) score.Report {
	t.Helper()
	run, _ := offline.LoadOrStore(cases[0].ID, sync.OnceValue(func() score.Report {
		report, _ := over(t, cases, eval.Reviewer{Name: "offline"})
		return report
	}))
	return run.(func() score.Report)()
}

func over(t *testing.T, cases []dataset.Case, r eval.Reviewer) (score.Report, []score.Result) {
	t.Helper()
	o := options(t, t.TempDir(), r)
	o.Cases, o.Concurrency = cases, 8
	report, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	kept, err := eval.ReadRun(o.Dir)
	require.NoError(t, err)
	return report, kept.Results
}

func TestNothingIsLostOfWhatAPerfectModelFinds(t *testing.T) {
	t.Parallel()
	for name, cases := range sets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, results := over(t, cases, eval.Scripted(oracle.Options{Recall: 1}))
			require.Equal(t, report.Cases, report.Passed)
			require.Equal(t, report.Golden, report.Hit)
			require.LessOrEqual(t, report.Posted-report.Matched, rules(t, cases).Posted, "what rules add")
			require.Empty(t, report.Losses)
			require.Empty(t, report.Moved)
			require.Zero(t, report.UnreadCases)
			for _, r := range results {
				for _, ruling := range r.Rulings {
					require.Zero(t, ruling.Distance, r.ID)
				}
			}
		})
	}
}

// The README tells these figures.
func TestRulesFindLittleAndAreRarelyWrong(t *testing.T) {
	t.Parallel()
	told := map[string]string{
		"starter":    "%d of %d known defects and report nothing on %d clean changes",
		"historical": "historical changes of five projects they find %d of %d, and report nothing on %d clean",
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	for name, cases := range sets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := rules(t, cases)
			require.LessOrEqual(t, 10*report.CleanFalsePositives, report.CleanCases, "one in ten changes at most")
			require.Zero(t, report.CleanFalsePositives)
			require.Contains(t, string(readme), fmt.Sprintf(told[name], report.Hit, report.Golden, report.CleanCases))
		})
	}
}

func TestLessRecallAndMoreNoiseShowInTheFigures(t *testing.T) {
	t.Parallel()
	starter, err := dataset.Read(dataset.StarterName)
	require.NoError(t, err)
	last := 1.0
	levels := []float64{0, 1, 4}
	if testvolume.Full() {
		levels = []float64{0, 0.5, 1, 2, 4}
	}
	for _, noise := range levels {
		report, _ := over(t, starter, eval.Scripted(oracle.Options{Recall: 1, Noise: noise, Seed: 1}))
		require.LessOrEqual(t, report.Rates.Precision.Value, last, "noise %g", noise)
		last = report.Rates.Precision.Value
		if noise > 0 {
			require.NotEmpty(t, report.Losses["threshold"])
		}
	}
	half, _ := over(t, starter, eval.Scripted(oracle.Options{Recall: 0.5, Seed: 1}))
	require.InDelta(t, 0.5, half.Rates.Recall.Value, 0.2)
	none, _ := over(t, starter, eval.Scripted(oracle.Options{Recall: 0, Seed: 1}))
	without := rules(t, starter)
	require.Equal(t, []int{without.Hit, without.Posted, without.Passed}, []int{none.Hit, none.Posted, none.Passed},
		"a model that finds nothing takes nothing away")
	require.True(t, strings.Contains(none.Markdown(), "clean"))
}
