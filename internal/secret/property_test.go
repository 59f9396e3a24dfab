package secret

import (
	"math/rand/v2"
	"net/url"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/testvolume"
)

// drawn writes a text that an expression matches, at random.
func drawn(r *rand.Rand, re *syntax.Regexp, b *strings.Builder) {
	times := func(low, high int) {
		if high < 0 {
			high = low + 8
		}
		for range low + r.IntN(min(high, low+8)-low+1) {
			drawn(r, re.Sub[0], b)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(picked(r, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('.') // mostly one that was to be quoted
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			drawn(r, sub, b)
		}
	case syntax.OpAlternate:
		drawn(r, re.Sub[r.IntN(len(re.Sub))], b)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		bounds := map[syntax.Op][2]int{syntax.OpStar: {0, 2}, syntax.OpPlus: {1, 4}, syntax.OpQuest: {0, 1},
			syntax.OpRepeat: {re.Min, re.Max}}[re.Op]
		times(bounds[0], bounds[1])
	}
}

// picked is one character of a class: one that can be seen, where there is any.
func picked(r *rand.Rand, ranges []rune) rune {
	var all []rune
	for i := 0; i < len(ranges); i += 2 {
		for c := max(ranges[i], '!'); c <= min(ranges[i+1], '~'); c++ {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return ' '
	}
	return all[r.IntN(len(all))]
}

// TestT9_NoRandomValueIsTakenForAStandIn draws values of every form: what is of a
// form, mixed enough for it, and has its keyword is found. Guesses are left out:
// they look at how a value reads. The forms of a name and of curl's flags have
// tests with values in their places.
func TestT9_NoRandomValueIsTakenForAStandIn(t *testing.T) {
	t.Parallel()
	times := testvolume.Of(10_000, 20)
	for i, f := range forms().forms {
		// of many spaces, between which nobody looks
		if f.grade == Guess || f.kind == "named-credential" || strings.HasPrefix(f.kind, "curl-") {
			continue
		}
		re, err := syntax.Parse(f.re().String(), syntax.Perl)
		require.NoError(t, err)
		t.Run(f.kind, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(13, uint64(i)))
			for range times {
				var b strings.Builder
				drawn(r, re, &b)
				text := b.String()
				at := f.re().FindStringSubmatchIndex(text)
				keyed := slices.ContainsFunc(f.keywords, func(k string) bool {
					return strings.Contains(string(lower(text)), k)
				})
				if at == nil || !keyed {
					continue
				}
				if from, to := secretOf(at, f.group); entropy(text[from:to]) > max(f.entropy, 2) {
					s := newScan(text)
					s.search(f, window{0, len(text)})
					require.NotEmpty(t, s.leaks, "%s: %q", f.kind, text)
				}
			}
		})
	}
}

// passwords are some as people choose them.
func passwords(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/passwords.txt")
	require.NoError(t, err)
	list := strings.Fields(string(text))
	require.GreaterOrEqual(t, len(list), 200)
	return list
}

// places are where a password stands, with its kind there.
func places() map[string]func(string) string {
	return map[string]func(string) string{
		"database": func(p string) string {
			return "postgres" + "://app:" + url.QueryEscape(p) + "@db.internal:5432/app"
		},
		"in a line": func(p string) string {
			return "# ask ada@example.com\nREDIS=redis" + "://:" + url.QueryEscape(p) + "@cache-1 # not localhost"
		},
		"constant": func(p string) string { return `dbPassword = "` + p + `"` },
		"json":     func(p string) string { return `{"password": "` + p + `"}` },
		"curl":     func(p string) string { return "curl -u 'bot:" + p + "' https://git.internal/" },
		"exported": func(p string) string { return "export DB_PASSWORD=" + p },
		"yaml":     func(p string) string { return "  password: " + p + "\n" },
	}
}

func TestT9_PasswordsThatPeopleChooseAreRedacted(t *testing.T) {
	t.Parallel()
	for place, in := range places() {
		for _, p := range passwords(t) {
			if !strings.Contains(p, "$") || !strings.Contains("exported curl yaml", place) { // a shell's variable
				require.NotContains(t, Redact(in(p)), p, place)
			}
		}
	}
}

func TestT9_RandomPasswordsAreRedacted(t *testing.T) {
	t.Parallel()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	alphabets := []string{letters + digits, letters + digits + "-_", letters + digits + "!#$*+=?^&.~",
		strings.ToLower(letters)[:26] + digits, "0123456789abcdef"}
	r := rand.New(rand.NewPCG(13, 19))
	times := testvolume.Of(10_000, 300)
	for place, in := range places() {
		for range times {
			from := alphabets[r.IntN(len(alphabets))]
			value := make([]byte, 12+r.IntN(30))
			for i := range value {
				value[i] = from[r.IntN(len(from))]
			}
			value[r.IntN(len(value))] = byte('0' + r.IntN(10))
			if place == "exported" || place == "yaml" || place == "curl" {
				value = []byte(strings.ReplaceAll(string(value), "$", "8")) // a shell's variable
			}
			require.NotContains(t, Redact(in(string(value))), url.QueryEscape(string(value)), place)
		}
	}
}

func TestStandInsStay(t *testing.T) {
	t.Parallel()
	for _, p := range []string{
		"changeme", "change-me", "CHANGE_ME", "changeme123", "change_this", "your-api-key-here", "YOUR_PASSWORD_HERE",
		"yourpassword", "xxxxxxxx", "XXXXXXXXXXXX",
		"<password>", "<your-token>", "${DB_PASSWORD}", "$DB_PASSWORD", "{{ .Values.password }}", "{env.DB_PASSWORD}",
		"$(cat /run/secret)", "example", "EXAMPLE_TOKEN",
		"placeholder", "password", "secret", "my-secret-token", "mysecretpassword", "dummy-value", "fake_password",
		"test-token", "testpassword", "redacted",
		"********", "........", "insert-key-here", "replace_with_your_token", "put-your-password-here",
		"some-secret-value", "todo", "foobar", "%s",
	} {
		for place, in := range places() {
			if strings.ContainsAny(p, "{<%* ") && !strings.Contains(`constant json`, place) {
				continue // is not a word there
			}
			text := strings.ReplaceAll(in("#"), "#", p)
			if strings.Contains(in("#"), "%23") {
				text = strings.ReplaceAll(in("#"), "%23", p)
			}
			require.Equal(t, text, Redact(text), place)
		}
	}
}
