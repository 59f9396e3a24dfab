package score

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

const historical = "../../../../shared/evals/cases.jsonl"

// Two reviewers whose figures are known beforehand, over the real cases: one
// that posts exactly the known findings, and one that posts nothing.
func TestHistoricalCasesScoreAsTheirReadmeSays(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(historical); err != nil {
		t.Skip("no historical cases beside the module")
	}
	cases, err := dataset.Read(historical)
	require.NoError(t, err)
	var perfect, silent []Result
	for _, c := range cases {
		var posted []finding.Finding
		for i, g := range c.Golden {
			f := at(g.Path, g.LineStart, g.LineEnd)
			f.ID, f.Severity = fmt.Sprint("F", i+1), g.Severity
			posted = append(posted, f)
		}
		perfect = append(perfect, scored(t, c, posted))
		silent = append(silent, scored(t, c, nil))
	}
	all, none := Summarize(perfect, About{}), Summarize(silent, About{})
	require.Equal(t, all.Cases, all.Passed)
	require.Equal(t, all.Golden, all.Hit)
	require.InDelta(t, 1, all.Rates.Precision.Value, 0)
	require.Equal(t, none.CleanCases, none.Passed)
	require.InDelta(t, 0.129, none.Rates.Pass.Value, 5e-4, "12 of 93")
	require.Equal(t, [2]int{56, 27}, [2]int{all.By["visibility"]["local"].Golden,
		all.By["visibility"]["context"].Golden})
	require.Empty(t, Compare(perfect, perfect).Changed)
	require.Len(t, Compare(silent, perfect).Changed, 81)
}

func scored(t *testing.T, c dataset.Case, posted []finding.Finding) Result {
	t.Helper()
	pairs, err := Match(Candidates(c.Golden, posted, nil), byPlace)
	require.NoError(t, err)
	r := Result{ID: c.ID, Language: c.Language, Kind: c.Kind}
	r.Record(c.Golden, posted, pairs)
	Grade(&r)
	return r
}
