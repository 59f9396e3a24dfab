package oracle

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/testvolume"
)

// wide shows the lines 1 to 60 of a file that is new.
var wide = diff.File{Path: "w.go", Status: diff.Added, Additions: 60,
	Patch: "@@ -0,0 +1,60 @@" + strings.Repeat("\n+text", 60)}

// answers returns what the model says of the same file in as many cases.
func answers(t *testing.T, cases int, o Options, f diff.File, golden ...dataset.Golden) (all [][]claim) {
	t.Helper()
	for i := range cases {
		all = append(all, read(t, Answer(o, fmt.Sprint(i), golden, f)))
	}
	return all
}

func TestNoiseIsTheMeanNumberPerFile(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	const cases = 2000
	for _, mean := range []float64{0.1, 0.5, 1, 4} {
		total := 0
		for _, a := range answers(t, cases, Options{Noise: mean}, wide) {
			total += len(a)
		}
		require.InDelta(t, mean, float64(total)/cases, 4*math.Sqrt(0.25/cases))
	}
}

func TestMoreNoiseOnlyAdds(t *testing.T) {
	t.Parallel()
	known := at("w.go", 20, 21)
	for i := range 50 {
		before := []claim{}
		for _, noise := range []float64{0, 0.5, 1, 2, 4, 20} {
			all := read(t, Answer(Options{Recall: 1, Noise: noise}, fmt.Sprint(i), []dataset.Golden{known}, wide))
			require.GreaterOrEqual(t, len(all), len(before))
			require.Equal(t, before, slices.Clone(all[:len(before)]))
			before = all
		}
		beyond := read(t, Answer(Options{Recall: 1, Noise: math.Inf(1)}, fmt.Sprint(i), []dataset.Golden{known}, wide))
		require.Equal(t, before, beyond, "20 is the most")
	}
}

func TestAnAnswerHasNoMoreFindingsThanAReviewerTakes(t *testing.T) {
	t.Parallel()
	known := slices.Repeat([]dataset.Golden{at("w.go", 20, 21)}, 95)
	for _, a := range answers(t, 20, Options{Recall: 1, Noise: 20}, wide, known...) {
		require.Len(t, a, maxFindings)
	}
}

// kinds counts what kinds of noise are in answers without a known defect.
type kinds struct{ sure, unsure, repeated, off, broken, all float64 }

func (k *kinds) count(answer []claim, last int) {
	for i, c := range answer {
		k.all++
		again := slices.ContainsFunc(answer[:i], func(d claim) bool {
			return c.Line == d.Line && strings.Contains(c.Title, d.Title)
		})
		switch {
		case again:
			k.repeated++
		case c.Severity == offSchema:
			k.broken++
		case c.Line > last:
			k.off++
		case c.Confidence < 0.5:
			k.unsure++
		default:
			k.sure++
		}
	}
}

// TestNoiseIsOfKindsInFixedShares holds the shares that one documents. The first of
// an answer has nothing to repeat; of the unsure 29 in 100 look like sure ones.
func TestNoiseIsOfKindsInFixedShares(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	var k kinds
	for _, a := range answers(t, 1500, Options{Noise: 4}, wide) {
		k.count(a, 60)
	}
	require.Greater(t, k.all, 5000.0)
	const first = 0.25 // the share of firsts: four are in an answer
	require.InDelta(t, 0.15*(1-first), k.repeated/k.all, 0.02)
	require.InDelta(t, 0.30*0.71, k.unsure/k.all, 0.025)
	require.InDelta(t, 0.40+0.30*0.29+0.15*first, k.sure/k.all, 0.03)
	require.InDelta(t, 0.10, k.off/k.all, 0.02)
	require.InDelta(t, 0.05, k.broken/k.all, 0.015)
}

func TestAWrongClaimKeepsAwayFromKnownDefects(t *testing.T) {
	t.Parallel()
	g := at("w.go", 20, 22)
	g.Also = []dataset.Place{{Path: "w.go", LineStart: 40, LineEnd: 40}, {Path: "z.go", LineStart: 1, LineEnd: 60},
		{Path: "w.go", LineStart: 63, LineEnd: 70}}
	seen := map[int]bool{}
	for _, a := range answers(t, 500, Options{Noise: 4}, wide, g) {
		for _, c := range a {
			require.True(t, c.Line < 17 || 25 < c.Line && c.Line < 37 || 43 < c.Line && c.Line < 60 || c.Line > 1_000,
				"%+v", c)
			require.Equal(t, c.Line <= 60, c.Quote == "text")
			seen[c.Line] = true
		}
	}
	for _, border := range []int{1, 16, 26, 36, 44, 59} {
		require.True(t, seen[border], border)
	}
}

func TestWithoutAFreeLineAWrongClaimStandsBehindTheDiff(t *testing.T) {
	t.Parallel()
	for _, a := range answers(t, 50, Options{Noise: 4}, changed, at("a.go", 8, 44)) {
		for _, c := range a {
			require.Greater(t, c.Line, 1_000)
		}
	}
}

func TestEverySeverityIsDrawn(t *testing.T) {
	t.Parallel()
	n := map[finding.Severity]int{}
	for _, s := range severities {
		n[s]++
	}
	require.Equal(t, map[finding.Severity]int{finding.Blocker: 1, finding.Major: 3, finding.Minor: 4, finding.Nit: 2},
		n)
}
