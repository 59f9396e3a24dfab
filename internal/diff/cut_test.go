package diff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

func TestACutPatchIsAPatch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 40)
	for name, c := range map[string]struct{ patch, want string }{
		"fits":     {"@@ -1 +1 @@ f\n-a\n+b", "@@ -1 +1 @@ f\n-a\n+b"},
		"no patch": {strings.Repeat("x", 99), strings.Repeat("x", 99)},
		"within a hunk": {"@@ -0,0 +1,40 @@" + strings.Repeat("\n+a", 40),
			"@@ -0,0 +1,21 @@" + strings.Repeat("\n+a", 21)},
		"between hunks": {"@@ -1 +1 @@\n-a\n+b\n@@ -9,2 +9 @@\n c\n-" + long,
			"@@ -1,1 +1,1 @@\n-a\n+b\n@@ -9,2 +9,1 @@\n c\n-" + long[:16]},
		"old and new, long": {"@@ -1 +1 @@\n-" + long + "\n+" + long,
			"@@ -1,1 +1,1 @@\n-" + long[:16] + "\n+" + long[:16]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := diff.Cut(c.patch, 64)
			require.Equal(t, c.want, got)
			if name != "no patch" {
				_, err := diff.Hunks(got)
				require.NoError(t, err)
			}
		})
	}
}
