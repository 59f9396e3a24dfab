package score

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// least is a report with the keys that a baseline must have.
const least = `{"cases":40,"passed":30,"golden":35,"hit":20,"posted":50,"matched":20,"clean_cases":5` +
	`,"clean_false_positives":2}`

func TestOfAReportIsReadBackWhatARunIsHeldAgainst(t *testing.T) {
	t.Parallel()
	for _, r := range []Report{Summarize(sample(), aboutSample()), Summarize(nil, About{})} {
		got, err := ReadReport([]byte(object(t, r)))
		require.NoError(t, err)
		require.Equal(t, r.Counts, got.Counts)
		require.Equal(t, r.Fingerprints, got.Fingerprints)
		require.Equal(t, r.Judge, got.Judge)
	}
}

func TestABaselineNeedsTheEightCountsAlone(t *testing.T) {
	t.Parallel()
	r, err := ReadReport([]byte(least))
	require.NoError(t, err)
	require.Equal(t, Counts{Cases: 40, Passed: 30, Golden: 35, Hit: 20, Posted: 50, Matched: 20, CleanCases: 5,
		CleanFalsePositives: 2}, r.Counts)
	_, err = ReadReport([]byte(strings.Replace(least, "{",
		`{"later":{"key":[1]},"by":{"language":{"go":{"tokens":1}}},`, 1)))
	require.NoError(t, err, "keys of a later version")
	require.NotEmpty(t, r.Markdown())
}

func TestABaselineThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, says string }{
		"no key":          {`"hit":20,`, "", `the report has no number "hit"`},
		"null":            {`"hit":20`, `"hit":null`, `the report has no number "hit"`},
		"text":            {`"hit":20`, `"hit":"20"`, `the report has no number "hit"`},
		"fraction":        {`"hit":20`, `"hit":20.5`, "off its form"},
		"beyond":          {`"cases":40`, `"cases":99999999999999999999`, "off its form"},
		"twice":           {`"hit":20`, `"hit":20,"hit":30`, "duplicate"},
		"cut off":         {`}`, ``, "not a JSON object"},
		"text behind":     {`}`, `} {}`, "not a JSON object"},
		"a list":          {least, `[]`, "not a JSON object"},
		"nothing":         {least, ``, "not a JSON object"},
		"null altogether": {least, `null`, `the report has no number "cases"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadReport([]byte(strings.Replace(least, c.old, c.new, 1)))
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestABaselineIsMissedBeyondTheTolerance(t *testing.T) {
	t.Parallel()
	baseline := Report{Counts: Counts{Cases: 100, Passed: 80, Golden: 80, Hit: 40, Posted: 100,
		Matched: 40, CleanCases: 20, CleanFalsePositives: 4}}
	for name, c := range map[string]struct {
		change    func(*Counts)
		tolerance float64
		missed    []string
	}{
		"equal":            {func(*Counts) {}, 0, nil},
		"better":           {func(c *Counts) { c.Passed, c.Hit, c.CleanFalsePositives = 90, 50, 0 }, 0, nil},
		"at the tolerance": {func(c *Counts) { c.Passed = 75 }, 5, nil},
		"pass rate": {func(c *Counts) {
			c.Passed = 74
		}, 5, []string{"pass rate: 74.0 (74 of 100), in the baseline 80.0 (80 of 100); 5 points are tolerated"}},
		"a little without any": {func(c *Counts) {
			c.Passed = 79
		}, 0, []string{"pass rate: 79.0 (79 of 100), in the baseline 80.0 (80 of 100); 0 points are tolerated"}},
		"recall": {func(c *Counts) {
			c.Hit = 35
		}, 5, []string{"recall: 43.8 (35 of 80), in the baseline 50.0 (40 of 80); 5 points are tolerated"}},
		"precision": {func(c *Counts) {
			c.Posted = 120
		}, 5, []string{"precision: 33.3 (40 of 120), in the baseline 40.0 (40 of 100); 5 points are tolerated"}},
		"clean cases": {func(c *Counts) {
			c.CleanFalsePositives = 6
		}, 5, []string{"findings per hundred clean cases: 30.0 (6 of 20), in the baseline 20.0 (4 of 20); 5 points " +
			"are tolerated"}},
		"clean, at the tolerance": {func(c *Counts) { c.CleanFalsePositives = 5 }, 5, nil},
		"nothing posted": {func(c *Counts) {
			c.Posted, c.Matched, c.Hit, c.CleanFalsePositives = 0, 0, 0, 0
		}, 5, []string{"recall: 0.0 (0 of 80), in the baseline 50.0 (40 of 80); 5 points are tolerated"}},
		"no clean cases any more": {func(c *Counts) { c.CleanCases, c.CleanFalsePositives = 0, 0 }, 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := baseline
			c.change(&now.Counts)
			require.Equal(t, c.missed, now.Missed(baseline, c.tolerance))
		})
	}
}

// In binary fractions 10 of 60 is a little more than five points above 7 of 60.
func TestTheToleranceForgivesRounding(t *testing.T) {
	t.Parallel()
	was, now := Report{Counts: Counts{Golden: 60, Hit: 10}},
		Report{Counts: Counts{Golden: 60, Hit: 7}}
	require.Empty(t, now.Missed(was, 5))
}

func TestABaselineOfOtherCasesIsRefused(t *testing.T) {
	t.Parallel()
	baseline := Report{About: About{Fingerprints: map[string]string{"cases": "b"}}}
	require.ErrorIs(t, baseline.Comparable(map[string]string{"cases": "a"}), ErrNotComparable)
	require.NoError(t, baseline.Comparable(map[string]string{"cases": "b"}))
	require.NoError(t, Report{}.Comparable(map[string]string{"cases": "a"}), "an old one says nothing of its cases")
}

func TestABaselineOfAnotherJudgeIsRefused(t *testing.T) {
	t.Parallel()
	read := func(keys string) Report {
		r, err := ReadReport([]byte(strings.Replace(least, "{", "{"+keys, 1)))
		require.NoError(t, err)
		return r
	}
	const judged, placed = `"judge":"large-2","fingerprints":{"cases":"c","judge":"aa"},`,
		`"judge":"","fingerprints":{"cases":"c"},`
	for name, c := range map[string]struct {
		baseline, run string
		says          string // empty where they may be compared
	}{
		"the same":               {judged, judged, ""},
		"neither judged":         {placed, placed, ""},
		"the eight counts alone": {``, judged, ""},
		"counts alone, placed":   {``, placed, ""},
		"judged, then not":       {judged, placed, `its judge is "aa", not ""`},
		"not judged before":      {placed, judged, `its judge is "", not "aa"`},
		"another prompt":         {strings.Replace(judged, `"aa"`, `"bb"`, 1), judged, `its judge is "bb", not "aa"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := read(c.baseline).Comparable(read(c.run).Fingerprints)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrNotComparable)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add([]byte(least))
	f.Add([]byte(`{"cases":1e3,"passed":-0,"rates":{"recall":{"value":1e308}},"losses":{"x":null}}`))
	f.Add([]byte(strings.Replace(least, "{", `{"by":{"category":{"a|b":{"hit":1}}},"model":"`+"`|<b>"+
		`","not_passed":[{"case":"\u0000"}],`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadReport(text)
		if err != nil {
			return
		}
		r.Markdown()
		require.NoError(t, r.Comparable(r.Fingerprints))
		require.Empty(t, r.Missed(r, 0), "a report holds itself as a baseline")
		require.False(t, math.IsNaN(r.Seconds))
	})
}
