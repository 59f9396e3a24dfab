package choose

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
)

func TestKeysMakeADecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys, text string
		verdict    decision.Verdict
	}{
		"as it stands":      {"a y", "/approve", decision.Approve},
		"a reason":          {"d known enter a y", "/drop F1: known\n/approve", decision.Approve},
		"no reason":         {"down down d enter a y", "/drop F3\n/approve", decision.Approve},
		"no drop after all": {"d kno esc a y", "/approve", decision.Approve},
		"new text": {"j e ctrl+u Lock:book enter a y", "/edit F2: Lock:book\n/approve",
			decision.Approve},
		"text as it was":        {"e enter a y", "/approve", decision.Approve},
		"text put back":         {"e X backspace enter a y", "/approve", decision.Approve},
		"empty text":            {"e ctrl+u enter a y", "/approve", decision.Approve},
		"moved":                 {"end m a y", "/summary F12\n/approve", decision.Approve},
		"moved and back":        {"m m a y", "/approve", decision.Approve},
		"weaker":                {"s a y", "/severity F1 major\n/approve", decision.Approve},
		"weakest, then gravest": {"end s a y", "/severity F12 blocker\n/approve", decision.Approve},
		"round and round":       {"s s s s a y", "/approve", decision.Approve},
		"all of one": {"m s e ctrl+u x enter a y",
			"/edit F1: x\n/severity F1 major\n/summary F1\n/approve", decision.Approve},
		"dropped with changes":    {"m s e ctrl+u x enter d enter a y", "/drop F1\n/approve", decision.Approve},
		"dropped takes no change": {"d enter m s e d a y", "/drop F1\n/approve", decision.Approve},
		"undone":                  {"m s d enter u a y", "/approve", decision.Approve},
		"in the draft's order":    {"end m home d enter a y", "/drop F1\n/summary F12\n/approve", decision.Approve},
		"from a finding in full": {"enter n d enter n m b b s esc a y",
			"/severity F1 major\n/drop F2\n/summary F3\n/approve", decision.Approve},
		"not yet":                 {"a n m a y", "/summary F1\n/approve", decision.Approve},
		"enter is no yes":         {"a enter x y", "/abort", decision.Abort},
		"abort loses changes":     {"d enter x y", "/abort", decision.Abort},
		"revise":                  {"m r shorter enter", "/revise shorter", decision.Revise},
		"no feedback, no revise":  {"r enter a y", "/approve", decision.Approve},
		"from the preview":        {"d enter p a y", "/drop F1\n/approve", decision.Approve},
		"the preview has no line": {"p d m s e u enter esc a y", "/approve", decision.Approve},
		"help first":              {"? d esc a y", "/approve", decision.Approve},
		"later":                   {"q", "", ""},
		"later, changed":          {"d known enter m q y", "/drop F1: known", ""},
		"later in pieces":         {"esc [ A d enter esc y", "/drop F1", ""},
		"ctrl-c in a question":    {"d enter a ctrl+c", "/drop F1", ""},
		"ctrl-c in a line":        {"s d kno ctrl+c", "/severity F1 major", ""},
		"ctrl-d":                  {"s ctrl+d", "/severity F1 major", ""},
		"beyond the ends": {"up up d enter pgdown pgdown pgdown down m a y", "/drop F1\n/summary F12\n/approve",
			decision.Approve},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, over := press(t, newModel(options(twelve())), keysOf(c.keys)...)
			require.True(t, over)
			require.Equal(t, Choice{c.verdict, c.text}, m.currentChoice())
		})
	}
}

func TestTheListGoesOnFromWhatWasChosenBefore(t *testing.T) {
	t.Parallel()
	o := options(twelve())
	o.Commands = "/drop F1 F2: known\n/edit F3: new text\n/severity F3 nit\n/summary F3\n/drop F99\nnote"
	m, over := press(t, newModel(o), "u", "q", "y")
	require.True(t, over)
	require.Equal(t, "/drop F2: known\n/edit F3: new text\n/severity F3 nit\n/summary F3", m.currentChoice().Text)
	o.Commands = "/drop F1\n/nonsense"
	require.Empty(t, newModel(o).currentChoice())
}

