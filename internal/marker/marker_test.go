package marker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
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

func TestAMarkerNamesWhatItPosted(t *testing.T) {
	t.Parallel()
	m := Review{Thread: "o/r#1:ab", Digest: "ab", Approved: "cd",
		Posted: []string{strings.Repeat("1", 16), strings.Repeat("2", 16), strings.Repeat("3", 16)},
		Named: []Named{{ID: "F7", Severity: finding.Blocker}, {ID: "F7", Severity: finding.Blocker, Listed: true},
			{Severity: finding.Major}}}
	require.Contains(t, m.String(), " ids=7b,7b+,0M -->")
	got, ok := Parse(m.String())
	require.True(t, ok)
	require.Equal(t, m, got)
	short := m.Within(len(m.String()) - 1)
	require.Len(t, short.Posted, 2)
	got, ok = Parse(short.String())
	require.True(t, ok)
	require.Equal(t, m.Named[:2], got.Named, "they are cut together")
	for _, bad := range []string{"7b", "7b,7b,0M,1n", "7b,7b,", "07b,1b,1b", "7B,1b,1b", "7b+7b,1b,1b", "x"} {
		_, ok := Parse(strings.Replace(m.String(), "7b,7b+,0M", bad, 1))
		require.False(t, ok, bad)
	}
	require.Equal(t, []string{"0?", "0n", "999999m"}, []string{Named{ID: "x"}.String(),
		Named{ID: "F1000000", Severity: finding.Nit}.String(), Named{ID: "F999999", Severity: finding.Minor}.String()})
	m.Key, m.Diff = []byte("key"), strings.Repeat("d", 64)
	sealed, _ := Parse(m.String())
	require.True(t, sealed.Sealed(m.Key))
	require.Equal(t, m.Diff, sealed.Diff)
	sealed.Diff = ""
	require.False(t, sealed.Sealed(m.Key))
	sealed.Diff = m.Diff
	sealed.Named[0].Severity = finding.Nit
	require.False(t, sealed.Sealed(m.Key), "the MAC is over severities too")
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
