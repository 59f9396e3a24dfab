package llmtest

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Alphabet is what most credentials are made of.
const Alphabet = upper + "abcdefghijklmnopqrstuvwxyz0123456789"

// Fake is a made-up credential of an issuer's form. It is put together at run
// time, so that no file holds anything of that form.
type Fake struct {
	Kind  string // of the mark that stands for it once it was redacted
	Text  string // with what belongs around it
	Value string // what must go
}

// Drawn makes n characters out of a seed, the same ones each time.
func Drawn(seed string, n int, from string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		for _, c := range sha256.Sum256(fmt.Appendf(nil, "%s/%d", seed, i)) {
			b.WriteByte(from[int(c)%len(from)])
		}
	}
	return b.String()[:n]
}

// Fakes are a credential of every kind, by the names of FakeKinds. Those of one
// seed are always the same.
func Fakes(seed string) map[string]Fake {
	d := func(suffix string, n int) string { return Drawn(seed+suffix, n, Alphabet) }
	whole := func(kind, text string) Fake { return Fake{kind, text, text} }
	password, other, aws := d("", 20), d("", 24), Drawn(seed, 40, Alphabet+"+/")
	key := d("", 64) + "\n" + d("2", 64)
	return map[string]Fake{
		"github_pat":  whole("github-pat", "gh"+"p_"+d("", 36)),
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

// FakeKinds are the names of the fakes, in order.
func FakeKinds() []string {
	return []string{"github_pat", "github_fine", "aws_id", "aws_secret", "openai", "slack_bot", "google_api", "npm",
		"stripe", "atlassian", "jwt", "dburl", "basic_url", "pem"}
}
