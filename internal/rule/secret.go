package rule

import (
	"math"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// credential finds the formats of well-known issuers, and other credentials by their
// name and by how random they are.
var credential = rule{
	name: "credential", category: "secret", severity: finding.Major,
	title:   "{} stands in the code",
	body:    "Everybody who can read the repository can use it, and its history keeps it. Revoke it, and read the new one from the environment or a secret store.",
	inTests: unchanged,
	find: in{anyLanguage: each(func(h *hunk, i int) (hit, bool) {
		if issued(h.lines[i].text) || !h.test && h.holdsKey(i) {
			return hit{subject: "A live credential", severity: finding.Blocker}, true
		}
		if h.test || h.language == "" {
			return hit{}, false
		}
		return assigned(h.lines[i])
	})},
}

// The forms of a credential; the last group is what must stay secret.
var (
	issuedForm = lazy(`\b((?:AKIA|ASIA)[A-Z2-7]{16}\b|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{60,}|glpat-[\w-]{20,}|xox[abprs]-[\w-]{20,}` +
		`|[sr]k_live_[A-Za-z0-9]{20,}|sk-(?:proj|ant)-[\w-]{20,}|AIza[\w-]{35}|npm_[A-Za-z0-9]{36}|SG\.[\w-]{20,}\.[\w-]{40,}|hooks\.slack\.com/services/T\w+/B\w+/\w{20,})`)
	namedForm = lazy(`(?i)(?:^|[^\w])([\w.-]*(password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key))["']?(?:\s*:\s*(?:string|str))?\s*(?::=|=>|=|:)\s*` +
		"[\"'`]([^\"'`\\s]{8,})[\"'`]")
	exportedForm = lazy(`^\s*(?:export\s+|ENV\s+)?(\w*(PASSWORD|SECRET|TOKEN|API_KEY|ACCESS_KEY))=([^\s"'$` + "`" + `]{8,})`)
	urlForm      = lazy(`://([\w.-]+):([^\s:@/"'$%{}<]{6,})@`)
	keyForm      = lazy(`-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:\\n|\s)*([A-Za-z0-9+/=\\]{40,})`)
)

var (
	placeholder = lazy(`(?i)example|sample|change_?me|change-me|replace|your|placeholder|dummy|fake|mock|test|todo|xxx|\.\.\.|<|>|\{\{|\$\{|\$\(|%s|%v|redact|insert|12345|abcdef|qwerty|password|secret|foobar`)
	local       = lazy(`(?i)@(?:[\w.-]*localhost|127\.0\.0\.1|[\w.-]*\.local\b|[\w.-]*example)`)
	words       = lazy(`^[A-Za-z]+(?:[_.:/\-][A-Za-z]+)*[_.\-]?\d{0,2}$|^[A-Z0-9_]+$`)
)

// issued reports a credential in a well-known issuer's format.
func issued(text string) bool {
	value := issuedForm().FindString(text)
	return value != "" && !placeholder().MatchString(value) && entropy(value) > 3
}

// holdsKey reports the first line of a private key with its material behind it.
func (h *hunk) holdsKey(i int) bool {
	if !strings.Contains(h.lines[i].text, "PRIVATE KEY-----") {
		return false
	}
	behind := h.text[h.lines[i].start:]
	return keyForm().MatchString(behind[:min(len(behind), maxLine)])
}

// assigned reports a secret by the name it is given to, or in a URL.
func assigned(l line) (hit, bool) {
	if m := urlForm().FindStringSubmatch(l.text); m != nil && !placeholder().MatchString(m[2]) && !local().MatchString(l.text) && m[1] != m[2] {
		return hit{subject: "A password in a URL"}, true
	}
	for _, form := range []*regexp.Regexp{namedForm(), exportedForm()} {
		if m := live(form, l); m != nil {
			readable := placeholder().MatchString(m[3]) || words().MatchString(m[3])
			return hit{subject: "The value of `" + m[1] + "`"}, !readable && random(strings.ToLower(m[2]), m[3])
		}
	}
	return hit{}, false
}

// random reports whether a value looks drawn or chosen rather than written to
// be read: long and varied for keys, mixed for passwords, which people choose.
func random(kind, value string) bool {
	if !strings.ContainsAny(value, "0123456789") {
		return false
	}
	if strings.HasPrefix(kind, "pass") {
		return entropy(value) > 2.5
	}
	return len(value) >= 16 && entropy(value) > 3.3 && !strings.ContainsAny(value, " /(")
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	counts, sum := map[byte]float64{}, 0.0
	for i := range len(s) {
		counts[s[i]]++
	}
	for _, n := range counts {
		p := n / float64(len(s))
		sum -= p * math.Log2(p)
	}
	return sum
}

// redacted leaves only the first four characters of everything in a line that
// has the form of a credential: what quotes it goes further than the code.
func redacted(text string) string {
	for _, form := range []pattern{issuedForm, namedForm, exportedForm, urlForm, keyForm} {
		for _, m := range form().FindAllStringSubmatch(text, -1) {
			secret := m[len(m)-1]
			text = strings.ReplaceAll(text, secret, string([]rune(secret)[:4])+"…")
		}
	}
	return text
}
