package secret

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The beginnings of issuers' tokens by kind, of those that gitleaks' rules lack or find in fewer places and lengths.
// What follows is drawn in issued from letters and digits, in issuedForURLs also from hyphens and underscores, and in
// issuedInBase64 from base64, sometimes percent-encoded.
const (
	issued = `
buildkite-token bkua_ bkpat_
cerebras-api-key csk-
circleci-token CCIPAT_ CCIPRJ_
cloudflare-token cfk_ cfut_ cfat_ cfast_
docker-token SWMTKN-1-
doppler-token dp.st. dp.ct. dp.sa. dp.scim. dp.audit.
github-token ghp_ gho_ ghu_ ghs_ ghr_
groq-api-key gsk_
huggingface-access-token hf_ api_org_
linear-token lin_oauth_
neon-api-key napi_
netlify-token nfp_
new-relic-user-key NRAK-
npm-access-token npm_
pinecone-api-key pcsk_
posthog-api-key phx_
render-api-key rnd_
replicate-api-token r8_
resend-api-key re_
stripe-access-token sk_live_ rk_live_ sk_org_live_
supabase-key sbp_
tailscale-key tskey-
tavily-api-key tvly-
vercel-token vca_ vci_ vck_ vcp_ vcr_
wandb-api-key wandb_v1_
xai-api-key xai-
api-token apify_api_ CCDB1_ ddp_ jina_ mlsn. pdl_live_apikey_ polar_oat_ polar_pat_ pylf_v1_`
	issuedForURLs = `
anthropic-api-key sk-ant-
contentful-token CFPAT-
docker-token dckr_pat_ dckr_oat_
elastic-cloud-api-key essu_
figma-token figd_
gcp-api-key AIza
gitlab-token glpat- gldt- glrt- glrtr- glptt- glcbt- glsoat- glft- glagent- glwt-
google-oauth-token ya29. GOCSPX- 1//0
langfuse-secret-key sk-lf-
langsmith-api-key lsv2_pt_ lsv2_sk_
mongodb-atlas-secret mdb_sa_sk_
nvidia-api-key nvapi-
openai-api-key sk-proj- sk-svcacct- sk-admin- sk-None-
openrouter-api-key sk-or-v1-
slack-token xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp-
together-api-key tgp_v1_
api-token tfp_`
	issuedInBase64 = `
atlassian-api-token ATATT3 ATCTT3 ATSTT3 ATBB
aws-bedrock-api-key ABSKQmVkcm9ja0FQSUtleS bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t
aws-session-token IQoJb3JpZ2luX2Vj
slack-token xoxd-
webhook-secret whsec_`
)

