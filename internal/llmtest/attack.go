package llmtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Attack is a known attack: a text, the channel by which it reaches a review, and what must still hold.
type Attack struct {
	ID       string `json:"id"`
	Channel  string `json:"channel"`
	Payload  string `json:"payload"`  // expanded
	Must     string `json:"must"`     // finding-not-suppressed, no-tool-call, redacted, …
	Encoding string `json:"encoding"` // plain, bidi, unicode-tags, nested-fence, …
	Threat   string `json:"threat"`   // its number, such as T7; empty for a benign row
	Benign   bool   `json:"benign"`

	Values []string `json:"-"` // of the made-up credentials in it, line by line
}

// Attacks reads the threat model's file of attacks, from the folder of any package, and expands their marks.
func Attacks(t testing.TB) (all []Attack) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/attacks.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile("../../../testdata/attacks.jsonl")
	}
	for line := range bytes.Lines(text) {
		var a Attack
		err = errors.Join(err, json.Unmarshal(line, &a))
		a.Payload, a.Values = Expand(a.Payload, a.ID)
		all = append(all, a)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("attacks.jsonl, %d lines: %v", len(all), err)
	}
	return all
}

var attackMark = regexp.MustCompile(`\{\{(fake|fake_b64|repeat|fence):([^{}]*)\}\}`)

// WrongClose is the mark that ends a prompt's block, with a boundary that was never drawn.
const WrongClose = "<<<end 0123456789abcdef0123456789abcdef>>>"

// Expand replaces the marks of an attack's text: {{fake:KIND}} and {{fake_b64:KIND}} by made-up credentials of
// the seed, {{repeat:TEXT:N}}, {{fence:open}} and {{fence:close}}. It returns the credentials' values, line by line.
func Expand(text, seed string) (expanded string, values []string) {
	expanded = attackMark.ReplaceAllStringFunc(text, func(found string) string {
		m := attackMark.FindStringSubmatch(found)
		switch m[1] {
		case "repeat":
			return repeated(m[2])
		case "fence":
			return map[string]string{"open": "<<<data 0123456789abcdef0123456789abcdef diff>>>",
				"close": WrongClose}[m[2]]
		}
		f := Fakes(seed)[m[2]]
		values = append(values, strings.Split(f.Value, "\n")...)
		if m[1] == "fake_b64" {
			return base64.StdEncoding.EncodeToString([]byte(f.Text))
		}
		return f.Text
	})
	return expanded, values
}

func repeated(mark string) string {
	at := strings.LastIndexByte(mark, ':')
	n, _ := strconv.Atoi(mark[at+1:]) // 0 if it is not a number: then the text is gone
	return strings.Repeat(mark[:max(at, 0)], min(max(n, 0), 1e6))
}

const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Alphabet holds the characters of most credentials.
const Alphabet = upper + "abcdefghijklmnopqrstuvwxyz0123456789"

// Fake is a made-up credential in an issuer's format, put together at run time: no file contains one.
type Fake struct {
	Kind  string // of the mark that replaces it after redaction
	Text  string // with its surroundings
	Value string // what must be removed
}

// Drawn derives n characters from a seed, always the same ones.
func Drawn(seed string, n int, from string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		for _, c := range sha256.Sum256(fmt.Appendf(nil, "%s/%d", seed, i)) {
			b.WriteByte(from[int(c)%len(from)])
		}
	}
	return b.String()[:n]
}

// Fakes returns a credential of every kind, by the names of FakeKinds. A seed always gives the same ones.
func Fakes(seed string) map[string]Fake {
	d := func(suffix string, n int) string { return Drawn(seed+suffix, n, Alphabet) }
	whole := func(kind, text string) Fake { return Fake{kind, text, text} }
	password, other, aws := d("", 20), d("", 24), Drawn(seed, 40, Alphabet+"+/")
	key := d("", 64) + "\n" + d("2", 64)
	return map[string]Fake{
		"github_pat":  whole("github-pat", "gh"+"p_"+d("", 36)),
		"github_app":  whole("github-token", "gh"+"s_1234567_eyJ"+d("h", 48)+".eyJ"+d("c", 180)+"."+d("s", 280)),
		"github_fine": whole("github-fine-grained-pat", "github"+"_pat_"+d("", 22)+"_"+d("b", 59)),
		"aws_id":      whole("aws-access-token", "AK"+"IA"+Drawn(seed, 16, upper+"234567")),
		"aws_secret":  {"aws-secret-key", aws, aws},
		"openai":      whole("openai-api-key", "sk"+"-proj-"+d("", 48)),
		"slack_bot":   whole("slack-legacy-bot-token", "xo"+"xb-"+Drawn(seed, 12, "0123456789")+"-"+d("", 24)),
		"google_api":  whole("gcp-api-key", "AI"+"za"+d("", 35)),
		"npm":         whole("npm-access-token", "np"+"m_"+d("", 36)),
		"stripe":      whole("stripe-access-token", "sk"+"_live_"+d("", 24)),
		"atlassian":   whole("atlassian-api-token", "ATA"+"TT3x"+d("", 60)),
		"jwt":         whole("jwt", "ey"+"J"+d("", 30)+".eyJ"+d("p", 40)+"."+d("s", 43)),
		"dburl":       {"url-password", "postgres" + "://app:" + password + "@db.internal:5432/app", password},
		"basic_url":   {"url-password", "https" + "://ci:" + other + "@git.internal/r.git", other},
		"pem": {"private-key", "-----BEGIN RSA " + "PRIVATE KEY-----\n" + key + "\n-----END RSA " +
			"PRIVATE KEY-----", key},
	}
}

// FakeKinds returns the names of the fakes, sorted.
func FakeKinds() []string { return slices.Sorted(maps.Keys(Fakes(""))) }
