package local

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/driver"
)

func TestParkingRepeatsTheChanges(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{
		"": "Parked. Decide with\n  pr resume diff:0123456 --approve\n(or --abort)\n",
		"/drop F1: it's\n/severity F2 nit": "Parked. Decide with your changes:\n" +
			`  pr resume diff:0123456 --command '/drop F1: it'\''s' --command '/severity F2 nit' --approve` +
			"\nOr as it was drafted. Decide with\n  pr resume diff:0123456 --approve\n(or --abort)\n",
	} {
		var out strings.Builder
		a := &Terminal{Front: &driver.Front{Process: driver.Process{Stdout: &out}}, Options: &Options{}, Name: "pr"}
		require.NoError(t, a.Park(driver.Report{Thread: "diff:0123456789"}, changes))
		require.True(t, strings.HasPrefix(out.String(), want), out.String())
	}
}
