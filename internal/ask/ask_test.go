package ask_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
)

// TestP2_LinesPastedBehindARefusedOneDecideNothing pastes a change with a mistake, and the yes that was to post it.
func TestP2_LinesPastedBehindARefusedOneDecideNothing(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"/drpo F1: no", "/drop F9", "drop F1"} {
		t.Run(wrong, func(t *testing.T) {
			t.Parallel()
			keys, terminal, err := pty.Open()
			require.NoError(t, err)
			defer keys.Close()
			defer terminal.Close()
			screen, shown := io.Pipe()
			defer shown.Close()
			p := ask.Prompt{Front: &driver.Front{Process: driver.Process{Stdin: terminal, Stderr: shown}}}
			go func() {
				_, _ = keys.WriteString(wrong + "\ny\n")
				seen := bufio.NewScanner(screen)
				for seen.Scan() {
					if strings.Contains(seen.Text(), "Neither were the lines behind it") {
						_, _ = keys.WriteString("/drop F1: no\ny\n")
					}
				}
			}()
			verdict, commands := p.Review(t.Context(), driver.Report{Findings: []finding.Finding{{ID: "F1"}}}, "")
			require.Equal(t, decision.Approve, verdict)
			require.Equal(t, "/drop F1: no", commands)
		})
	}
}
