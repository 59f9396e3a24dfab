package tool_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/sandbox"
	"github.com/org/pr-review-action/internal/tool"
)

// A sandbox starts this program again, ahead of its tests.
func init() { sandbox.Enter() }

func TestRunTestsRunsTheCommandOnceForAllCalls(t *testing.T) {
	t.Parallel()
	probe := sandbox.Command{Script: "true"}
	if _, err := probe.Run(t.Context(), func(context.Context, *os.Root) error { return nil }); errors.Is(err, sandbox.ErrUnavailable) {
		t.Skip("no sandbox here: ", err)
	}
	r := newClone(t) // whose paths may be of what is no text
	commit := r.commit(map[string]string{"d/a.go": "package a\n", "bin": "\x00"})
	set := tool.NewSet(tool.RunTests(tool.TestSources{
		Sandbox: &sandbox.Command{Script: "cat d/a.go; ls bin; cat /proc/sys/kernel/random/uuid; echo ::error::x; exit 1"}, Tree: tool.Clone(r.run, commit),
	}))
	first := set.Call(t.Context(), llm.Call{Name: "run_tests", Arguments: "{}"})
	require.Regexp(t, `^Run in a sandbox, without network, over the text files of the head commit: exit status 1\n\| package a\n\| ls: .*\n\| [0-9a-f-]{36}\n\| \\::error::x\n$`, first.Text)
	require.Equal(t, first, set.Call(t.Context(), llm.Call{Name: "run_tests", Arguments: "{}"}))
}
