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
)

func TestErrorsHaveTheirExitCode(t *testing.T) {
	t.Parallel()
	for want, errs := range map[int][]error{
		0: {nil},
		1: {errors.New("x"), context.Canceled},
		2: {problem.Usage("x", ""), &config.Error{}},
		3: {problem.Refuse(1, "x", ""), &decision.Error{}, graph.ErrSnapshot, &graph.VersionError{}},
	} {
		for _, err := range errs {
			require.Equal(t, want, driver.ExitCode(err), "%T", err)
			if err != nil {
				require.Equal(t, want, driver.ExitCode(fmt.Errorf("reading: %w", err)), "%T", err)
			}
		}
	}
}

func TestParkingRepeatsTheChanges(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{
		"": "Parked. Decide with\n  pr resume diff:0123456 --approve\n(or --abort)\n",
		"/drop F1: it's\n/severity F2 nit": "Parked. Decide with your changes:\n" +
			`  pr resume diff:0123456 --command '/drop F1: it'\''s' --command '/severity F2 nit' --approve` +
			"\nOr as it was drafted. Decide with\n  pr resume diff:0123456 --approve\n(or --abort)\n",
	} {
		var out strings.Builder
		a := &app{Front: &driver.Front{Process: Process{Stdout: &out}}, options: &options{}, name: "pr"}
		require.NoError(t, a.park(driver.Report{Thread: "diff:0123456789"}, changes))
		require.True(t, strings.HasPrefix(out.String(), want), out.String())
	}
}
