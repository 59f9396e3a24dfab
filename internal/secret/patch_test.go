package secret_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/secret"
)

func TestAPatchIsRedactedOnEverySideAndListsAddedLines(t *testing.T) {
	t.Parallel()
	pat, old, head := llmtest.Fakes("new")["github_pat"].Text, llmtest.Fakes("old")["npm"].Text,
		llmtest.Fakes("head")["stripe"].Text
	patch := "@@ -3,3 +7,4 @@ k := \"" + head + "\"\n a\n-b " + old + "\n+b " + pat + "\n+c " + pat + " " + pat +
		"\n \n\\ No newline at end of file\n"
	clean, leaks := secret.Patch(patch)
	requireGone(t, clean, pat, old, head)
	require.Equal(t, "@@ -3,3 +7,4 @@ k := \"<redacted stripe-access-token>\"\n a\n-b <redacted "+
		"npm-access-token>\n+b <redacted github-pat>\n"+
		"+c <redacted github-pat> <redacted github-pat>\n \n\\ No newline at end of file\n", clean)
	require.Equal(t, []secret.PatchLeak{
		{Line: 8, Kind: "github-pat", Grade: secret.Issued, Text: "b <redacted github-pat>"},
		{Line: 9, Kind: "github-pat", Grade: secret.Issued, Text: "c <redacted github-pat> <redacted github-pat>"},
	}, leaks)
}

func TestAKeyInAPatchStandsAtItsFirstAddedLine(t *testing.T) {
	t.Parallel()
	lines := strings.Split(llmtest.Fakes("p")["pem"].Text, "\n")
	other := strings.Split(llmtest.Fakes("q")["pem"].Text, "\n")
	patch := "@@ -1,4 +1,4 @@\n " + lines[0] + "\n-" + other[1] + "\n+" + lines[1] + "\n " + lines[2] + "\n " + lines[3]
	clean, leaks := secret.Patch(patch)
	requireGone(t, clean, lines[1], lines[2], other[1])
	require.Equal(t, "@@ -1,4 +1,4 @@\n <redacted private-key>\n-<redacted private-key>\n+<redacted private-key>\n "+
		"<redacted private-key>\n <redacted private-key>", clean)
	require.Len(t, leaks, 1)
	require.Equal(t, 2, leaks[0].Line)
}

func TestWhatIsNotAddedOrOnlyGuessedIsNoLeak(t *testing.T) {
	t.Parallel()
	pat := llmtest.Fakes("o")["github_pat"].Text
	clean, leaks := secret.Patch("@@ -1,2 +1,2 @@\n-" + pat + "\n x " + pat + "\n+db-password: wq7!Lm2zRt\n")
	require.Equal(t, "@@ -1,2 +1,2 @@\n-<redacted github-pat>\n x <redacted github-pat>\n+db-password: <redacted "+
		"named-value>\n", clean)
	require.Empty(t, leaks)
}

func TestACredentialThatMovesIsRedactedAndNoNewLeak(t *testing.T) {
	t.Parallel()
	old, pat := llmtest.Fakes("old")["npm"].Text, llmtest.Fakes("new")["github_pat"].Text
	patch := "@@ -1,1 +1,2 @@\n-a: " + old + "\n+a: '" + old + "'\n+b: " + pat + "\n"
	clean, leaks := secret.Patch(patch)
	requireGone(t, clean, old, pat)
	require.Len(t, leaks, 1)
	require.Equal(t, 2, leaks[0].Line)
}

func TestACleanPatchStaysAndBrokenOnesAreRedacted(t *testing.T) {
	t.Parallel()
	patch := "@@ -1 +1 @@\r\n-a\r\n+b\n\n\r\n"
	clean, leaks := secret.Patch(patch)
	require.Equal(t, patch, clean)
	require.Empty(t, leaks)
	pat := llmtest.Fakes("b")["github_pat"].Text
	clean, leaks = secret.Patch("@@ -1 +1,9 @@\n+" + pat)
	require.Equal(t, "@@ -1 +1,9 @@\n+<redacted github-pat>", clean)
	require.Empty(t, leaks)
}

func FuzzPatch(f *testing.F) {
	for _, kind := range llmtest.FakeKinds() {
		lines := strings.Split(placed(kind, llmtest.Fakes("fuzz")[kind]), "\n")
		f.Add(fmt.Sprintf("@@ -1,2 +1,%d @@ %s\n \n-%s\n+%s\n\\ No newline at end of file\n", len(lines)+1, lines[0],
			lines[0], strings.Join(lines, "\n+")))
	}
	f.Fuzz(func(t *testing.T, patch string) {
		before, err := diff.Hunks(patch)
		clean, leaks := secret.Patch(patch)
		require.Equal(t, strings.Count(patch, "\n"), strings.Count(clean, "\n"))
		if err != nil {
			require.Empty(t, leaks)
			return
		}
		after, err := diff.Hunks(clean)
		require.NoError(t, err)
		require.Len(t, after, len(before))
		added := map[int]bool{}
		for i, h := range before {
			require.Len(t, after[i].Lines, len(h.Lines))
			for j, l := range h.Lines {
				require.Equal(t, []int{int(l.Op), l.Old, l.New},
					[]int{int(after[i].Lines[j].Op), after[i].Lines[j].Old, after[i].Lines[j].New})
				added[l.New] = added[l.New] || l.Op == diff.Add
			}
		}
		for _, l := range leaks {
			require.True(t, added[l.Line])
		}
	})
}

