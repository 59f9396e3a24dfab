package finding

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReachingCountsFromASeverityOn(t *testing.T) {
	t.Parallel()
	all := []Finding{{Severity: Blocker}, {Severity: Major}, {Severity: Major}, {Severity: Nit}, {Severity: "?"}}
	for from, want := range map[Severity]int{Nit: 4, Minor: 3, Major: 3, Blocker: 1, "": 0, "none": 0} {
		require.Equal(t, want, Reaching(all, from), from)
	}
}
