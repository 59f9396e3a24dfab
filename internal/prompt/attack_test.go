package prompt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// The open attacks of the threat model, each at every place of every turn.
func TestT1_T2_T7_EveryKnownAttackStaysDataInEveryTurn(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	want, wrong := labels(), guard.Boundary(strings.Repeat("0123456789abcdef", 2))
	rows := llmtest.Attacks(t)
	for _, row := range rows {
		for _, kind := range kinds() {
			got := turn(kind, row.Payload)
			_, blocks := read(t, mark, got)
			require.Len(t, blocks, len(want[kind]), "%s in %s", row.ID, kind)
			require.Equal(t, guard.Visible(got), got, "%s in %s", row.ID, kind)
			require.NotContains(t, got, wrong.Close(), "%s in %s: a forged mark is broken", row.ID, kind)
		}
	}
	require.Greater(t, len(rows), 250)
}
