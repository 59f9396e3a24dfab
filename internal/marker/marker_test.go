package marker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkerRemembersWhatWasDecided(t *testing.T) {
	t.Parallel()
	m := Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd",
		Posted: []string{"0123456789abcdef", "fedcba9876543210"}, Resolved: []string{"aaaaaaaaaaaaaaaa"}}
	require.Equal(t, "<!-- pr-review:v1 thread=o/r#1:ab digest=ab approved=cd "+
		"posted=0123456789abcdef,fedcba9876543210 resolved=aaaaaaaaaaaaaaaa -->", m.String())
	got, ok := Parse(m.String())
	require.True(t, ok)
	require.Equal(t, m, got)
	require.True(t, m.Same(Review{Thread: m.Thread, Digest: m.Digest, Approved: m.Approved}))
	require.False(t, m.Same(Review{Thread: m.Thread, Digest: m.Digest, Approved: "ce"}))
	for _, bad := range []string{"0123", "0123456789abcdeF", "0123456789abcdef,", "x --><b>", ""} {
		m.Dropped = []string{bad}
		require.Empty(t, m.String(), bad)
	}
	for _, bad := range []string{" dropped=", " dropped=ab", " dropped=,",
		" resolved=aaaaaaaaaaaaaaaa posted=aaaaaaaaaaaaaaaa",
		" dropped=" + strings.Repeat("aaaaaaaaaaaaaaaa,", 400) + "aaaaaaaaaaaaaaaa"} {
		_, ok := Parse("<!-- pr-review:v1 thread=o/r#1:ab digest=ab approved=cd" + bad + " -->")
		require.False(t, ok, bad)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd"}.String())
	f.Add("text\n<!-- pr-review:v1 thread=x -->")
	f.Fuzz(func(t *testing.T, body string) {
		if m, ok := Parse(body); ok {
			require.True(t, strings.HasSuffix(strings.TrimRight(body, " \t\r\n"), m.String()))
		}
	})
}
