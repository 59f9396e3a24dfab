package score

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/stats"
)

func TestOnlyCasesWhoseResultChangedAreNamed(t *testing.T) {
	t.Parallel()
	grade := func(r Result) Result {
		r.ID, r.Kind = "c", dataset.Bug
		if len(r.Golden) == 0 {
			r.Kind = dataset.Clean
		}
		Grade(&r)
		return r
	}
	hits, misses := grade(Result{Golden: []Known{knownAt("a.go", finding.Major, dataset.Local, "", "F1")}}),
		grade(Result{Golden: []Known{knownAt("a.go", finding.Major, dataset.Local, "", "")}})
	weak := knownAt("b.go", finding.Minor, dataset.Local, "", "")
	weakHit := weak
	weakHit.Hit = "F2"
	clean, noisy := grade(Result{}), grade(Result{Posted: beside(finding.Major, 1)})
	for name, c := range map[string]struct {
		first, later Result
		want         []Change
	}{
		"nothing": {hits, hits, []Change{}},
		"another hit": {hits, grade(Result{Golden: []Known{knownAt("a.go", finding.Major, dataset.Local, "",
			"F9")}}), []Change{}},
		"weak noise": {clean, grade(Result{Posted: beside(finding.Minor, 4)}), []Change{}},
		"hit":        {misses, hits, []Change{{"c", []string{"passes now", "hits `a.go:7`"}, nil}}},
		"missed":     {hits, misses, []Change{{"c", nil, []string{"passes no longer", "misses `a.go:7`"}}}},
		"noise": {clean, noisy, []Change{{"c", nil,
			[]string{"passes no longer", "1 unmatched finding of severity major or higher instead of 0"}}}},
		"less noise": {grade(Result{Posted: beside(finding.Major, 3)}), grade(Result{Posted: beside(finding.Major,
			2)}), []Change{{"c", []string{"2 unmatched findings of severity major or higher instead of 3"}, nil}}},
		"another one": {grade(Result{Golden: []Known{hits.Golden[0], weak}}),
			grade(Result{Golden: []Known{misses.Golden[0], weakHit}}),
			[]Change{{"c", []string{"hits `b.go:7`"}, []string{"passes no longer", "misses `a.go:7`"}}}},
		"a hit with noise": {misses, grade(Result{Golden: hits.Golden, Posted: beside(finding.Major, 1)}),
			[]Change{{"c", []string{"passes now", "hits `a.go:7`"}, []string{
				"1 unmatched finding of severity major or higher instead of 0"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Compare([]Result{c.first}, []Result{c.later}).Changed)
		})
	}
}

func TestOnlyCasesOfBothRunsAreCompared(t *testing.T) {
	t.Parallel()
	first, later := sample()[:4], sample()[1:]
	later[0].Golden[0].LineStart++ // go-2
	c := Compare(first, later)
	require.Equal(t, 2, c.Cases)
	require.Equal(t, [2]int{2, 3}, c.Apart)
	require.Empty(t, c.Changed)
	require.Equal(t, Paired{First: 1, Later: 1, Of: 2, P: 1}, c.Passed)

	none := Compare(first, nil)
	require.Zero(t, none.Cases)
	require.Equal(t, [2]int{4, 0}, none.Apart)
	require.Contains(t, none.Markdown(), "There is nothing to compare.")
	require.NotContains(t, none.Markdown(), "No case changed")
}

// many is n bug cases of which those that hit says are hit, and nothing else is
// posted.
func many(n int, hit func(int) bool) (all []Result) {
	for i := range n {
		r := Result{ID: fmt.Sprint("case-", i), Kind: dataset.Bug, Golden: []Known{missed(finding.Major)},
			Posted: beside(finding.Minor, 1)}
		if hit(i) {
			r.Golden[0].Hit, r.Posted[0].Golden = "F1", 0
		}
		Grade(&r)
		all = append(all, r)
	}
	return all
}

func TestAChangeIsHeldAgainstNoise(t *testing.T) {
	t.Parallel()
	first := many(60, func(i int) bool { return i%2 == 0 })
	little := Compare(first, many(60, func(i int) bool { return i%2 == 0 && i != 40 || i < 6 }))
	require.Equal(t, Paired{First: 30, Later: 32, Of: 60, Better: 3, Worse: 1, P: 0.625}, little.Passed)
	require.Contains(t, little.Markdown(), "3 better, 1 worse; p = 0.625: not more than noise")

	much := Compare(first, many(60, func(i int) bool { return i%2 == 0 || i < 30 }))
	require.Equal(t, 15, much.Hit.Better)
	require.Equal(t, 2, strings.Count(much.Markdown(), "**more than noise**"), "passed and hit")
}

func TestPrecisionStandsWithTheIntervalsOfBothRuns(t *testing.T) {
	t.Parallel()
	c := Compare(many(10, func(int) bool { return false }), many(10, func(i int) bool { return i < 8 }))
	require.Equal(t, [2]*stats.Interval{stats.Wilson(0, 10), stats.Wilson(8, 10)}, c.Precision)
	require.Regexp(t, `\| precision +\| 0\.0 % +\| 80\.0 % +\| \+80\.0 points \| 95 % intervals: 0\.0 – 27\.8 % and`+
		` 49\.0 – 94\.3 % +\|`, c.Markdown())
	for _, c := range []Comparison{Compare(nil, nil), Compare(silent(), silent())} {
		require.Equal(t, [2]*stats.Interval{}, c.Precision)
		require.NotContains(t, c.Markdown(), "precision")
	}
}

func TestMcNemarAgainstKnownValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		better, worse int
		p             float64
	}{{0, 0, 1}, {1, 0, 1}, {3, 1, 0.625}, {6, 0, 0.0313}, {5, 0, 0.0625}, {10, 2, 0.0386}, {7, 7, 1},
		{20_000, 20_000, 1}, {3_000, 1_000, 0}} {
		require.InDelta(t, c.p, mcNemar(c.better, c.worse), 1e-4, "%d against %d", c.better, c.worse)
		require.InDelta(t, mcNemar(c.better, c.worse), mcNemar(c.worse, c.better), 0)
	}
}

