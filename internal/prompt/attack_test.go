package prompt

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/guard"
)

// The open attacks of the threat model, each at every place of every turn.
func TestT1_T2_T7_EveryKnownAttackStaysDataInEveryTurn(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../../shared/security/injections.jsonl")
	if err != nil {
		t.Skip("the attacks of the threat model are not beside this repository")
	}
	defer file.Close()
	want, wrong := labels(), guard.Boundary(strings.Repeat("0123456789abcdef", 2))
	rows := 0
	for lines := bufio.NewScanner(file); lines.Scan(); rows++ {
		var row struct{ ID, Payload string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		attack := strings.NewReplacer("{{fence:open}}", wrong.Open("diff"), "{{fence:close}}", wrong.Close()).Replace(row.Payload)
		for _, kind := range kinds() {
			got := turn(kind, attack)
			_, blocks := read(t, mark, got)
			require.Len(t, blocks, len(want[kind]), "%s in %s", row.ID, kind)
			require.Equal(t, guard.Visible(got), got, "%s in %s", row.ID, kind)
			require.NotContains(t, got, wrong.Close(), "%s in %s: a forged mark is broken", row.ID, kind)
		}
	}
	require.Greater(t, rows, 250)
}
