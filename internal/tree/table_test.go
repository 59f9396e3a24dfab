package tree

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestT23_ANoteCountsTowardTheBytesOfItsTree(t *testing.T) {
	t.Parallel()
	m := newTable()
	m.noteSkipped("a.go", errors.New(strings.Repeat("x", MaxTree-10)))
	require.Equal(t, 1, m.notes)
	m.noteSkipped("b.go", ErrNotText)
	require.Equal(t, 1, m.notes)
	_, err := newMemoryTree(m).Read(t.Context(), "b.go")
	require.ErrorContains(t, err, "are too many")
	m.put("c.go", []byte("package c"))
	require.Zero(t, m.files)
	m.put("a.go", nil) // for the second time: another note in the place of the first
	m.put("c.go", []byte("package c"))
	require.Equal(t, 1, m.files)
}
