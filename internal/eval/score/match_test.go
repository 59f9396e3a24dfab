package score

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

func golden(path string, start, end int, also ...dataset.Place) dataset.Golden {
	return dataset.Golden{Path: path, LineStart: start, LineEnd: end, Severity: finding.Major,
		Visibility: dataset.Local, Issue: "the issue", Also: also}
}

func at(path string, start, line int) finding.Finding {
	return finding.Finding{ID: fmt.Sprintf("%s:%d-%d", path, start, line), Path: path, StartLine: start, Line: line,
		Side: finding.Right, Severity: finding.Major}
}

func left(path string, start, line int) finding.Finding {
	f := at(path, start, line)
	f.Side = finding.Left
	return f
}

func TestFindingsHitWithinThreeLines(t *testing.T) {
	t.Parallel()
	const patch = "@@ -1,6 +1,4 @@\n one\n-two\n-three\n+2\n four\n-five\n six\n@@ -40,2 +38,3 @@\n forty\n+new\n " +
		"forty-one"
	also := []dataset.Place{{Path: "b.go", LineStart: 100, LineEnd: 100}, {Path: "a.go", LineStart: 60, LineEnd: 61}}
	for name, c := range map[string]struct {
		golden   dataset.Golden
		finding  finding.Finding
		distance int // -1 for no pair
	}{
		"same line":                  {golden("a.go", 10, 12), at("a.go", 11, 11), 0},
		"around it":                  {golden("a.go", 10, 12), at("a.go", 1, 50), 0},
		"edges touch":                {golden("a.go", 10, 12), at("a.go", 8, 10), 0},
		"three above":                {golden("a.go", 10, 12), at("a.go", 5, 7), 3},
		"four above":                 {golden("a.go", 10, 12), at("a.go", 5, 6), -1},
		"three below":                {golden("a.go", 10, 12), at("a.go", 15, 20), 3},
		"four below":                 {golden("a.go", 10, 12), at("a.go", 16, 20), -1},
		"another path":               {golden("a.go", 10, 12), at("c.go", 11, 11), -1},
		"another place":              {golden("a.go", 10, 12, also...), at("a.go", 62, 62), 1},
		"a place in another file":    {golden("a.go", 10, 12, also...), at("b.go", 100, 100), 0},
		"that place in this file":    {golden("a.go", 10, 12, also...), at("a.go", 100, 100), -1},
		"no line":                    {golden("a.go", 1, 1), at("a.go", 0, 0), -1},
		"no first line":              {golden("a.go", 10, 12), at("a.go", 0, 9), 1},
		"no first line, far above":   {golden("a.go", 2, 2), at("a.go", 0, 9), -1},
		"first line behind the last": {golden("a.go", 10, 12), at("a.go", 90, 9), 1},
		"removed, replaced":          {golden("a.go", 2, 2), left("a.go", 2, 2), 0},
		"removed, far away":          {golden("a.go", 42, 42), left("a.go", 41, 41), 2},
		"removed, between hunks":     {golden("a.go", 18, 18), left("a.go", 20, 20), 0},
		"removed, no patch":          {golden("b.go", 2, 2), left("b.go", 2, 2), -1},
		"removed, broken patch":      {golden("c.go", 2, 2), left("c.go", 2, 2), -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patches := map[string]string{"a.go": patch, "c.go": "@@ -1,9"}
			pairs := Candidates([]dataset.Golden{c.golden}, []finding.Finding{c.finding}, patches)
			start, end, ok := NewSide(c.finding, patches[c.finding.Path])
			require.Equal(t, c.distance >= 0, ok &&
				near(Loss{Path: c.finding.Path, StartLine: start, Line: end}, c.golden))
			if c.distance < 0 {
				require.Empty(t, pairs)
				return
			}
			require.Equal(t, []Pair{{0, 0, c.distance}}, pairs)
		})
	}
}

func TestCandidatesComeNearestFirst(t *testing.T) {
	t.Parallel()
	pairs := Candidates(
		[]dataset.Golden{golden("a.go", 10, 12), golden("a.go", 10, 11)},
		[]finding.Finding{at("a.go", 14, 14), at("a.go", 1, 30), at("a.go", 10, 12), at("a.go", 10, 12)}, nil)
	require.Equal(t, []Pair{
		{0, 2, 0}, {0, 3, 0}, {1, 2, 0}, {1, 3, 0}, // by how exactly starts and ends agree, then as listed
		{0, 1, 0}, {1, 1, 0},
		{0, 0, 2}, {1, 0, 3},
	}, pairs)

	also := dataset.Place{Path: "a.go", LineStart: 10, LineEnd: 10}
	pairs = Candidates([]dataset.Golden{golden("a.go", 10, 11), golden("a.go", 10, 30, also)},
		[]finding.Finding{at("a.go", 10, 10)}, nil)
	require.Equal(t, []Pair{{1, 0, 0}, {0, 0, 0}}, pairs, "of several places the one that agrees best")
}