// ownForms returns forms that gitleaks' rules lack or restrict too much, and values recognizable only by their context.
func ownForms() []form {
	of := func(kind, expr string, keywords ...string) form {
		return form{kind: kind, grade: Issued, keywords: keywords, re: lazy(expr), entropy: 3,
			falsePositive: isPlaceholder, mirrored: true, longest: maxBackward}
	}
	var out []form
	list := func(rows, body string) {
		for row := range strings.Lines(strings.TrimSpace(rows)) {
			words := strings.Fields(row)
			beginnings := strings.ReplaceAll(regexp.QuoteMeta(strings.Join(words[1:], " ")), " ", "|")
			out = append(out, of(words[0], `\b(?:`+beginnings+`)`+body, strings.Fields(strings.ToLower(row))[1:]...))
		}
	}
	list(issued, `(?:[A-Za-z0-9]+[._-])*[A-Za-z0-9]{24,}(?:[\w.-]*\w)?`)
	list(issuedForURLs, `[\w-]{20,}(?:[\w.-]*\w)?`)
	list(issuedInBase64, `[\w+/%=-]{28,}`)
	jwt := of("jwt", `\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}`, "eyj")
	jwt.grade = Named
	return slices.Concat(out, []form{
		of("aws-access-token", `\b(?:AKIA|ASIA)[A-Z2-7]{16}\b`, "akia", "asia"),
		of("openai-api-key", `\bsk-[A-Za-z0-9]{32,}`, "sk-"), // and of others who took over its form
		of("gcp-api-key", `\bAQ\.Ab[\w-]{40,}`, "aq.ab"),
		of("github-fine-grained-pat", `\bgithub_pat_\w{50,}`, "github_pat_"),
		of("nuget-api-key", `\boy2(?:[a-z0-9]{27,}|[A-Za-z0-9]{43}\b)`, "oy2"), // longer in base64
		of("sendgrid-api-token", `\bSG\.[\w-]{16,}\.[\w-]{30,}`, "sg."),
		of("supabase-key", `\bsb_secret_[\w-]{31,}`, "sb_secret_"),
		of("vault-service-token", `\bhvs\.[\w-]{60,}`, "hvs."),
		of("slack-webhook-url", `hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}`,
			"hooks.slack.com"),
		of("telegram-bot-api-token", `\b\d{8,10}:AA[\w-]{33}\b`, ":aa"),
		of("azure-storage-key", `\bAccountKey=([A-Za-z0-9+/]{86}==)`, "accountkey="),
		of("azure-key", `\b(?:[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{20,}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}`+
			`|[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]==|[\w-]{44}AzFu[\w-]{5}[AQgw]==`+
			`|[A-Za-z0-9+/]{33}(?:AIoT|AzCa|\+(?:ASb|AEh|ARm))[A-P][A-Za-z0-9+/]{5}=`+
			`|[A-Za-z0-9+/]{42}(?:AzSe|\+ACR)[A-D][A-Za-z0-9+/]{5})`,
			"jqqj9", "azdo", "apim", "acdb", "+aba", "+amc", "+ast", "azfu", "aiot", "azca", "+asb", "+aeh", "+arm",
			"azse", "+acr"),
		of("elevenlabs-api-key", `\bsk_[0-9a-f]{48}`, "sk_"),
		jwt,
	}, namedForms())
}

const (
	nameOfSecret = `((?:[\w.-]{0,60})(password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key))`
	assigned     = `["']?(?:\s*:\s*(?:string|str))?\s*(?::=|=>|=|:)\s*`
)

// namedForms returns the forms whose value is recognized by a name or place.
func namedForms() []form {
	words := []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "accesskey",
		"access_key", "privatekey", "private_key"}
	return []form{
		{
			kind: "aws-secret-key", grade: Issued, keywords: []string{"aws", "secret"}, group: 1, entropy: 3.5,
			falsePositive: hasOneCase,
			re: lazy(`(?i)(?:aws|secret)[\w. -]{0,30}["']?(?:\s*(?::=|=>|=|:|,)\s*|[ \t]+)["'` + "`" +
				`]?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`),
		},
		{
			kind: urlPassword, grade: Named, keywords: []string{"://"}, group: 2, falsePositive: isHarmlessURL,
			mirrored: true,
			re:       lazy(`://([\w.%+-]*):((?:[^\s:@/"'%{}<>` + "`" + `\\]|%[0-9A-Fa-f]{2}){6,})@[\w.\[-]`),
		},
		{
			kind: "named-credential", grade: Named, keywords: words, group: 3, name: 1, mayMatch: quotedValue,
			falsePositive: isChosen,
			re:            lazy(`(?i)(?:^|[^\w])` + nameOfSecret + assigned + "[\"'`]([^\"'`\\s]{8,})[\"'`]"),
		},
		{
			kind: "named-value", grade: Guess, keywords: words, group: 3, name: 1, mayMatch: digitInValue,
			falsePositive: func(m match) bool {
				return isChosen(m) || isName(m) && !isPassword(m)
			},
			re: lazy(`(?im)^\s*(?:[-+#*]\s+)?["']?` + nameOfSecret + `["']?\s*[:=]\s*([^\s"'` + "`" +
				`,;(){}\[\]<>$]{8,})\s*$`),
		},
		{
			kind: "named-credential", grade: Named, keywords: words, group: 3, name: 1, falsePositive: isChosen,
			re: lazy(`(?m)^\s*(?:export\s+|ENV\s+)?(\w*(PASSWORD|SECRET|TOKEN|API_KEY|ACCESS_KEY))=([^\s"'$` + "`" +
				`]{8,})`),
		},
	}
}

