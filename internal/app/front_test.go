package app

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"
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
