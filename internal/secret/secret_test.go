package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/secret"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

func TestT9_EveryKindIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	for _, kind := range llmtest.FakeKinds() {
		f := llmtest.Fakes("a seed")[kind]
		text := "first\n  key: " + placed(kind, f) + "\nlast"
		leaks := secret.Find(text)
		require.Len(t, leaks, 1, kind)
		require.Equal(t, f.Kind, leaks[0].Kind)
		require.Contains(t, text[leaks[0].Start:leaks[0].End], f.Value, kind)
		clean := secret.Redact(text)
		require.Contains(t, clean, "<redacted "+f.Kind+">")
		requireGone(t, clean, f.Value)
		require.Equal(t, strings.Count(text, "\n"), strings.Count(clean, "\n"), kind)
	}
}

func TestT9_SamplesAreRedacted(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, row := range llmtest.Attacks(t) {
		if row.Must != "redacted" {
			continue
		}
		seen++
		require.NotEmpty(t, row.Values, row.ID)
		requireGone(t, secret.Redact(row.Payload), row.Values...)
		added := strings.Split(strings.ReplaceAll("+"+strings.TrimPrefix(row.Payload, "+"), "\n", "\n+"), "\n")
		clean, leaks := secret.Patch(fmt.Sprintf("@@ -0,0 +1,%d @@\n%s\n", len(added),
			strings.ReplaceAll(strings.Join(added, "\n"), "\n++", "\n+")))
		requireGone(t, clean, row.Values...)
		require.NotEmpty(t, leaks, row.ID)
	}
	require.GreaterOrEqual(t, seen, 8)
}

// requireGone fails where eight characters of a value in a row are left in any
// spelling.
func requireGone(t *testing.T, text string, values ...string) {
	t.Helper()
	folded := strings.ToLower(text)
	for _, whole := range values {
		for _, value := range strings.Split(whole, "\n") {
			for i := range len(value) - 7 {
				part := value[i : i+8]
				gone(t, text, part)
				gone(t, text, backward(part))
				gone(t, folded, hex.EncodeToString([]byte(part)))
				gone(t, folded, "%"+strings.ReplaceAll(fmt.Sprintf("% x", part), " ", "%"))
				for shift, lost := range []int{0, 2, 3} {
					encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(".", shift) + part))
					gone(t, text, encoded[lost:len(encoded)-1])
				}
			}
		}
	}
}

// gone fails where a text has a part. Each assertion looks up its callers first, which is most of what it takes.
func gone(t *testing.T, text, part string) {
	t.Helper()
	if strings.Contains(text, part) {
		require.NotContains(t, text, part)
	}
}

func backward(s string) string {
	var b strings.Builder
	for i := len(s) - 1; i >= 0; i-- {
		b.WriteByte(s[i])
	}
	return b.String()
}

// TestT9_NothingOfARandomValueIsLeft puts values of every kind into random text,
// raw and encoded.
func TestD7_T9_NothingOfARandomValueIsLeft(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 9))
	for round := range 15 {
		seed := fmt.Sprint("round ", round)
		for _, kind := range llmtest.FakeKinds() {
			f := llmtest.Fakes(seed)[kind]
			for form, text := range decodeLetters(r, kind, f) {
				around := noise(r) + "\n" + text + "\n" + noise(r)
				clean := secret.Redact(around)
				requireGone(t, clean, f.Value)
				require.Equal(t, strings.Count(around, "\n"), strings.Count(clean, "\n"), form)
				require.Equal(t, clean, secret.Redact(clean), form)
			}
		}
	}
}

// decodeLetters writes a fake alone in each encoding that says what it is, and raw with
// its value encoded in a later line.
func decodeLetters(r *rand.Rand, kind string, f llmtest.Fake) map[string]string {
	text := placed(kind, f)
	pad := strings.Repeat("=", r.IntN(4))
	forms := map[string]string{
		"raw":       text,
		"base64":    base64.StdEncoding.EncodeToString([]byte(pad + text)),
		"url64":     "/b/" + base64.RawURLEncoding.EncodeToString([]byte(pad+text)),
		"hex":       hex.EncodeToString([]byte(text)),
		"percent":   "q=%" + strings.ReplaceAll(fmt.Sprintf("% X", text), " ", "%"),
		"twice":     base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString([]byte(text)))),
		"then64":    text + "\n" + base64.StdEncoding.EncodeToString([]byte(pad+f.Value+pad)),
		"thenback":  text + "\n" + backward(strings.ReplaceAll(f.Value, "\n", " ")),
		"then hex":  text + "\n" + hex.EncodeToString([]byte(f.Value)),
		"in string": `x := "` + strings.ReplaceAll(strings.ReplaceAll(text, `"`, `'`), "\n", `\n`) + `"`,
		"added":     "+" + strings.ReplaceAll(text, "\n", "\n+"),
	}
	if kind != "pem" && kind != "aws_secret" {
		forms["backwards"] = "id " + backward(text)
	}
	return forms
}

