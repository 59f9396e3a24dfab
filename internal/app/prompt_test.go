package app_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
)

func TestThePromptTakesWhatTheDraftKnows(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]struct {
		verdict  decision.Verdict
		commands string
		says     string
	}{
		"y\n":                           {decision.Approve, "", ""},
		"no\n":                          {decision.Abort, "", ""},
		"\n":                            {"", "", ""},
		"":                              {"", "", ""},
		"/drop F9\n/drop F1: x\nyes\n":  {decision.Approve, "/drop F1: x", "this draft has F1 to F2"},
		"/frob\nl\n":                    {"", "", "/frob"},
		"what\ny\n":                     {decision.Approve, "", "later keeps it parked"},
		"/drop F1: x\nl\n":              {"", "/drop F1: x", ""},
		"/drop F1: x":                   {"", "/drop F1: x", ""},
		"/drop F1\n/severity F2 nit\n":  {"", "/drop F1\n/severity F2 nit", ""},
		"/drop F1\n/edit F1: x\ny\ny\n": {decision.Approve, "/drop F1", "line 1 has /drop F1 already"},
		"/drop F1\n/revise a\ny\ny\n": {decision.Approve, "/drop F1",
			"the changes typed before it are about this one"},
		// P2: an approval right behind a refused command, as of a paste, is asked for again
		"/drpo F1: no\ny\n":                {"", "", "y again approves without it"},
		"/drop F9\n/approve\n":             {"", "", "/approve again approves without it"},
		"/drop F9\nyes\nyes\n":             {decision.Approve, "", "yes again"},
		"/drop F9\ny\n/drop F1: no\ny\n":   {decision.Approve, "/drop F1: no", "y again"},
		"/drop F9\n/drop F1: no\ny\n":      {decision.Approve, "/drop F1: no", "F9"},
		"/drop F9\nn\n":                    {decision.Abort, "", "F9"},
		"/drop F1\n/edit F1: x\ny\nl\ny\n": {"", "/drop F1", "y again"},
		"/revise a\n":                      {decision.Revise, "/revise a", ""},
		"/drop F1\n/approve\n":             {decision.Approve, "/drop F1\n/approve", ""},
		"/drop F1\n/abort\n":               {decision.Abort, "/abort", ""},
	} {
		var screen strings.Builder
		p := ask.Prompt{Front: &driver.Front{Process: driver.Process{Stdin: strings.NewReader(typed), Stderr: &screen}}}
		verdict, commands := p.Review(t.Context(), driver.Report{Findings: []finding.Finding{{ID: "F1"}, {ID: "F2"}}}, "")
		require.Equal(t, want.verdict, verdict, typed)
		require.Equal(t, want.commands, commands, typed)
		require.Contains(t, screen.String(), want.says, typed)
	}
}

func TestAFourthRevisionIsRefusedAtThePrompt(t *testing.T) {
	t.Parallel()
	var screen strings.Builder
	p := ask.Prompt{Front: &driver.Front{Process: driver.Process{Stdin: strings.NewReader("/revise a\n/drop F1\ny\n"),
		Stderr: &screen}}}
	r := driver.Report{Findings: []finding.Finding{{ID: "F1"}}}
	r.State.Rounds = make([]decision.Record, gate.MaxRounds)
	verdict, commands := p.Review(t.Context(), r, "")
	require.Equal(t, decision.Approve, verdict)
	require.Equal(t, "/drop F1", commands)
	require.Contains(t, screen.String(), "this draft has already been revised three times")
}

func TestATerminalThatCannotDrawIsOfferedNoList(t *testing.T) {
	t.Parallel()
	for environ, draws := range map[string]bool{"TERM=xterm": true, "TERM=dumb": false, "TERM=": false} {
		var screen strings.Builder
		p := ask.Prompt{Front: &driver.Front{Process: driver.Process{Stdin: strings.NewReader("?\ne\n"), Stderr: &screen,
			Environ: []string{environ}}}}
		if draws {
			p.Stdin = strings.NewReader("l\n") // the list would want a terminal
		}
		verdict, _ := p.Review(t.Context(), driver.Report{}, "")
		require.Equal(t, draws, strings.Contains(screen.String(), "[e]dit"), environ)
		if draws {
			continue
		}
		require.Empty(t, verdict)
		require.Contains(t, screen.String(), "[?] this terminal cannot show the list (TERM is dumb, or not set): "+
			"type changes such as /drop F2\n")
		require.NotContains(t, screen.String(), "edit opens")
	}
}

func TestAnInterruptAtThePromptMeansLater(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, typing := io.Pipe() // nobody types
	defer typing.Close()
	p := ask.Prompt{Front: &driver.Front{Process: driver.Process{Stdin: in, Stderr: &strings.Builder{}}}}
	verdict, _ := p.Review(ctx, driver.Report{}, "")
	require.Empty(t, verdict)
}