func TestTheListSaysWhereAFindingWillStand(t *testing.T) {
	t.Parallel()
	r := twelve()
	m, _ := press(t, newModel(options(r)), "s", "s")
	require.Contains(t, m.View(), "posted at its line.")
	m, _ = press(t, m, "s") // from minor to nit
	require.Contains(t, m.View(), "Confidence 0.80, in the review's summary, where nits stand.")
	_, page, err := m.renderDecision()
	require.NoError(t, err)
	require.NotEmpty(t, page)
	d, err := decision.Parse("/severity F1 nit")
	require.NoError(t, err)
	require.Equal(t, finding.Body, finding.Apply(d, r.Findings[:1])[0].Placement)
	m, _ = press(t, m, "u", "end")
	require.Contains(t, m.View(), "posted at its line.", "a nit that was placed at its line stays there")
}

func TestASuggestionThatCannotBeAppliedSaysWhy(t *testing.T) {
	t.Parallel()
	r := twelve()
	r.Findings[0].SuggestionProblem = "it does not parse\x1b[2J"
	view := sized(options(r), 80, 40).View()
	require.Contains(t, view, "Suggested as plain code, since it does not parse<U+001B>[2J:")
	require.NotContains(t, view, "in its place")
}

func TestTheListTakesTheRowsThatTheFindingLeaves(t *testing.T) {
	t.Parallel()
	r := twelve()
	for len(r.Findings) < 30 {
		f := r.Findings[5]
		f.ID, f.Title = fmt.Sprintf("F%d", len(r.Findings)+1), "gofmt of iOS code"
		r.Findings = append(r.Findings, f)
	}
	m := sized(options(r), 80, 24)
	for range r.Findings {
		rows := strings.Split(m.View(), "\n")
		require.NotContains(t, rows[3:len(rows)-2], "", "the only blank row is that of messages, above the keys")
		require.Contains(t, m.View(), "> "+m.current().ID)
		m, _ = press(t, m, "j")
	}
	require.Contains(t, m.View(), "gofmt of iOS code", "a title keeps its case")
}

func TestRevisingIsOfferedOnlyWhereItIsPossible(t *testing.T) {
	t.Parallel()
	o := options(twelve())
	require.Contains(t, sized(o, 120, 24).View(), "[r]evise")
	for _, change := range []func(*Options){
		func(o *Options) { o.CanRevise = false }, func(o *Options) { o.Rounds = 0 },
	} {
		o := o
		change(&o)
		m, over := press(t, sized(o, 120, 24), "r", "x", "y")
		require.True(t, over)
		require.Equal(t, "/abort", m.currentChoice().Text)
		require.NotContains(t, sized(o, 120, 24).View(), "[r]evise")
	}
}

func TestPastedTextPressesNoKey(t *testing.T) {
	t.Parallel()
	paste := tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune("ay\nd\x1b[2J")}
	next, cmd := newModel(options(twelve())).Update(paste)
	require.Nil(t, cmd)
	require.Empty(t, next.(model).question.words)

	m, _ := press(t, next.(model), "d")
	next, _ = m.Update(paste)
	m, over := press(t, next.(model), "enter", "a", "y")
	require.True(t, over)
	require.Equal(t, "/drop F1: ay d [2J\n/approve", m.currentChoice().Text, "one line, without what acts")
}

func TestKeysThatCameAtOnceArePressedInTurn(t *testing.T) {
	t.Parallel()
	next, _ := newModel(options(twelve())).Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjm")})
	next, cmd := next.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("ayd")})
	require.NotNil(t, cmd)
	require.Equal(t, "/summary F3\n/approve", next.(model).currentChoice().Text)
}

