package diff

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileThatIsReadGoesByThePatchThatItHas(t *testing.T) {
	t.Parallel()
	plain := File{Path: "a.go", Patch: "@@ -1 +1 @@\n-a\n+b"}
	read := plain.Read()
	hunks, err := read.Hunks()
	require.NoError(t, err)
	again, err := read.Hunks()
	require.NoError(t, err)
	require.Same(t, &hunks[0], &again[0], "parsed once")

	cut := read
	cut.Patch = "@@ -1 +1 @@\n-a\n+c"
	anchors, err := cut.Anchors()
	require.NoError(t, err)
	text, _ := anchors.Text("RIGHT", 1)
	require.Equal(t, "c", text)
	cut.Patch = "no patch"
	_, err = cut.Hunks()
	require.Error(t, err)

	want, err := json.Marshal(plain)
	require.NoError(t, err)
	got, err := json.Marshal(read)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
