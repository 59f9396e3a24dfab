package retrieve_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/retrieve"
)

// A key of settings that is a plain word is not what code defines under that name; a longer name may be.
func TestAPackHasTheSettingsThatNameCode(t *testing.T) {
	for name, found := range map[string]bool{"jobs": false, "settle_all": true} {
		c := change{path: "a.py", files: map[string]string{"a.py": "def " + name + "(x):\n    return 2\n",
			"ci.yml": "on: push\n" + name + ":\n  steps: 3\n"},
			patch: "@@ -1,2 +1,2 @@\n def " + name + "(x):\n-    return 1\n+    return 2"}
		require.Equal(t, found, slices.ContainsFunc(c.pack(t, engine(t, c.files), 4000), func(p retrieve.Piece) bool {
			return p.Path == "ci.yml" && p.Why == retrieve.Calls
		}), name)
	}
}
