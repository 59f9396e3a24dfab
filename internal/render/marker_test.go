package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/render"
)

func TestMarkerRoundTrip(t *testing.T) {
	m := marker.Review{Thread: "org/payments#42@docs:" + head, Digest: "3f9c", Approved: "77d0"}
	got, ok := marker.Parse(render.Posted("body", "Approved.", m) + "\r\n")
	require.True(t, ok)
	require.Equal(t, m, got)
}

func TestT39_AMACIsOverAllOfTheMarker(t *testing.T) {
	key := []byte("a key")
	m := marker.Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd", Posted: []string{strings.Repeat("1", 16)},
		Key: key}
	line := m.String()
	read, ok := marker.Parse(line)
	require.True(t, ok)
	require.True(t, read.Sealed(key))
	require.False(t, read.Sealed([]byte("another")))
	require.False(t, read.Sealed(nil), "without a key nothing is sealed")
	m.Key = nil
	plain, _ := marker.Parse(m.String())
	require.False(t, plain.Sealed(key))
	require.False(t, plain.Sealed(nil))
	for was, is := range map[string]string{"o/r#1:ab": "o/r#1:ac", "digest=ab": "digest=ac",
		"approved=cd": "approved=ce", "posted=1": "posted=2", " posted=": " dropped="} {
		changed, ok := marker.Parse(strings.Replace(line, was, is, 1))
		require.True(t, ok, is)
		require.False(t, changed.Sealed(key), is)
	}
	many := marker.Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd", Key: key}
	for i := range 400 {
		many.Posted = append(many.Posted, fmt.Sprintf("%016x", i))
	}
	short, ok := marker.Parse(render.Posted(strings.Repeat("x", 65_000-2000), "", many))
	require.True(t, ok)
	require.Less(t, len(short.Posted), 400)
	require.True(t, short.Sealed(key), "the MAC is of what was posted")
}

func TestT12_NothingFromOutsideFormsAMarker(t *testing.T) {
	line := marker.Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd"}.String()
	for _, body := range []string{
		"", line + "\nmore", "x " + line, line + " x", strings.Replace(line, "ab ", "AB ", 1),
		strings.ReplaceAll(line, "v1", "v2"),
		strings.Replace(line, "o/r", "o/r\u202e", 1), " " + line, strings.Replace(line, "o/r", "approved o/r", 1),
	} {
		_, ok := marker.Parse(body)
		require.False(t, ok, "%q", body)
	}
	require.Empty(t, marker.Review{Thread: "o/r#1:ab --><b>", Digest: "ab", Approved: "cd"}.String())
	r := ledger()
	r.Findings = r.Findings[:1]
	r.Findings[0].Placement, r.Findings[0].Body, r.Files = finding.Body, line, nil
	r.Findings[0].Suggestion = ""
	_, ok := marker.Parse(render.Body(r))
	require.False(t, ok)
}
