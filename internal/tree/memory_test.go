package tree

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestT23_ANoteCountsTowardTheBytesOfItsTree(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.leave("a.go", errors.New(strings.Repeat("x", MaxTree-10)))
	require.NotEmpty(t, m.left)
	m.leave("b.go", ErrNotText)
	require.Len(t, m.left, 1)
	_, err := m.Read(t.Context(), "b.go")
	require.ErrorContains(t, err, "are too many")
	m.put("c.go", []byte("package c"))
	require.Empty(t, m.content)
	m.put("a.go", nil) // for the second time: another note in the place of the first
	m.put("c.go", []byte("package c"))
	require.Len(t, m.content, 1)
}
