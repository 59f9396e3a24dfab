package finding

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
)

func parsed(t *testing.T, text string) decision.Decision {
	t.Helper()
	d, err := decision.Parse(text)
	require.NoError(t, err)
	return d
}

func TestApplyDropsEditsMovesAndRegradesOnACopy(t *testing.T) {
	t.Parallel()
	all := make([]Finding, 5)
	for i := range all {
		all[i] = Finding{ID: fmt.Sprintf("F%d", i+1), Title: "t", Body: "b", Severity: Major,
			Placement: Inline, Line: i + 1}
	}
	all[4] = Finding{ID: "F5", Filtered: LowConfidence}
	before := append([]Finding(nil), all...)
	got := Apply(parsed(t, "/drop F1: known\n/edit F2: new\n/summary F3\n/severity F4 nit\n/drop F5"), all)
	require.Equal(t, before, all)

	require.Equal(t, Dropped, got[0].Filtered)
	require.Equal(t, "dropped by the approver", got[0].Note)
	require.Equal(t, "new", got[1].Body)
	require.Equal(t, "t", got[1].Title)
	require.Equal(t, Body, got[2].Placement)
	require.Equal(t, Nit, got[3].Severity)
	require.Equal(t, all[4], got[4])
	require.Len(t, Kept(got), 3)
}

// A finding whose severity was changed is among those of its new severity, as in every other list.
func TestFindingsStandInTheirOrderOnceOneIsRegraded(t *testing.T) {
	t.Parallel()
	all := []Finding{
		{ID: "F1", Path: "b.go", Severity: Blocker}, {ID: "F2", Path: "a.go", Severity: Major},
		{ID: "F3", Path: "c.go", Severity: Major}, {ID: "F4", Path: "d.go", Severity: Nit},
		{Path: "a.go", Severity: Blocker, Filtered: Duplicate},
	}
	for text, want := range map[string]string{
		"/severity F1 minor":                    "F2 F3 F1 F4 -",
		"/severity F4 blocker":                  "F1 F4 F2 F3 -",
		"/severity F3 blocker\n/drop F1: known": "F1 F3 F2 F4 -",
		"/edit F1: new":                         "F1 F2 F3 F4 -",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var ids []string
			for _, f := range Apply(parsed(t, text), all) {
				ids = append(ids, cmp.Or(f.ID, "-"))
			}
			require.Equal(t, want, strings.Join(ids, " "))
		})
	}
}

func TestP2_ARegradedFindingStandsWhereItsSeverityDoesAndNeverComesOutOfTheBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		was       Finding
		command   string
		placement Placement
		note      string
	}{
		"down to nit": {Finding{Severity: Major, Placement: Inline}, "/severity F1 nit",
			Body, "graded nit by the approver"},
		"down to minor": {Finding{Severity: Major, Placement: Inline},
			"/severity F1 minor", Inline, ""},
		"up from nit": {Finding{Severity: Nit, Placement: Body, Note: "a nit"},
			"/severity F1 major", Body, "graded up from nit by the approver"},
		"up in the body": {Finding{Severity: Minor, Placement: Body, Note: "off"},
			"/severity F1 major", Body, "off"},
		"down in the body": {Finding{Severity: Minor, Placement: Body, Note: "off"},
			"/severity F1 nit", Body, "off"},
		"a nit at its line": {Finding{Severity: Nit, Placement: Inline}, "/severity F1 major",
			Inline, ""},
		"moved and regraded": {Finding{Severity: Major, Placement: Inline},
			"/summary F1\n/severity F1 minor", Body, "moved by the approver"},
	} {
		c.was.ID, c.was.Suggestion = "F1", "x()"
		got := Apply(parsed(t, c.command+"\n/edit F1: new"), []Finding{c.was})[0]
		require.Equal(t, c.placement, got.Placement, name)
		require.Equal(t, c.note, got.Note, name)
		require.Equal(t, "x()", got.Suggestion, "%s: an edit keeps the suggestion", name)
		require.Equal(t, "new", got.Body, name)
	}
}

func TestApplyOfNothingChangesNothing(t *testing.T) {
	t.Parallel()
	all := []Finding{{ID: "F1", Body: "b"}}
	require.Equal(t, all, Apply(decision.Decision{Verdict: decision.Approve}, all))
}
