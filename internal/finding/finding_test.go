package finding

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFingerprintOutlivesLineAndWhiteSpace(t *testing.T) {
	t.Parallel()
	f := Finding{Path: "a.go", Line: 3, Category: "bug", Title: "The error is dropped", Quote: "x := f()"}
	moved := f
	moved.Line, moved.Title, moved.Quote, moved.Body, moved.Severity = 9, " the  ERROR is\tdropped", "\tx := f() ",
		"other words", Blocker
	require.Equal(t, Fingerprint(f), Fingerprint(moved))
	for name, change := range map[string]func(*Finding){
		"path":     func(f *Finding) { f.Path = "A.go" },
		"category": func(f *Finding) { f.Category = "style" },
		"title":    func(f *Finding) { f.Title += "!" },
		"quote":    func(f *Finding) { f.Quote = "y := f()" },
		"borders":  func(f *Finding) { f.Category, f.Title = "bug the", "error is dropped" },
	} {
		other := f
		change(&other)
		require.NotEqual(t, Fingerprint(f), Fingerprint(other), name)
	}
}

func TestP11_TheOrderOfFindingsIsTotal(t *testing.T) {
	t.Parallel()
	ordered := []Finding{
		{Severity: Blocker, Path: "z.go", Line: 9},
		{Severity: Major, Path: "a.go", Line: 2, StartLine: 1},
		{Severity: Major, Path: "a.go", Line: 2, StartLine: 2, Title: "a"},
		{Severity: Major, Path: "a.go", Line: 2, StartLine: 2, Title: "b", Body: "1"},
		{Severity: Major, Path: "a.go", Line: 2, StartLine: 2, Title: "b", Body: "2"},
		{Severity: Major, Path: "a.go", Line: 10},
		{Severity: Major, Path: "b.go", Line: 1},
		{Severity: Minor, Path: "a.go"}, {Severity: Nit, Path: "a.go"}, {Severity: "?", Path: "a.go"},
	}
	shuffled := slices.Clone(ordered)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, Compare)
	require.Equal(t, ordered, shuffled)
}

func TestSeveritiesAreKnownByName(t *testing.T) {
	t.Parallel()
	for rank, s := range Severities() {
		got, err := ParseSeverity(string(s))
		require.NoError(t, err)
		require.Equal(t, rank, got.Rank())
	}
	for _, bad := range []string{"", "Major", "high", "nit "} {
		_, err := ParseSeverity(bad)
		require.ErrorContains(t, err, "not one of nit, minor, major, blocker")
	}
}

func TestCountsNameEverySeverityGravestFirst(t *testing.T) {
	t.Parallel()
	all := []Finding{{Severity: Nit}, {Severity: Major, Filtered: Duplicate}, {Severity: Blocker}, {Severity: Nit}}
	require.Equal(t, "1 blocker, 1 major, 2 nits", Counts(all))
	require.Equal(t, "1 blocker, 2 nits", Counts(Kept(all)))
	require.Equal(t, "nothing found", Counts(nil))
	require.Equal(t, "999 major, 1,200 minor", Counts(slices.Concat(slices.Repeat([]Finding{{Severity: Minor}}, 1200),
		slices.Repeat([]Finding{{Severity: Major}}, 999))))
	require.Len(t, all, 4, "kept is a list of its own")
}

func TestP6_OnlyWhatNobodyWouldQuestionIsCovered(t *testing.T) {
	t.Parallel()
	for state, reasons := range map[State]map[Reason]bool{
		Reviewed: {"": true},
		Skipped: {Deleted: true, Renamed: true, Binary: true, Lockfile: true, Generated: true, Vendored: true,
			Minified: true,
			Asset:    true, Ignored: true, NoContent: true, TooLarge: false},
		Partly:     {"": false, "the answer was cut off": false},
		Failed:     {"": false},
		NotReached: {"": false},
		"":         {"": false},
	} {
		for reason, want := range reasons {
			require.Equal(t, want, FileReview{State: state, Reason: reason}.Covered(),
				strings.Join([]string{string(state), string(reason)}, " "))
		}
	}
}

func TestP2_ARulesTextWithoutItsNameIsNoCrash(t *testing.T) {
	t.Parallel()
	require.Empty(t, Finding{RuleText: "of a checkpoint that somebody wrote"}.AlsoSaid())
}
