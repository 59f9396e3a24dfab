package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/secret"
)

const configured = "<redacted configured-credential>"

func TestT9_AKnownValueGoesInEverySpelling(t *testing.T) {
	t.Parallel()
	value := "plain/val" + `ue "with" <all> & sundry`
	r := secret.New(value)
	for name, text := range map[string]string{
		"raw": value, "hex": hex.EncodeToString([]byte(value)),
		"HEX":   strings.ToUpper(hex.EncodeToString([]byte(value))),
		"query": url.QueryEscape(value), "path": url.PathEscape(value), "backwards": backward(value),
		"percent":      "%" + strings.ReplaceAll(fmt.Sprintf("% x", value), " ", "%"),
		"json":         strings.ReplaceAll(value, `"`, `\"`),
		"slashed":      strings.NewReplacer(`"`, `\"`, "/", `\/`).Replace(value),
		"html in json": strings.NewReplacer(`"`, `\"`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(value),
	} {
		require.Equal(t, "a "+configured+" b", r.Redact("a "+text+" b"), name)
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
		base64.RawURLEncoding} {
		for shift := range 4 {
			for tail := range 4 {
				text := encoding.EncodeToString([]byte(strings.Repeat("x", shift) + value + strings.Repeat("y", tail)))
				require.Equal(t, "a "+configured+" b", r.Redact("a "+text+" b"))
			}
		}
	}
}

func TestAKnownKeyOfSeveralLinesGoesLineByLine(t *testing.T) {
	t.Parallel()
	r := secret.New("first line\nsecond line\n")
	require.Equal(t, "x "+configured+"\n "+configured, r.Redact("x second line\n first line"))
}

func TestShortValuesAndNilRedactors(t *testing.T) {
	t.Parallel()
	pat := llmtest.Fakes("n")["github_pat"].Text
	var none *secret.Redactor
	for _, r := range []*secret.Redactor{none, {}, secret.New(), secret.New("", "seven77")} {
		require.Equal(t, "seven77 <redacted github-pat>", r.Redact("seven77 "+pat))
	}
	require.Equal(t, configured, secret.New(pat).Redact(pat), "what we know goes before what we guess")
}

func TestMarksAreNotRedactedAgain(t *testing.T) {
	t.Parallel()
	r := secret.New("redacted", "jwt> and more")
	require.Equal(t, "<redacted jwt>"+configured+" "+configured, r.Redact("<redacted jwt> and more redacted"))
}
