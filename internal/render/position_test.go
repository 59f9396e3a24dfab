package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALongPathIsShownByItsLastFolders(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a/b.go": "a/b.go", "backend/src/main/java/com/org/auth/TokenFilter.java": "…/com/org/auth/TokenFilter.java",
		"x/" + strings.Repeat("long", 20): "…/" + strings.Repeat("long", 20),
		strings.Repeat("é", 32):           strings.Repeat("é", 32),
	} {
		require.Equal(t, want, shortPath(path))
	}
}
