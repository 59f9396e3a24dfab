package secret_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

const (
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphabet = upper + "abcdefghijklmnopqrstuvwxyz0123456789"
)

// drawn makes characters out of a seed, the same ones each time.
func drawn(seed string, n int, from string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		for _, c := range sha256.Sum256(fmt.Appendf(nil, "%s/%d", seed, i)) {
			b.WriteByte(from[int(c)%len(from)])
		}
	}
	return b.String()[:n]
}

// fake is a made-up credential of an issuer's form. It is put together here, so
// that no file holds anything of that form.
type fake struct {
	kind  string // of the mark that stands for it
	text  string // with what belongs around it
	value string // what must go
}

func fakes(seed string) map[string]fake {
	d := func(suffix string, n int) string { return drawn(seed+suffix, n, alphabet) }
	whole := func(kind, text string) fake { return fake{kind, text, text} }
	password, other, aws := d("", 20), d("", 24), drawn(seed, 40, alphabet+"+/")
	key := d("", 64) + "\n" + d("2", 64)
	return map[string]fake{
		"github_pat":  whole("github-pat", "gh"+"p_"+d("", 36)),
		"github_fine": whole("github-fine-grained-pat", "github"+"_pat_"+d("", 22)+"_"+d("b", 59)),
		"aws_id":      whole("aws-access-token", "AK"+"IA"+drawn(seed, 16, upper+"234567")),
		"aws_secret":  {"aws-secret-key", aws, aws},
		"openai":      whole("openai-api-key", "sk"+"-proj-"+d("", 48)),
		"slack_bot":   whole("slack-legacy-bot-token", "xo"+"xb-"+drawn(seed, 12, "0123456789")+"-"+d("", 24)),
		"google_api":  whole("gcp-api-key", "AI"+"za"+d("", 35)),
		"npm":         whole("npm-access-token", "np"+"m_"+d("", 36)),
		"stripe":      whole("stripe-access-token", "sk"+"_live_"+d("", 24)),
		"atlassian":   whole("atlassian-api-token", "ATA"+"TT3x"+d("", 60)),
		"jwt":         whole("jwt", "ey"+"J"+d("", 30)+".eyJ"+d("p", 40)+"."+d("s", 43)),
		"dburl":       {"url-password", "postgres" + "://app:" + password + "@db.internal:5432/app", password},
		"basic_url":   {"url-password", "https" + "://ci:" + other + "@git.internal/r.git", other},
		"pem":         {"private-key", "-----BEGIN RSA " + "PRIVATE KEY-----\n" + key + "\n-----END RSA " + "PRIVATE KEY-----", key},
	}
}

// kinds are the names of the fakes, in order.
func kinds() []string {
	return []string{"github_pat", "github_fine", "aws_id", "aws_secret", "openai", "slack_bot", "google_api", "npm", "stripe", "atlassian", "jwt", "dburl", "basic_url", "pem"}
}

// placed is the text of a fake in the place that gives it away.
func placed(kind string, f fake) string {
	if kind == "aws_secret" {
		return `aws_secret_access_key = "` + f.text + `"`
	}
	return f.text
}

var marker = regexp.MustCompile(`\{\{(fake|fake_b64):([a-z_]+)\}\}`)

// expand puts fakes where the samples name them, and returns their values.
func expand(text, seed string) (string, []string) {
	var values []string
	text = marker.ReplaceAllStringFunc(text, func(mark string) string {
		m := marker.FindStringSubmatch(mark)
		f := fakes(seed)[m[2]]
		values = append(values, strings.Split(f.value, "\n")...)
		if m[1] == "fake_b64" {
			return base64.StdEncoding.EncodeToString([]byte(f.text))
		}
		return f.text
	})
	return text, values
}