// A line that a change leaves alone is found again on the new side, wherever it
// moves to; a removed one where its neighbours are.
func TestOldLinesMoveWithTheirText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		old := make([]string, 5+random.IntN(60))
		var now []string
		for i := range old {
			old[i] = fmt.Sprintf("line %d", i)
			for n := range random.IntN(8) / 6 * (1 + random.IntN(9)) {
				now = append(now, fmt.Sprintf("new %d of %d", n, i))
			}
			if random.IntN(6) > 0 {
				now = append(now, old[i])
			}
		}
		patch, _, _ := diff.Between(strings.Join(old, "\n")+"\n", strings.Join(append(now, ""), "\n"))
		hunks, err := diff.Hunks(patch)
		require.NoError(t, err)
		last := 0
		for i, text := range old {
			to := newLine(hunks, i+1)
			if stays := slices.Index(now, text); stays >= 0 {
				require.Equal(t, stays+1, to, "line %d of\n%s", i+1, patch)
			}
			require.GreaterOrEqual(t, to, last)
			require.LessOrEqual(t, to, len(now)+1)
			last = to
		}
	}
}

func TestOldLinesMoveWithoutContextToo(t *testing.T) {
	t.Parallel()
	hunks, err := diff.Hunks("@@ -5,0 +6,2 @@\n+a\n+b\n@@ -10,2 +11,0 @@\n-x\n-y\n@@ -20 +19,0 @@\n-z")
	require.NoError(t, err)
	for old, want := range map[int]int{4: 4, 5: 5, 6: 8, 9: 11, 10: 12, 11: 12, 12: 12, 19: 19, 20: 20, 21: 20} {
		require.Equal(t, want, newLine(hunks, old), "line %d", old)
	}
}

func TestEachFindingIsUsedOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		goldens, posted := crowd(random)
		candidates := Candidates(goldens, posted, nil)
		no := map[Pair]bool{}
		for _, c := range candidates {
			no[c] = random.IntN(3) == 0
		}
		same := func(p Pair) (bool, error) { return !no[p], nil }
		pairs, err := Match(candidates, same)
		require.NoError(t, err)
		usedGolden, usedFinding := map[int]bool{}, map[int]bool{}
		for _, p := range pairs {
			require.False(t, no[p] || usedGolden[p.Golden] || usedFinding[p.Finding])
			usedGolden[p.Golden], usedFinding[p.Finding] = true, true
		}
		for _, c := range candidates {
			require.True(t, no[c] || usedGolden[c.Golden] || usedFinding[c.Finding],
				"a pair is left that could be taken")
		}
		far := append(slices.Clone(posted), at("a.go", 500, 500), at("z.go", 1, 1))
		again, err := Match(Candidates(goldens, far, nil), same)
		require.NoError(t, err)
		require.Equal(t, pairs, again, "a finding that is near nothing changes nothing")
	}
}

func crowd(random *rand.Rand) (goldens []dataset.Golden, posted []finding.Finding) {
	for range 1 + random.IntN(4) {
		start := 1 + random.IntN(30)
		goldens = append(goldens, golden("a.go", start, start+random.IntN(5)))
	}
	for range random.IntN(8) {
		start := 1 + random.IntN(30)
		posted = append(posted, at("a.go", start, start+random.IntN(5)))
	}
	return goldens, posted
}

// byPlace is not a judge: place alone decides.
func byPlace(Pair) (bool, error) { return true, nil }

func TestTheJudgeIsAskedOnlyAboutWhatIsFree(t *testing.T) {
	t.Parallel()
	candidates := []Pair{{0, 0, 0}, {0, 1, 0}, {1, 0, 1}, {1, 1, 2}}
	var asked []Pair
	pairs, err := Match(candidates, func(p Pair) (bool, error) {
		asked = append(asked, p)
		return p != candidates[0], nil
	})
	require.NoError(t, err)
	require.Equal(t, []Pair{{0, 1, 0}, {1, 0, 1}}, pairs)
	require.Equal(t, candidates[:3], asked)

	pairs, err = Match(candidates, byPlace)
	require.NoError(t, err)
	require.Equal(t, []Pair{{0, 0, 0}, {1, 1, 2}}, pairs, "without a judge place alone decides")

	broken := errors.New("no answer")
	_, err = Match(candidates, func(Pair) (bool, error) { return false, broken })
	require.ErrorIs(t, err, broken)
}

func TestAFindingOnTheFileIsReportedAndIsNoHit(t *testing.T) {
	t.Parallel()
	goldens := []dataset.Golden{golden("a.go", 10, 12),
		golden("b.go", 5, 5, dataset.Place{Path: "c.go", LineStart: 1, LineEnd: 1}), golden("d.go", 1, 1)}
	posted := []finding.Finding{at("a.go", 0, 0), at("c.go", 90, 90), at("d.go", 1, 1)}
	pairs, err := Match(Candidates(goldens, posted, nil), byPlace)
	require.NoError(t, err)
	r := Result{Kind: dataset.Bug}
	r.Record(goldens, posted, pairs)
	var hits []string
	for _, k := range r.Golden {
		require.True(t, k.FileHit)
		hits = append(hits, k.Hit)
	}
	require.Equal(t, []string{"", "", posted[2].ID}, hits)
	require.Equal(t, []int{-1, -1, 2}, []int{r.Posted[0].Golden, r.Posted[1].Golden, r.Posted[2].Golden})
	Grade(&r)
	require.False(t, r.Passed)
}
