package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"

	"github.com/org/pr-review-action/internal/local"
)

func TestErrorsHaveTheirExitCode(t *testing.T) {
	t.Parallel()
	for want, errs := range map[int][]error{
		0: {nil},
		1: {errors.New("x"), context.Canceled},
		2: {problem.Usage("x", ""), &config.Error{}},
		3: {problem.Refuse(1, "x", ""), &decision.Error{}, graph.ErrSnapshot, graph.ErrAnswered,
			&graph.VersionError{}},
	} {
		for _, err := range errs {
			require.Equal(t, want, driver.ExitCode(err), "%T", err)
			if err != nil {
				require.Equal(t, want, driver.ExitCode(fmt.Errorf("reading: %w", err)), "%T", err)
			}
		}
	}
}

// A folder's name is in its threads, and perhaps not that of somebody whom the caller trusts.
func TestTheStoresListIsGuarded(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b[2J\u202eb"
	var out, told strings.Builder
	a := &app{&local.Terminal{Front: driver.NewFront(Process{Stdout: &out, Stderr: &told}), Options: &local.Options{}}}
	require.NoError(t, a.printThreads([]local.Listed{{Thread: "local/" + evil + ":0123456789"}}, ""))
	require.NoError(t, a.printThreads(nil, evil))
	require.Regexp(t, `:0123456  findings: 0\n$`, out.String())
	require.NotRegexp(t, "[\x1b\u202e]", out.String()+told.String())
}