// standIns matches placeholders for a value, and words around them.
const standIns = `\$\{[^{}]*\}|\{[A-Za-z_.]+\}|\{\{[^{}]*\}\}|\$\([^()]*\)|<[^<>]*>` +
	`|\$[A-Z_]+[A-Z0-9_]*|\$[a-z_]+|%[sdvq]` +
	`|(?i:(?:change[_-]?(?:me|it|this)|placeholder|example|sample|dummy)\d{0,3}|x{3,}|0{6,}|\*{3,}|\.{3}` +
	`|1234567890?|abcdefghijklmnopqrstuvwxyz|abcdefgh|redacted|replace|insert|removed|hidden|masked|fake|mock` +
	`|test(?:ing)?|todo` +
	`|your|with|some|here|goes|this|that|credentials?|passphrase|password|passwd|pass|pwd|secret|token|value|string` +
	`|client|access|private` +
	`|username|user|admin|auth|foobar|foo|bar|baz|key|api|the|put|set|enter|my|own)`

var (
	standIn    = lazy(standIns)
	trimmings  = lazy(`%[0-9A-F]{2}|\d{1,3}$`)
	variable   = lazy(`\$\{[A-Za-z_][^{}]*\}|\{\{[^{}]*\}\}|\$\([A-Za-z][^()]*\)`)
	marked     = lazy(`^[\x21-\x7e]*[A-Za-z][!#$%^&*+=?~]+[A-Za-z][\x21-\x7e]*$`)
	documented = lazy(`(?i)EXAMPLE(?:KEY)?$|^Eby8vdM02xNOcq|^sb_secret_N7UND0U`) // of Azure's emulator, and Supabase's
	sequence   = lazy(`^(?:0?123456789?0?|0?12345\d{0,3}|abc(?:def)?123(?:456)?)$`)
	localURL   = lazy(`://(?:localhost|127\.0\.0\.1)\b`)
	localHost  = lazy(`(?i)^@(?:[\w.-]*localhost|127\.0\.0\.1|\[::1\]|[\w.-]*\.local\b|[\w.-]*example)`)
	word       = lazy(`[A-Z]?[a-z]{2,}`)
	longWord   = lazy(`[A-Z]?[a-z]{3,}`)
	number     = lazy(`\d+`)
	constant   = lazy(`^(?:\w+\.)*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$`)
	call       = lazy(`^[A-Za-z_][\w.]*\(.*\)[,;]?$`)
	identifier = lazy(`^[A-Za-z]+(?:[_.:/\-][A-Za-z]+)*[_.\-]?\d{0,2}$|^[A-Z0-9_]+$`)
)

// wordShare is the least part of words in a name in code.
const wordShare = 0.55

// matchedShare returns the fraction of a value's letters and digits that an expression matches.
func matchedShare(v string, re func() *regexp.Regexp) float64 {
	ink := func(s string) (n int) {
		for i := range len(s) {
			if isWord(s[i]) && s[i] != '_' || s[i] >= 0x80 {
				n++
			}
		}
		return n
	}
	all, taken := ink(v), 0
	if all == 0 {
		return 1
	}
	for _, part := range re().FindAllString(v, -1) {
		taken += ink(part)
	}
	return float64(taken) / float64(all)
}

// isAllPlaceholders reports whether a value consists of placeholders. A value that only contains
// such a word is a password that a person chose.
func isAllPlaceholders(v string) bool { return matchedShare(v, standIn) == 1 }

// isPlaceholder reports whether a match only shows a credential's format: its issuer's
// prefix, followed by a placeholder.
func isPlaceholder(m match) bool {
	v := m.secret()
	return matchedShare(v, standIn) >= 0.5 || documented().MatchString(v)
}

// isPlaceholderPair reports whether a user has no password, or a placeholder for one.
func isPlaceholderPair(m match) bool {
	_, password, _ := strings.Cut(m.secret(), ":")
	return isAllPlaceholders(trimmings().ReplaceAllString(password, "")) || localURL().MatchString(m.line())
}

