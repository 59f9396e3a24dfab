package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
)

func TestATokenFromTheEnvironmentGoesToItsOwnServerAlone(t *testing.T) {
	t.Parallel()
	const ours, enterprise = "GITHUB_TOKEN=ours", "GH_ENTERPRISE_TOKEN=theirs"
	for _, c := range []struct {
		host    string
		environ []string
		want    string
	}{
		{"github.com", []string{ours}, "ours"},
		{"github.com", []string{"GH_TOKEN=ours"}, "ours"},
		{"acme.ghe.com", []string{ours}, "ours"},
		{"127.0.0.1:8080", []string{ours}, "ours"},
		{"localhost:8080", []string{ours}, "ours"},
		{"ghe.corp", []string{ours, "GITHUB_SERVER_URL=https://ghe.corp"}, "ours"},
		{"ghe.corp", []string{ours, "GH_HOST=GHE.corp"}, "ours"},
		{"github.com", []string{ours, "GITHUB_SERVER_URL=https://ghe.corp"}, ""},
		{"acme.ghe.com", []string{ours, "GITHUB_SERVER_URL=https://ghe.corp"}, ""},
		{"evil.example", []string{ours}, ""},
		{"github.com.evil.example", []string{ours}, ""},
		{"ghe.corp", []string{ours, enterprise}, "theirs"},
	} {
		a := &app{Process: Process{Environ: c.environ}}
		require.Equal(t, c.want, a.token(c.host, settings{}), "%s %v", c.host, c.environ)
		require.Equal(t, "given", a.token(c.host, settings{token: "given"}), "the input is for the server of the job")
	}
}

func TestErrorsHaveTheirExitCode(t *testing.T) {
	t.Parallel()
	for want, errs := range map[int][]error{
		0:           {nil},
		exitFailed:  {errors.New("x"), context.Canceled},
		exitUsage:   {usageError("x", ""), &config.Error{}},
		exitRefused: {&checkpoint.Refusal{}, &decision.Error{}, graph.ErrSnapshot, &graph.VersionError{}},
	} {
		for _, err := range errs {
			require.Equal(t, want, exitCode(err), "%T", err)
			if err != nil {
				require.Equal(t, want, exitCode(fmt.Errorf("reading: %w", err)), "%T", err)
			}
		}
	}
}

func TestThePromptTakesWhatTheDraftKnows(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]struct {
		verdict  decision.Verdict
		commands string
		says     string
	}{
		"y\n":                          {decision.Approve, "", ""},
		"no\n":                         {decision.Abort, "", ""},
		"\n":                           {"", "", ""},
		"":                             {"", "", ""},
		"/drop F9\n/drop F1: x\nyes\n": {decision.Approve, "/drop F1: x", "this draft has F1 to F2"},
		"/frob\nl\n":                   {"", "", "/frob"},
		"what\ny\n":                    {decision.Approve, "", "later keeps it parked"},
	} {
		var screen strings.Builder
		a := &app{Process: Process{Stdin: strings.NewReader(typed), Stderr: &screen}}
		verdict, commands := a.ask(t.Context(), report{Findings: []finding.Finding{{ID: "F1"}, {ID: "F2"}}})
		require.Equal(t, want.verdict, verdict, typed)
		require.Equal(t, want.commands, commands, typed)
		require.Contains(t, screen.String(), want.says, typed)
	}
}

func TestAnInterruptAtThePromptMeansLater(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, typing := io.Pipe() // nobody types
	defer typing.Close()
	a := &app{Process: Process{Stdin: in, Stderr: &strings.Builder{}}}
	verdict, _ := a.ask(ctx, report{})
	require.Empty(t, verdict)
}