func noise(r *rand.Rand) string {
	lines := []string{"\tif err != nil {", "return fmt.Errorf(\"reading %q: %w\", name, err)", "", "// 100% of it",
		"key := table[i]", "a/b/c.go:12"}
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(lines[r.IntN(len(lines))] + "\n")
	}
	return b.String()
}

func TestPlaceholdersAndCodeStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`key = "AK` + `IAIOSFODNN7EXAMPLE"`,
		`password: changeme`, `password = "changeme123"`, `token: ${GITHUB_TOKEN_2}`,
		`token: "${{ secrets.API_KEY_1 }}"`,
		"gh" + "p_" + strings.Repeat("x", 36), `api_key = "<your key 1234>"`,
		`postgres://app:secret@localhost:5432/pay`,
		`https://user:password@host/`, `dsn := fmt.Sprintf("postgres://%s:%s@%s/db", user, pw, host)`,
		"-----BEGIN " + "PRIVATE KEY-----", `sk-learn and sk-` + `proj-ects`,
		`aws_sha = 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12`,
		`func (s *Store) tokenFor(key APIKey) (secret string, err error)`, `config.PrivateKey = testRSA2048PrivateKey`,
		`	"github.com/docker/docker/integration-cli/daemon/config2"`, `href="a%20b%2Fc?x=%41%42%43"`,
		`sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`, `<redacted github-pat>`,
		"Account" + "Key=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
		"sb" + "_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",
		"gh" + "p_" + strings.Repeat("ab", 18), `curl -u "bot:<redacted jwt>" https://git.internal`,
		`                  publicKeyToken="a19b5f561e34d08c"`, `"Data.Xml, Version=2.0, PublicKeyToken=a19b5f561e34d08c"`,
		`NEXT_PUBLIC_API_KEY=9f8d7c6b5a4e3d2c1b0aqw`, `    Schema KEY_SCHEMA = Schema.INT32_SCHEMA;`,
		`def load(key='CELLAR_HARNESS_CFG1'):`, "    DB_PASSWORD=str(self.config(DB_PASSWORD_ENV)),\n",
		`NEW_VAULT_PASSWORD="${SCRATCH_DIR}/new-vault-password"`,
	} {
		require.Equal(t, text, secret.Redact(text))
	}
}

// Of meteor's 7c96a706: "BBTA" before its end is the mark of a token, read from behind.
func TestAFilesHashIsNoCredentialFromBehind(t *testing.T) {
	t.Parallel()
	hash := "MwquaPznI4cUoZEgHC/XGkddOXtqKqD4DvZDOyJK2LR9Qi6TbMbAhc6IaFoRX7CRTFCmtGeu8gdXW2dBot" + "BBTA=="
	line := `      "integrity": "sha512-` + hash + `",`
	require.Equal(t, line, secret.Redact(line))
	require.NotEqual(t, hash, secret.Redact(hash), "elsewhere it is a credential")
}

func TestATokenLongerThanItsFormGoesWhole(t *testing.T) {
	t.Parallel()
	token := "shp" + "at_" + llmtest.Drawn("t", 60, "0123456789abcdef")
	require.Equal(t, "a <redacted shopify-access-token>\nb", secret.Redact("a "+token+"\nb"))
}

func TestAMarkOfNoKnownKindHidesNothing(t *testing.T) {
	t.Parallel()
	value := llmtest.Drawn("m", 40, "0123456789abcdef")
	text := `api_key = "<redacted ` + value + `>"; password = "<redacted ` + value + `>"; sentry_token = "` + value +
		`"`
	requireGone(t, secret.Redact(text), value)
}

