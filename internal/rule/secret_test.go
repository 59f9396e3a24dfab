package rule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/secret"
)

// TestT9_ACredentialIsNotRepeated: a finding travels further than the code does.
func TestT9_ACredentialIsNotRepeated(t *testing.T) {
	t.Parallel()
	issued, key := "gh"+"p_q8Zt1LxV0bNc5RmW3yKd7PfHs2JgUa9EoTi4", strings.Repeat("MIIEpAIBAAKCAQEA7Zk3m9Xw", 3)
	for _, c := range []struct{ line, quote string }{
		{`a = "` + issued + `" + "` + issued + `"`, `a = "<redacted github-pat>" + "<redacted github-pat>"`},
		{`dbPassword = "wq7!Lm2zRt"`, `dbPassword = "<redacted named-credential>"`},
		{`dsn = "postgres://app:Zk83hdQw@db.internal.net/pay"`,
			`dsn = "postgres://app:<redacted url-password>@db.internal.net/pay"`},
		{`pem = "-----BEGIN ` + `PRIVATE KEY-----\n` + key + `"`, `pem = "<redacted private-key>"`},
		{`print("here", "` + issued + `")`, `print("here", "<redacted github-pat>")`},
		{`export API_KEY=9fK2mX7qLwZ4vB8tRn3y`, `export API_KEY=<redacted named-credential>`},
		{issued + `_token = "9fK2mX7qLwZ4vB8tRn3y"`, `<redacted github-pat> = "<redacted named-credential>"`},
	} {
		patch := allAdded([]string{c.line})
		_, leaks := secret.Patch(patch)
		all := Leaks("a.py", leaks)
		require.NotEmpty(t, all, c.line)
		for _, found := range all {
			require.Equal(t, c.quote, found.Quote)
			for _, part := range []string{"Lm2z", "q8Zt", "Zk83", "9fK2", "MIIE"} {
				require.NotContains(t, found.Title+found.Body+found.Suggestion+found.Quote, part)
			}
		}
	}
}

func TestLeaksAreWordedByKindAndPlace(t *testing.T) {
	t.Parallel()
	leaks := map[string]secret.PatchLeak{
		"a live one (npm-access-token)": {Line: 3, Kind: "npm-access-token", Grade: secret.Issued},
		"a private key":                 {Line: 3, Kind: "private-key", Grade: secret.Issued},
		"a password in a URL":           {Line: 3, Kind: "url-password", Grade: secret.Named},
		"the value of `dbPassword`":     {Line: 3, Kind: "named-credential", Grade: secret.Named, Name: "dbPassword"},
		"a value (jwt)":                 {Line: 3, Kind: "jwt", Grade: secret.Named},
	}
	want := map[string][]finding.Severity{ // in code and settings, in tests and documents
		"a live one (npm-access-token)": {finding.Blocker, finding.Blocker},
		"a private key":                 {finding.Blocker},
		"a password in a URL":           {finding.Major},
		"the value of `dbPassword`":     {finding.Major},
		"a value (jwt)":                 {finding.Major},
	}
	for subject, leak := range leaks {
		for i, paths := range [][]string{{"src/a.go", "deploy/values.yml"},
			{"src/a_test.go", "docs/Setup.MD", "a.markdown", "po/de.po"}} {
			for _, path := range paths {
				found := Leaks(path, []secret.PatchLeak{leak})
				if i >= len(want[subject]) {
					require.Empty(t, found, "made up for them")
					continue
				}
				require.Len(t, found, 1)
				got := found[0]
				require.Equal(t, "Hard-coded credential: "+subject, got.Title)
				require.Equal(t, want[subject][i], got.Severity, path)
				require.Equal(t, []any{path, 3, 3, finding.Right, "secret", finding.Rule},
					[]any{got.Path, got.StartLine, got.Line, got.Side, got.Category, got.Source})
				require.Equal(t, finding.Fingerprint(got), got.Fingerprint)
			}
		}
	}
}

func TestWhatIsMadeUpIsNamedSo(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"src/demographics/db.py": 1, "src/histories/db.py": 1, "db/seeds/a.rb": 0,
		"src/DatabaseSeeder.php": 0, "src/mock_db.py": 0, "src/MockDb.ts": 0} {
		leak := secret.PatchLeak{Line: 1, Kind: "named-credential", Grade: secret.Named, Name: "password"}
		require.Len(t, Leaks(path, []secret.PatchLeak{leak}), want, path)
	}
}

func TestEachLeakIsAFinding(t *testing.T) {
	t.Parallel()
	var leaks []secret.PatchLeak
	for line := range 5 {
		leaks = append(leaks, secret.PatchLeak{Line: line + 1, Kind: "jwt", Grade: secret.Named})
	}
	require.Len(t, Leaks("a.go", leaks), 5, "equal ones are brought together where all findings are")
	require.Empty(t, Leaks("a.go", nil))
	bundle := []secret.PatchLeak{{Line: 1, Kind: "named-credential", Grade: secret.Named,
		Text: strings.Repeat("x", maxLine+1)},
		{Line: 1, Kind: "npm-access-token", Grade: secret.Issued, Text: strings.Repeat("x", maxLine+1)}}
	require.Len(t, Leaks("a.js", bundle), 1, "a bundle's lines have names before values by chance")
}
