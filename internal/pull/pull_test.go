package pull

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseRefTakesWhatPeoplePaste(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Ref{
		"o/r#7":                              {Host: DefaultHost, Owner: "o", Repo: "r", Number: 7},
		"o-1/r.js_x#12":                      {Host: DefaultHost, Owner: "o-1", Repo: "r.js_x", Number: 12},
		"https://github.com/o/r/pull/7":      {Host: DefaultHost, Owner: "o", Repo: "r", Number: 7},
		"https://www.github.com/o/r/pull/7/": {Host: DefaultHost, Owner: "o", Repo: "r", Number: 7},
		"https://github.com/o/r/pull/7/files?w=1#diff-abc": {Host: DefaultHost, Owner: "o", Repo: "r", Number: 7},
		"https://GHE.example:8443/o/r/pull/7": {Host: "ghe.example:8443", Owner: "o", Repo: "r",
			Number: 7},
		"http://127.0.0.1:80/o/r/pulls/7": {Scheme: "http", Host: "127.0.0.1:80", Owner: "o", Repo: "r", Number: 7},
	} {
		got, err := ParseRef(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		require.True(t, LooksLikeRef(text), text)
	}
}

func TestParseRefRefusesWhatNamesNoPullRequest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "7", "#7", "o/r", "o/r#", "o/r#0", "o/r#-1", "o/r#1x", "o/r#99999999999999999999", "o/r/x#1", "o r/x#1",
		"../r#1", "o/..#1", "o/.#1",
		"https://github.com/o/r", "https://github.com/o/r/issues/7", "https://github.com/o/r/pull/",
		"https://github.com/o/r/pull/+7",
		"https://github.com/o/r/pull/x", "https://github.com/o%2Fx/r/pull/7", "https://github.com/o/r%0a/pull/7",
		"https://user:secret@github.com/o/r/pull/7", "ftp://github.com/o/r/pull/7", "https:///o/r/pull/7",
		"https://api.github.com/repos/o/r/pulls/7",
	} {
		_, err := ParseRef(text)
		require.Error(t, err, "%q", text)
		require.NotContains(t, err.Error(), "\n", "%q", text)
	}
}

func TestARangeOrFileIsNoRef(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"main...HEAD", "fix#7..HEAD", "changes.diff", "-", "demo", "a/b/c#1"} {
		require.False(t, LooksLikeRef(text), text)
	}
}

// FuzzParseRef holds that a reference that was taken is a name that can stand
// in a path of the API, and that its short form means the same again.
func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{"o/r#7", "https://github.com/o/r/pull/7/files", "https://[::1]:8/o/r/pull/1",
		"https://x/a/../pull/1", "o/r#7\n", "http://x/o/r/pull/1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := ParseRef(text)
		if err != nil {
			return
		}
		require.Positive(t, ref.Number)
		require.NotContains(t, []string{".", ".."}, ref.Repo)
		require.False(t, strings.ContainsAny(ref.FullName(), "%?#\\ \n\x00"), ref)
		again, err := ParseRef(ref.String())
		require.NoError(t, err)
		again.Scheme, again.Host = ref.Scheme, ref.Host
		require.Equal(t, ref, again)
	})
}

func TestForkIsAnotherOrADeletedRepository(t *testing.T) {
	t.Parallel()
	require.False(t, Pull{RepoID: 7, HeadRepoID: 7, State: "open"}.Fork())
	require.True(t, Pull{RepoID: 7, HeadRepoID: 8}.Fork())
	require.True(t, Pull{RepoID: 7}.Fork(), "a deleted fork")
	require.True(t, Pull{State: "open"}.Open())
	require.False(t, Pull{State: "closed"}.Open())
}

func TestThreadsAreNamedByHeadAndInstance(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("ab", 20)
	ref := Ref{Host: "ghe.example", Owner: "o", Repo: "r", Number: 42}
	require.Equal(t, "o/r#42:"+head, ThreadID(ref, "", head))
	require.Equal(t, "o/r#42@docs:"+head, ThreadID(ref, "docs", head))
}

func TestAThreadMayBeAbbreviatedToSevenDigits(t *testing.T) {
	t.Parallel()
	id := "o/r#42@docs:0123456789abcdef"
	for typed, want := range map[string]bool{
		id: true, "o/r#42@docs:0123456": true, "o/r#42@docs:012345": false, "o/r#42@docs:1234567": false,
		"o/r#42:0123456": false, "o/r#42": false, "o/r#42@docs:": false, "0123456": false, "": false, id + "0": false,
	} {
		require.Equal(t, want, MatchThread(typed, id), typed)
	}
	require.True(t, MatchThread("O/R#42@docs:0123456", id), "GitHub's names are the same in any case")
	require.True(t, MatchThread("O/r~PAY-88:0123456", "o/R~PAY-88:0123456789abcdef"))
	require.False(t, MatchThread("local/X#a..b:0123456", "local/x#a..b:0123456789"), "a folder's is not")
	require.False(t, MatchThread("local/x:0123456", "local/x:0123456:789"), "only the last part may be cut")
	require.False(t, MatchThread("local/x#a..b", "local/x#a..b:0123456789"),
		"the part behind the colon is what may be cut")
}

func TestAnInstanceIsASlug(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "a", "docs", "a-1", strings.Repeat("a", 32)} {
		require.NoError(t, CheckInstance(good), good)
	}
	for _, bad := range []string{"-a", "a-", "A", "a b", "a\n", "a/b", "ä", strings.Repeat("a", 33), "x --><b>",
		"partial-3", "docs-partial-12"} {
		require.Error(t, CheckInstance(bad), bad)
	}
}
