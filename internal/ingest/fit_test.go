package ingest

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

func fitted(files []diff.File, limit int, spare ...string) (left []string) {
	for _, f := range Fit(files, limit, func(f diff.File) bool {
		return !strings.Contains(strings.Join(spare, " "), f.Path)
	}) {
		if f.Patch != "" {
			left = append(left, f.Path)
		}
	}
	return left
}

func TestFitLeavesOutTheLargestPatchesAndNoMore(t *testing.T) {
	t.Parallel()
	patch := func(n int) string { return strings.Repeat("x", n-2) } // n bytes with its quotes
	files := []diff.File{
		{Path: "a", Patch: patch(100), Additions: 9}, {Path: "b", Patch: patch(300), Additions: 9},
		{Path: "c", Patch: patch(200), Additions: 9}, {Path: "d", Patch: patch(300), Additions: 9},
	}
	require.Equal(t, []string{"a", "b", "c", "d"}, fitted(files, 900), "at the border")
	require.Equal(t, []string{"a", "c", "d"}, fitted(files, 899), "of equals the first")
	require.Equal(t, []string{"a", "c", "d"}, fitted(files, 600))
	require.Equal(t, []string{"a", "c"}, fitted(files, 599))
	require.Empty(t, fitted(files, 8), "nothing fits")
	require.Equal(t, []string{"b", "c", "d"}, fitted(files, 899, "a"), "what is not reviewed goes first")
	require.Equal(t, []string{"c", "d"}, fitted(files, 799, "a"))

	before := diff.Digest(files)
	out := Fit(files, 599, func(diff.File) bool { return true })
	require.Equal(t, before, diff.Digest(files), "the change itself stays as it was read")
	require.Equal(t, diff.File{Path: "b", Additions: 9}, out[1])
}

func TestFitMeasuresWhatIsStored(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a\n\t\"b\"\\", "\x00\x1b", "é\u2028<&>", "\xff\xfe"} {
		stored, _ := json.Marshal(strings.ToValidUTF8(text, "\ufffd"))
		require.LessOrEqual(t, len(stored), quotedSize(text), "%q", text)
	}
}
