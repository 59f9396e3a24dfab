package decision

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestParseReadsEveryCommand(t *testing.T) {
	t.Parallel()
	d, err := Parse("Thanks, mostly good.\r\n/approve\r\n/drop F2 F5: known, see #31\r\n/drop F7\r\n/edit F3: " +
		"Close: take `book` first.\r\n/summary F4: aside\r\n/severity F6 minor\r\nSee you.\r\n")
	require.NoError(t, err)
	require.Equal(t, Approve, d.Verdict)
	require.Equal(t, []Drop{{"F2", "known, see #31", ByID}, {"F5", "known, see #31", ByID}, {"F7", "", ByID}}, d.Drop)
	require.Equal(t, []Edit{{"F3", "Close: take `book` first."}}, d.Edit)
	require.Equal(t, []Move{{"F4", "aside"}}, d.Move)
	require.Equal(t, []Regrade{{"F6", Minor}}, d.Severity)
	require.Equal(t, "Thanks, mostly good.\nSee you.", d.Note)
	require.Equal(t, Command{Line: 3, Text: "/drop F2 F5: known, see #31", Name: "/drop", IDs: []string{"F2", "F5"},
		reason: "known, see #31"}, d.Commands[1])
	require.NoError(t, check(t, "/drop F2 F5\n/edit F3: x\n/summary F4", draft(7)))
}

func TestParseOfANoteAloneDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "approve", "looks good, see /docs"} {
		d, err := Parse(text)
		require.NoError(t, err)
		require.Empty(t, d.Verdict)
		require.Empty(t, d.Commands)
		require.Empty(t, d.Drop)
	}
}

func TestParseKeepsFeedbackOfRevise(t *testing.T) {
	t.Parallel()
	d, err := Parse("/revise be shorter: F1 and F2 are one")
	require.NoError(t, err)
	require.Equal(t, Revise, d.Verdict)
	require.Equal(t, "be shorter: F1 and F2 are one", d.Feedback)
}

func TestReviseCommandIsOneLineThatParsesBack(t *testing.T) {
	t.Parallel()
	for feedback, want := range map[string]string{
		"be kinder": "be kinder", " a\r\n\n b\u2028/abort\n/drop F1 ": "a b /abort /drop F1", "/abort": "/abort",
		"\u200b/approve\u2800": "/approve", "x\xff": "x\uFFFD",
	} {
		d := parsed(t, ReviseCommand(feedback))
		require.Equal(t, Decision{Verdict: Revise, Feedback: want, Commands: d.Commands}, d, "%q", feedback)
		require.Len(t, d.Commands, 1)
	}
	for feedback, reason := range map[string]string{"": "/revise TEXT", " \n\u200b\n": "/revise TEXT",
		strings.Repeat("a\n", MaxFeedback): "more than 4096"} {
		_, err := Parse(ReviseCommand(feedback))
		require.ErrorContains(t, err, reason)
	}
}

