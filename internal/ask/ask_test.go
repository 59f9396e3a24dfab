package ask_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
)

// TestP2_AnApprovalRightBehindARefusedCommandIsAskedForAgain pastes a change with a mistake, and the yes that was to
// post it.
func TestP2_AnApprovalRightBehindARefusedCommandIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]struct {
		verdict  decision.Verdict
		commands string
	}{
		"/drpo F1: no\ny\n":                    {"", ""},
		"/drop F9\nyes\n":                      {"", ""},
		"/drop F9\ny\ny\n":                     {decision.Approve, ""},
		"/drop F9\ny\n/drop F1: no\ny\n":       {decision.Approve, "/drop F1: no"},
		"/drop F9\n/drop F1: no\ny\n":          {decision.Approve, "/drop F1: no"},
		"/drop F9\nn\n":                        {decision.Abort, ""},
		"/drop F9\n/approve\n":                 {"", ""},
		"what?\ny\n":                           {decision.Approve, ""},
		"/drop F1: no\n/edit F1: x\ny\nl\ny\n": {"", "/drop F1: no"},
	} {
		t.Run(typed, func(t *testing.T) {
			t.Parallel()
			var screen bytes.Buffer
			p := ask.Prompt{Front: &driver.Front{Process: driver.Process{Stdin: strings.NewReader(typed), Stderr: &screen}}}
			verdict, commands := p.Review(t.Context(), driver.Report{Findings: []finding.Finding{{ID: "F1"}}}, "")
			require.Equal(t, want.verdict, verdict, screen.String())
			require.Equal(t, want.commands, commands)
		})
	}
}