func TestT27_WhatIsEditedIsWhatIsShown(t *testing.T) {
	t.Parallel()
	r := twelve()
	r.Findings[0].Body = "one\r\n\ttwo\u202e\u2028/approve\x1b[2J\n"
	m, _ := press(t, newModel(options(r)), "e")
	require.Contains(t, m.View(), "its 2 lines joined into one")
	m, over := press(t, m, "!", "enter", "a", "y")
	require.True(t, over)
	require.Equal(t, "/edit F1: one  two<U+202E><U+2028>/approve<U+001B>[2J!\n/approve", m.currentChoice().Text)
}

func TestADecisionThatIsRefusedIsShownAndNotTaken(t *testing.T) {
	t.Parallel()
	o := options(twelve())
	o.Preview = func(string) (string, error) { return "", errors.New("no\x1b[2J room\n::error::x") }
	for _, key := range []string{"a", "p"} {
		m, over := press(t, newModel(o), key)
		require.False(t, over)
		require.Nil(t, m.question.answer)
		require.Contains(t, m.View(), "no<U+001B>[2J room ::error::x")
	}
	r := twelve() // a reason for each of many findings exceeds what a decision may have
	for len(r.Findings) < 40 {
		r.Findings = append(r.Findings, found("F"+string(rune('0'+len(r.Findings)/10))+
			string(rune('0'+len(r.Findings)%10)), finding.Nit, "a.go", 1, "t", "b"))
	}
	r.Findings[9].ID, r.Findings[10].ID, r.Findings[11].ID = "F50", "F51", "F52"
	m := newModel(options(r))
	for i := range m.changes {
		m.changes[i] = change{dropped: true, reason: strings.Repeat("x", 2000)}
	}
	m, over := press(t, m, "a")
	require.False(t, over)
	require.Contains(t, m.View(), "more than 65536")
}

func TestTheReasonIsNotLongerThanADecisionTakes(t *testing.T) {
	t.Parallel()
	m, _ := press(t, newModel(options(twelve())), "d")
	next, _ := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(strings.Repeat("x", maxTyped+1))})
	m, _ = press(t, next.(model), "ok", "enter")
	require.Equal(t, "ok", m.changes[0].reason)
	r := twelve()
	r.Findings[0].Body = strings.Repeat("x ", maxTyped)
	m, _ = press(t, newModel(options(r)), "e")
	require.Nil(t, m.question.answer)
	require.Contains(t, m.View(), "too long to be edited here")
}

func TestT9_ACredentialsLineIsNotShown(t *testing.T) {
	t.Parallel()
	r := twelve()
	r.Findings[0].Category, r.Findings[0].Quote = finding.Secret, "key = <redacted>"
	m, _ := press(t, newModel(options(r)), "enter")
	require.Contains(t, m.View(), "41 │ key = <redacted>")
	require.NotContains(t, m.View(), "l.Debit(from, amount)\n")
}

func TestADraftWithoutFindingsCanBeDecided(t *testing.T) {
	t.Parallel()
	for _, height := range []int{1, 9, 24} {
		m, over := press(t, sized(options(render.Review{Name: "#1"}), 80, height),
			keysOf("j k d e m s u n b enter space home end pgup pgdown p esc a y")...)
		require.True(t, over)
		require.Equal(t, "/approve", m.currentChoice().Text)
	}
}

func TestTheLineIsEdited(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"abc left X":               "abXc",
		"abc home X delete":        "Xbc",
		"abc left left backspace":  "bc",
		"ab backspace backspace c": "c",
		"ab ctrl+h c":              "ac", // what the backspace of some terminals sends
		"abc home ctrl+u delete":   "bc",
		"left delete backspace":    "",
		"日本 left 本":                "日本本",
	} {
		l := line{}
		for _, k := range keysOf(keys) {
			if _, ok := special[k]; ok {
				l = l.key(k)
			} else {
				l = l.insert(k)
			}
		}
		require.Equal(t, want, l.text(), keys)
	}
}
