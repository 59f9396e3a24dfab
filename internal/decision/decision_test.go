package decision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/problem"
)

func parsed(t *testing.T, text string) Decision {
	t.Helper()
	d, err := Parse(text)
	require.NoError(t, err)
	return d
}

// draft are items of a draft: a blocker, majors, a minor and a nit.
func draft(n int) (all []Item) {
	for i := range n {
		f := Item{ID: fmt.Sprintf("F%d", i+1), Path: "api/handler.go", Severity: Major}
		switch i {
		case 0:
			f.Severity = Blocker
		case 3:
			f.Severity, f.Path = Minor, "docs/setup.md"
		case 4:
			f.Severity, f.Path = Nit, "Makefile"
		}
		all = append(all, f)
	}
	return all
}

func check(t *testing.T, text string, draft []Item) error {
	t.Helper()
	_, err := parsed(t, text).Check(draft)
	return err
}

// TestTheBlockerThatWasMeantIsOneOfTheDraft has a later draft, whose ids continue from the first one's.
func TestTheBlockerThatWasMeantIsOneOfTheDraft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		draft []Item
		want  string
	}{
		"a blocker behind one that stands": {[]Item{{ID: "F1", Severity: Major, Posted: true}, {ID: "F7", Severity: Blocker}},
			"/drop F7: REASON"},
		"no blocker": {[]Item{{ID: "F7", Severity: Major}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("/drop blocker")
			refused := err.(*Error)
			refused.About(tc.draft)
			require.Equal(t, tc.want, refused.Lines[0].Meant)
		})
	}
}

func TestCheck11_ContradictionsAndUnknownIDsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, reason string
		line         int
	}{
		"unknown id":           {"/drop F1\n/drop F9", "this draft has F1 to F5", 2},
		"one unknown of two":   {"/drop F1 F6", "this draft has F1 to F5", 1},
		"drop and edit":        {"/drop F2\n/edit F2: x", "line 1 has /drop F2 already", 2},
		"edit and drop":        {"/edit F2: x\nnote\n/drop F3 F2", "line 1 has /edit F2 already", 3},
		"drop and severity":    {"/severity F2 nit\n/drop F2", "line 1 has /severity F2 already", 2},
		"two edits":            {"/edit F2: x\n/edit F2: y", "line 1 has /edit F2 already", 2},
		"two severities":       {"/severity F2 nit\n/severity F2 major", "line 1 has /severity F2 already", 2},
		"two verdicts":         {"/approve\n/abort", "line 1 has decided already", 2},
		"two feedbacks":        {"/revise a\n/revise b", "line 1 has decided already", 2},
		"abort with a drop":    {"/drop F2\n/abort", "abort posts none", 1},
		"revise with a change": {"/revise shorter\n/edit F2: x", "revise posts none", 2},
		"a part of a name":     {"/drop Make", "is not a finding, severity or path", 1},
		"behind a reason":      {"/drop F2 (known) F3", "is not a finding, severity or path", 1},
		"overview moved":       {"/drop O1\n/summary O1", "O1 is the overview", 2},
		"overview twice":       {"/drop O1\n/edit O1: x", "line 1 has /drop O1 already", 2},
		"posted, no reason":    {"/drop F8", "/drop F8: REASON", 1},
		"posted, edited":       {"/edit F8: x", "/drop F8: REASON", 1},
		"posted, moved":        {"/summary F8: fixed", "/drop F8: REASON", 1},
		"posted, in a range":   {"/drop F5-F8: fixed", "/drop F8: REASON", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := check(t, c.text, append(draft(5), Item{ID: "F8", Severity: Nit, Posted: true}))
			var bad *Error
			require.ErrorAs(t, err, &bad)
			require.Len(t, bad.Lines, 1)
			require.Equal(t, c.line, bad.Lines[0].Line)
			require.Contains(t, bad.Lines[0].Reason, c.reason)
		})
	}
	require.ErrorContains(t, check(t, "/drop F2", draft(1)), "this draft has F1\n")
	require.ErrorContains(t, check(t, "/drop nit", draft(2)), `"nit" is not a finding`)
	require.ErrorContains(t, check(t, "/drop F2", nil), "this draft has no findings")
	require.Regexp(t, `line 1  /drop none/\*      "none/\*" is not a.*\n  line 2  /drop F9          this draft has`,
		check(t, "/drop none/*\n/drop F9", draft(5)).Error())
	require.NoError(t, check(t, "/edit F2: x\n/severity F2 nit\n/summary F2\n/approve\n/approve", draft(5)))
	require.NoError(t, check(t, "/drop O1\n/keep F1", draft(1)), "everything is kept")
	require.NoError(t, check(t, "/drop F1 *.go", draft(1)), "the path stands for a blocker that is named")
}