func TestCasesWithOtherKnownFindingsAreNotCompared(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Result){
		"kind":     func(r *Result) { r.Kind = dataset.Clean },
		"place":    func(r *Result) { r.Golden[0].LineEnd++ },
		"also":     func(r *Result) { r.Golden[0].Also = []dataset.Place{{Path: "b.go", LineStart: 1, LineEnd: 1}} },
		"severity": func(r *Result) { r.Golden[0].Severity = finding.Nit },
		"issue":    func(r *Result) { r.Golden[0].Issue = "another" },
		"number":   func(r *Result) { r.Golden = append(r.Golden, r.Golden[0]) },
	} {
		first, later := many(1, func(int) bool { return true }), many(1, func(int) bool { return true })
		require.Zero(t, Compare(first, later).Apart)
		change(&later[0])
		require.Equal(t, [2]int{1, 1}, Compare(first, later).Apart, name)
	}
}

func TestP11_TheOrderOfCasesDoesNotMatterToTheComparison(t *testing.T) {
	t.Parallel()
	first, later := many(40, func(i int) bool { return i%3 == 0 }), many(40, func(i int) bool { return i%4 == 0 })
	a := Compare(first, later)
	slices.Reverse(first)
	b := Compare(first, later)
	slices.Reverse(b.Changed)
	require.Equal(t, a, b)
}

func TestFingerprintsThatDifferAreNamed(t *testing.T) {
	t.Parallel()
	of := func(f map[string]string) Report { return Report{About: About{Fingerprints: f}} }
	first := of(map[string]string{"cases": "a", "prompt": "b", "model": "c"})
	require.Equal(t, []string{"commit", "model", "prompt"},
		Differing(first, of(map[string]string{"cases": "a", "prompt": "x", "commit": "d"})))
	require.Empty(t, Differing(first, first))
	require.Equal(t, []string{}, Differing(Report{}, of(nil)), "a list in JSON, too")
}