// A note that reads as a command would post what its writer meant to keep back.
func TestALineThatOnlyLooksLikeACommandIsRefused(t *testing.T) {
	t.Parallel()
	for _, slash := range []string{"\uff0f", "\u2044", "\u2215", "\u29f8", "\u2571", `\`} {
		for _, command := range append(commands(), "/\uff41\uff42\uff4f\uff52\uff54", "/Drop") {
			_, err := Parse(" " + slash + command[1:] + " F1: x")
			require.ErrorContains(t, err, "a command stands at the start of its line, with a slash", "%s%s", slash, command)
		}
		d, err := Parse(slash + "home/approve\n" + slash + " approve\n" + slash + "approved")
		require.NoError(t, err)
		require.Empty(t, d.Commands)
	}
	require.Equal(t, []Edit{{"F1", "x"}}, parsed(t, "/edit F1\uff1a x").Edit,
		"behind a slash a full-width colon is clear")
}

func TestCheck11_AnUnreadableLineRefusesTheWholeDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, reason string }{
		"unknown command":     {"/aprove", "unknown command"},
		"slash alone":         {"/", "unknown command"},
		"glued id":            {"/dropF2", "unknown command"},
		"words behind":        {"/approve now", "nothing may follow /approve"},
		"abort of a finding":  {"/abort: F2 is wrong", "names a finding"},
		"revise without text": {"/revise", "/revise TEXT"},
		"drop of nothing":     {"/drop", "no finding is named"},
		"drop reason only":    {"/drop : known", "no finding is named"},
		"keep by severity":    {"/keep minor", "not a finding's id"},
		"drop of blockers":    {"/drop blocker", "its own id"},
		"drop of braces":      {"/drop {a,b}", "cannot be read"},
		"id zero":             {"/drop F0", "not a finding's id"},
		"edit without colon":  {"/edit F3 new", "/edit F3: NEW TEXT"},
		"edit of two":         {"/edit F3 F4: new", "/edit F3: NEW TEXT"},
		"edit without text":   {"/edit F3: ", "the new text is missing"},
		"unknown severity":    {"/severity F6 huge", "nit, minor, major, blocker"},
		"severity of no id":   {"/severity high minor", "/severity F6 minor"},
		"severity of two":     {"/severity F5 F6 minor", "/severity F6 minor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse("fine\n/drop F1\n" + c.line)
			var bad *Error
			require.ErrorAs(t, err, &bad)
			require.Zero(t, d)
			require.Len(t, bad.Lines, 1)
			require.Equal(t, 3, bad.Lines[0].Line)
			require.Equal(t, strings.TrimSpace(c.line), bad.Lines[0].Text)
			require.Contains(t, bad.Lines[0].Reason, c.reason)
		})
	}
}

func TestParseListsEveryBadLine(t *testing.T) {
	t.Parallel()
	_, err := Parse("/nope\n/approve\n/drop\n")
	var bad *Error
	require.ErrorAs(t, err, &bad)
	require.Equal(t, []int{1, 3}, []int{bad.Lines[0].Line, bad.Lines[1].Line})
}

func TestParseFindsACommandBehindWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for _, before := range []string{" ", "\t", "\ufeff", "\u200b", "\u2060 ", "\u2800", "\u3164", "ok\r", "ok\u2028",
		"ok\u0085", "ok\v"} {
		d, err := Parse(before + "/abort")
		require.NoError(t, err, "%q", before)
		require.Equal(t, Abort, d.Verdict, "%q", before)
	}
}

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	_, err := Parse(strings.Repeat("a", maxText))
	require.NoError(t, err)
	_, err = Parse(strings.Repeat("a", maxText+1))
	require.ErrorContains(t, err, "decision refused")
	require.ErrorContains(t, err, "\n  text    has 65537 bytes, more than 65536\n")
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "/approve", "/drop F1, F2: no\r\n/edit F3: x", "/severity F1 nit\n/summary F2",
		"/revise \u202e", "/abort\x00", "\xff/edit F1:\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			require.True(t, errors.As(err, new(*Error)))
			checkMessage(t, err.Error())
			return
		}
		for _, e := range d.Edit {
			require.True(t, utf8.ValidString(e.Body))
			require.NotContains(t, e.Body, "\n")
		}
		require.True(t, utf8.ValidString(d.Note))
		d, err = d.Check(draft(5))
		if err != nil {
			checkMessage(t, err.Error())
		}
		for _, x := range d.Drop {
			require.True(t, x.How == ByID || x.ID != "F1", "a blocker falls only by its id")
		}
	})
}

// checkMessage holds that a message has no line but ours.
func checkMessage(t *testing.T, text string) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		ours := strings.HasPrefix(line, "  line ") || strings.HasPrefix(line, "  text ") || strings.HasPrefix(line,
			"  next ") || strings.HasPrefix(line, "          and ") || i > 0 && strings.Contains(line, "  and ")
		require.True(t, i == 0 && line == "decision refused, nothing was posted" || ours, "%q", line)
		require.NotContains(t, line, "\x1b")
	}
}