func TestAKeyIsReplacedInEveryLine(t *testing.T) {
	t.Parallel()
	key := llmtest.Fakes("k")["pem"]
	lines := strings.Split(key.Text, "\n")
	mark := "<redacted private-key>"
	for name, c := range map[string][2]string{
		"plain": {"a\n" + key.Text + "\nb := 1",
			"a\n" + mark + "\n" + mark + "\n" + mark + "\n" + mark + "\nb := 1"},
		"crlf": {strings.Join(lines, "\r\n") + "\r\nb", strings.Repeat(mark+"\r\n", 4) + "b"},
		"indented": {"  k: |\n    " + strings.Join(lines, "\n    ") + "\nb",
			"  k: |\n" + strings.Repeat("    "+mark+"\n", 4) + "b"},
		"added": {"+" + strings.Join(lines, "\n+") + "\n b", strings.Repeat("+"+mark+"\n", 4) + " b"},
		"joined": {`"` + strings.Join(lines, "\\n\" +\n\t\"") + `"` + "\nb",
			`"` + mark + "\n\t" + mark + "\n\t" + mark + "\n\t" + mark + "\"\nb"},
		"literal": {`k = "` + strings.Join(lines, `\n`) + `"`, `k = "` + mark + `"`},
		"begin":   {strings.Join(lines[:3], "\n") + "\n}\n", strings.Repeat(mark+"\n", 3) + "}\n"},
		"end":     {" {\n" + strings.Join(lines[1:], "\n") + "\nb", " {\n" + strings.Repeat(mark+"\n", 3) + "b"},
	} {
		require.Equal(t, c[1], secret.Redact(c[0]), name)
	}
}

// TestT9_TheTailOfATextHasNoHalfOfACredential cuts within one of them.
func TestT9_TheTailOfATextHasNoHalfOfACredential(t *testing.T) {
	t.Parallel()
	value := llmtest.Fakes("tail")["github_app"].Value
	key := llmtest.Fakes("tail")["pem"].Text
	for _, of := range []string{value, strings.ReplaceAll(key, "\n", `\n`)} {
		text := strings.Repeat("{x}", 100) + " " + of + ` "a":` + strings.Repeat("{y}", 30)
		for max := 100; max < 100+len(of); max += 3 {
			tail := secret.Tail(text, max)
			require.NotEmpty(t, tail)
			require.LessOrEqual(t, len(tail), max)
			for i := 40; i < len(of)-40; i++ {
				require.NotContains(t, tail, of[i:i+12], max)
			}
		}
	}
	require.Equal(t, "a b", secret.Tail("a b", 3))
	require.Equal(t, "b\n", secret.Tail("aa\nb\n", 4))
	require.Equal(t, ` "yy}`+"\n", secret.Tail("x\n"+strings.Repeat("x", 20)+` "yy}`+"\n", 9))
	require.Equal(t, "(a line of more than 9 bytes)", secret.Tail(strings.Repeat("x", 20)+"\n", 9))
}

func TestGradesAndNames(t *testing.T) {
	t.Parallel()
	value := llmtest.Drawn("g", 32, llmtest.Alphabet)
	for text, want := range map[string]secret.Leak{
		`dbPassword = "wq7!Lm2zRt"`:             {Kind: "named-credential", Grade: secret.Named, Name: "dbPassword"},
		"export API_KEY=9fK2mX7qLwZ4vB8tRn3y":   {Kind: "named-credential", Grade: secret.Named, Name: "API_KEY"},
		"db-password: wq7!Lm2zRt":               {Kind: "named-value", Grade: secret.Guess, Name: "db-password"},
		`signing_key => "` + value + `"`:        {Kind: "generic-api-key", Grade: secret.Guess},
		"redis://:" + value + "@cache.internal": {Kind: "url-password", Grade: secret.Named},
	} {
		leaks := secret.Find(text)
		require.Len(t, leaks, 1, text)
		leaks[0].Start, leaks[0].End = 0, 0
		require.Equal(t, want, leaks[0], text)
	}
}

func FuzzRedact(f *testing.F) {
	for _, kind := range llmtest.FakeKinds() {
		fake := llmtest.Fakes("fuzz")[kind]
		f.Add(placed(kind, fake))
		f.Add("+" + base64.StdEncoding.EncodeToString([]byte(fake.Text)) + "\r\n%41" + backward(fake.Text))
	}
	f.Add("password: x1y2z3w4\x00\xff\n<redacted jwt> K\u212a")
	f.Fuzz(func(t *testing.T, text string) {
		clean := secret.Redact(text)
		require.Equal(t, strings.Count(text, "\n"), strings.Count(clean, "\n"))
		require.Equal(t, clean, secret.Redact(clean))
		last := 0
		for _, l := range secret.Find(text) {
			require.LessOrEqual(t, last, l.Start)
			require.Less(t, l.Start, l.End)
			last = l.End
		}
	})
}

func BenchmarkFind(b *testing.B) {
	source, err := os.ReadFile("scan.go")
	require.NoError(b, err)
	text := strings.Repeat(string(source), 1+100_000/len(source))[:100_000]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		secret.Find(text)
	}
}