func TestCheckFindsWhatRangesAndNamesStandFor(t *testing.T) {
	t.Parallel()
	all := append(draft(5), Item{ID: "F8", Severity: Nit, Posted: true})
	d, err := parsed(t, "/summary F2 F1-F3: moved\n/drop nit F8: fixed").Check(all)
	require.NoError(t, err)
	require.Equal(t, []Move{{"F2", "moved"}, {"F1", "moved"}, {"F3", "moved"}}, d.Move)
	require.Equal(t, []Drop{{"F8", "fixed", ByID}, {"F5", "fixed", BySeverity}}, d.Drop)
	require.True(t, d.Drop[0].Judged())
	require.False(t, d.Drop[1].Judged(), "nobody looked at it")
	require.False(t, Drop{How: ByID}.Judged(), "nobody said why")
	require.True(t, Drop{Reason: "wrong"}.Judged(), "of a version that knew ids alone")
}

func TestTheOverviewIsEditedOrDroppedWhereItIsPosted(t *testing.T) {
	t.Parallel()
	d := parsed(t, "/edit O1: x\n/edit F1: y\n/drop F2")
	require.NoError(t, d.CheckOverview(true))
	require.ErrorContains(t, d.CheckOverview(false), "line 1  /edit O1: x      this draft posts no overview\n  next")
	text, dropped := d.Overview("as drafted")
	require.Equal(t, "x", text)
	require.False(t, dropped)
	text, dropped = parsed(t, "/drop O1").Overview("as drafted")
	require.Equal(t, "as drafted", text)
	require.True(t, dropped)
}

func TestUnderRefusesWhatContradictsTheGivenVerdict(t *testing.T) {
	t.Parallel()
	d, err := parsed(t, "/drop F1").Under(Approve)
	require.NoError(t, err)
	require.Equal(t, Approve, d.Verdict)
	_, err = parsed(t, "/approve").Under(Approve)
	require.NoError(t, err)
	_, err = parsed(t, "fine\n/abort").Under(Approve)
	require.ErrorContains(t, err, "line 2  /abort      the decision was given as approve")
	_, err = parsed(t, "/drop F1").Under(Abort)
	require.ErrorContains(t, err, "abort posts none")
	_, err = parsed(t, "/revise shorter").Under(Revise)
	require.NoError(t, err)
	_, err = parsed(t, "shorter").Under(Revise)
	require.ErrorContains(t, err, "  text    say what should be different: /revise TEXT\n  next    correct "+
		"the text and decide again")
}

// The message of the published samples.
func TestP12_RefusalNamesLineReasonAndNextStep(t *testing.T) {
	t.Parallel()
	err := check(t, "as discussed\n/drop F9", draft(5))
	var bad *Error
	require.ErrorAs(t, err, &bad)
	require.Equal(t, problem.Refused, bad.Problem().Kind)
	require.NotContains(t, err.Error(), "waits until")
	bad.Until = time.Date(2026, 12, 5, 14, 10, 0, 0, time.UTC)
	require.Equal(t, `decision refused, nothing was posted
  line 2  /drop F9      this draft has F1 to F5
  next    correct the line and decide again; the draft waits until 5 December 2026`, err.Error())
}

func TestP8_MessageShowsHiddenTextAndIsBounded(t *testing.T) {
	t.Parallel()
	text := "/x\x1b[31m\u202ey\n/" + strings.Repeat("z", shownText) + "\n"
	text += strings.Repeat("/y\n", shownLines)
	_, err := Parse(text)
	require.ErrorContains(t, err, "/x<U+001B>[31m<U+202E>y ")
	require.ErrorContains(t, err, "zzz…")
	require.ErrorContains(t, err, "and 2 more")
	checkMessage(t, err.Error())
}

func TestP12_ARouteSaysItsOwnNextStep(t *testing.T) {
	t.Parallel()
	_, err := Parse("/remove F2\n/drop")
	require.ErrorContains(t, err, "; did you mean /drop F2")
	var bad *Error
	require.ErrorAs(t, err, &bad)
	require.ErrorContains(t, err, "  next    correct the lines and decide again")
	bad.Next = "re-run all jobs"
	require.ErrorContains(t, err, "  next    re-run all jobs")
	require.NotContains(t, err.Error(), "correct")
}

func TestAnUnquotedRefusalRepeatsNothingOfTheDecision(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/drop F1 leaking words", "/edit F9: leaking words", "/leaking words",
		"/edit leaking words", "/approve leaking words", "/severity F1 leaking", "/severity F1 \"leaking\\"} {
		d, err := Parse(text)
		if err == nil {
			_, err = d.Check(draft(1))
		}
		var bad *Error
		require.ErrorAs(t, err, &bad, text)
		require.ErrorContains(t, err, "leaking", text)
		bad.Unquoted = true
		require.NotContains(t, err.Error(), "leaking", text)
		require.Regexp(t, `\n  line 1  +\S`, err.Error(), text)
		checkMessage(t, err.Error())
	}
}
