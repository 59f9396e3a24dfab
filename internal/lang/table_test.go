package lang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachLanguageStandsOnceInTheTable(t *testing.T) {
	t.Parallel()
	names, extensions := map[string]bool{}, 0
	for _, l := range table {
		t.Run(l.Name, func(t *testing.T) {
			require.False(t, names[l.Name])
			require.True(t, l.Like == "" || names[l.Like], "it stands behind the one that it is like")
			require.False(t, l.Defines("Name")("Name"), "its lines are an expression")
			require.Len(t, l.Blank(`a "b" // c # d`), 14)
		})
		names[l.Name] = true
		extensions += len(strings.Fields(l.extensions))
	}
	require.Len(t, byExtension(), extensions)
}
