package render

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryFilterHasItsWords(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "finding", "finding.go"))
	require.NoError(t, err)
	declared := regexp.MustCompile(`\sFilter += "(\w+)"`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, declared, len(reasons))
	for _, d := range declared {
		t.Run(d[1], func(t *testing.T) {
			require.True(t, slices.ContainsFunc(reasons, func(r reason) bool { return string(r.filter) == d[1] }))
		})
	}
}