// Each of a commit that two people judged: a name alone made it a credential.
func TestWhatOnlyItsNameMakesACredentialIsRedactedAndNoLeak(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`"password_plugin_secret": "caching_sha2_password",`,
		`const privateKey = "cHJpdmF0ZUtleQ==";`,
		`"privateKey": "cHJpdmF0ZUtleQo="`,
		`# curl -u test:test1 https://example.com/api`,
		`curl -s -u 'alice:wrong-9Lq' http://127.0.0.1:8001/`,
		`  private_key: "0x0123456789` + `012345678901234567890123456789012345678901234567890123",`,
		`password: "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b0NHz"`,
		`client_secret: '$pbkdf2-sha512$310000$c8p78n7pUMln0jzvd4aK4Q$JNRBzwAo0ek5'`,
		`password: "{CRYPT}$6$rounds=500000$jgiCMRyGXzoqpxS3$w2pJeZnnH8bwW3zzvoMWtTRfQYsHbWbD"`,
		`password = "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW"`,
		`# password = "wq7!Lm2zRt"`,
		`token = "credentialsJSON:1312c856-0e13-4b04-8c40-ac26d4a5f700"`,
		`early_secret="33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a"`,
		`"ClientRequestToken": "8a8e1e4b-3a2c-4d5e-9f60-71c2d3e4f5a6"`,
	} {
		_, leaks := secret.Patch("@@ -0,0 +1 @@\n+" + line + "\n")
		require.Empty(t, leaks, line)
	}
	_, leaks := secret.Patch("@@ -0,0 +1 @@\n+password = \"v9#kQ2!mZx7LwE4b\"\n")
	require.Len(t, leaks, 1)
}

// A compose file of one such commit had its own name nine times.
func TestAWordInAURLsPasswordIsRedactedThereAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, want string
		leaks     int
	}{
		{"redis://default:filebrowser@redis:6379", "redis://default:<redacted url-password>@redis:6379", 1},
		{"amqp://mq:hunter2@broker:5672", "amqp://mq:<redacted url-password>@broker:5672", 1},
		{"postgres://u:shop-2024@db:5432/shop-2024", "postgres://u:<redacted url-password>@db:5432/shop-2024", 0},
	} {
		clean, leaks := secret.Patch("@@ -0,0 +1,2 @@\n+url: " + c.url + "\n+  filebrowser: hunter2\n")
		require.Equal(t, "@@ -0,0 +1,2 @@\n+url: "+c.want+"\n+  filebrowser: hunter2\n", clean)
		require.Len(t, leaks, c.leaks)
	}
}

func TestATokenBesideItsPatternIsRedactedAndNoLeak(t *testing.T) {
	t.Parallel()
	pat := llmtest.Fakes("pattern")["github_pat"].Text
	for pattern, want := range map[string]int{
		`"ghp_[a-zA-Z0-9]{36}",`: 0, `r"ghp_\w{36}"`: 0, `keys[a-1]`: 1, `token`: 1,
	} {
		clean, leaks := secret.Patch("@@ -0,0 +1,3 @@\n+" + pattern + "\n+Single(\n+" + pat + "\n")
		requireGone(t, clean, pat)
		require.Len(t, leaks, want, pattern)
	}
}

func TestSecretsThatWereDrawnAsHexAreNoTableOfChecksums(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i, name := range []string{"SESSION_SECRET", "JWT_SECRET", "APP_SALT_TOKEN"} {
		fmt.Fprintf(&b, "+%s=%x\n", name, sha256.Sum256([]byte{byte(i)}))
	}
	_, leaks := secret.Patch("@@ -0,0 +1,3 @@\n" + b.String())
	require.Len(t, leaks, 3)
}

func TestAPrivateKeyInACommentIsRedactedAndNoLeak(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("MIIEpAIBAAKCAQEA7Zk3m9Xw", 2)
	for mark, want := range map[string]int{"# ": 0, "  // ": 0, " * ": 0, "": 1, "  ": 1, "//": 1} {
		lines := []string{"-----BEGIN " + "PRIVATE KEY-----", body, body}
		clean, leaks := secret.Patch("@@ -0,0 +1,3 @@\n+" + mark + strings.Join(lines, "\n+"+mark) + "\n")
		requireGone(t, clean, body)
		require.Len(t, leaks, want, mark)
	}
}