// hasOneCase reports whether a value has one case, like a hash, while an AWS key mixes both cases and digits.
func hasOneCase(m match) bool {
	v := m.secret()
	return v == strings.ToLower(v) || v == strings.ToUpper(v) ||
		!strings.ContainsAny(v, digits) && !isRandomLetters(v) || isPlaceholder(m)
}

const digits = "0123456789"

// isHarmlessURL reports whether a password in a URL protects nothing.
func isHarmlessURL(m match) bool {
	v := m.secret()
	user, _, _ := strings.Cut(strings.TrimPrefix(m.whole, "://"), ":")
	return isAllPlaceholders(v) || user == v || localHost().MatchString(m.text[m.end:])
}

const urlPassword = "url-password"

var plainWord = lazy(`^[A-Za-z]+(?:[_.-][A-Za-z]+)*\d{0,2}$`)

// isPlainPassword reports whether a password in a URL is short or a word, which ordinary text contains by chance.
func isPlainPassword(m match) bool {
	v := m.secret()
	return len(v) < minKnown || plainWord().MatchString(v) && !isRandomLetters(v)
}

// isNameInURL reports whether a URL's password is also a name in it, as of a container on one's own machine.
func isNameInURL(m match) bool {
	rest, _, _ := strings.Cut(m.text[m.end:], "\n")
	names := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("@:/?&=\"'` ", r) })
	return slices.Contains(names, m.secret())
}

// isName reports whether a value consists of words and at most two numbers, like names in
// code, or is the name of a constant. Random values are broken up by digits.
func isName(m match) bool {
	letters, v := 0, m.secret()
	for _, word := range word().FindAllString(v, -1) {
		letters += len(word)
	}
	return len(number().FindAllString(v, 3)) <= 2 && float64(letters) >= wordShare*float64(len(v)) ||
		constant().MatchString(v)
}

// isChosen reports whether a named value was written by a person for reading: it has words,
// or too little variety. Keys are random; passwords are chosen by people.
func isChosen(m match) bool {
	v := decodeLetters(m.secret())
	if isAllPlaceholders(trimmings().ReplaceAllString(v, "")) || sequence().MatchString(v) ||
		documented().MatchString(v) ||
		call().MatchString(v) || isNamedPublic(m) {
		return true
	}
	if v = variable().ReplaceAllString(v, ""); len(v) < minKnown {
		return true
	}
	digit := strings.ContainsAny(v, digits)
	if isPassword(m) {
		return !digit && !marked().MatchString(v) && !isRandomLetters(v) || entropy(v) <= 1.5
	}
	if len(v) < 16 || entropy(v) <= 3.3 || strings.ContainsAny(v, " (") || identifier().MatchString(v) &&
		!isRandomLetters(v) {
		return true
	}
	return !digit && !isRandomLetters(v) || strings.Contains(v, "/") && matchedShare(v, word) >= wordShare ||
		strings.Contains(v, "-") && matchedShare(v, longWord) >= 0.7 || strings.Contains(v, "...")
}

// isNamedPublic reports whether a value's name says that everybody may read it, as that of an assembly's public key
// does.
func isNamedPublic(m match) bool {
	name, _, _ := strings.Cut(m.whole, m.secret())
	return strings.Contains(strings.ToLower(name), "public")
}

var letterCode = lazy(`\\u[0-9a-fA-F]{4}`)

// decodeLetters decodes the letters that JSON escapes in a value: the digits of an escape are not variety.
func decodeLetters(v string) string {
	return letterCode().ReplaceAllStringFunc(v, func(code string) string {
		n, _ := strconv.ParseUint(code[2:], 16, 16) // the pattern has checked it
		if !unicode.IsLetter(rune(n)) {
			return code
		}
		return string(rune(n))
	})
}

// isPassword reports whether a value is assigned to the name of a password.
func isPassword(m match) bool {
	name := strings.ToLower(m.name)
	return strings.HasSuffix(name, "password") || strings.HasSuffix(name, "passwd") ||
		strings.HasSuffix(name, "passphrase")
}

// isRandomLetters reports whether a value has random ASCII letters: both cases, and few words.
func isRandomLetters(v string) bool {
	return isASCII(v) && v != strings.ToLower(v) && v != strings.ToUpper(v) && matchedShare(v, longWord) < 0.7
}
