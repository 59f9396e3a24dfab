package secret

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// ruleFile is the part that we read of gitleaks' configuration. Its format:
// https://github.com/gitleaks/gitleaks#configuration
type ruleFile struct {
	Allowlist allowlist
	Rules     []struct {
		ID          string
		Regex       string
		Path        string
		Entropy     float64
		SecretGroup int `toml:"secretGroup"`
		Keywords    []string
		Allowlists  []allowlist
	}
}

type allowlist struct {
	Condition   string
	RegexTarget string `toml:"regexTarget"`
	Paths       []string
	Regexes     []string
	Stopwords   []string
}

// replacedRules returns the rules that own improves on: the keywords of two of them are in
// every second line of code, and the third requires a whole key.
func replacedRules() []string { return []string{"jwt", "vault-service-token", "private-key"} }

// looseRules returns rules whose matches are credentials only by their context, in addition
// to those that gitleaks' rule generator makes so.
func looseRules() []string {
	return []string{"curl-auth-header", "curl-auth-user", "jwt-base64", "sourcegraph-access-token", "twilio-api-key",
		"facebook-access-token"}
}

// gitleaksForms returns the library's rules as forms, except those for certain file names: here a text has no name.
func gitleaksForms() (out []form) {
	var file ruleFile
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		panic(fmt.Sprintf("gitleaks' rules: %v", err)) // a broken build
	}
	general := allowances([]allowlist{file.Allowlist})
	for _, r := range file.Rules {
		if r.Path != "" || r.Regex == "" || len(r.Keywords) == 0 || slices.Contains(replacedRules(), r.ID) {
			continue
		}
		f := form{
			kind: r.ID, grade: gradeOf(r.ID, r.Regex), keywords: r.Keywords, re: lazy(r.Regex), group: r.SecretGroup,
			entropy: r.Entropy, allow: slices.Concat(general, allowances(r.Allowlists)), falsePositive: isPlaceholder,
		}
		switch {
		case f.kind == "curl-auth-user": // its allowances pass values that only begin like a placeholder
			f.allow, f.falsePositive = general, isPlaceholderPair
		case f.grade == Named:
			f.re = lazy(strings.ReplaceAll(r.Regex, leading, ""))
		case f.grade == Issued:
			f.longest = maxBackward
			f.re = lazy(strings.ReplaceAll(r.Regex, trailing, `\.?(?:[^\w+/=.(-]|$)`))
		case f.grade == Guess: // its allowances search for words anywhere in it
			f.allow, f.mayMatch, f.falsePositive = general, digitInValue, func(m match) bool {
				return isPlaceholder(m) || isName(m) || isNamedPublic(m)
			}
		}
		out = append(out, f)
	}
	return out
}

// leading is what the generator puts before a keyword. It changes what is matched, but not
// whether there is a match, and takes most of the time.
const leading = `[\w.-]{0,50}?`

// trailing is what the generator expects after a value. An issuer's token may also end before a comma, a bracket or a
// sentence's end.
const trailing = `(?:[\x60'"\s;]|\\[nr]|$)`

func gradeOf(id, expr string) Grade {
	switch {
	case strings.HasPrefix(id, "generic"):
		return Guess
	case strings.Contains(expr, leading) || slices.Contains(looseRules(), id):
		return Named
	}
	return Issued
}

// allowances converts allowlists, without conditions on paths and commits: they never apply here.
func allowances(lists []allowlist) []allowance {
	var out []allowance
	for _, l := range lists {
		both := l.Condition == "AND"
		if both && len(l.Paths) > 0 || len(l.Regexes)+len(l.Stopwords) == 0 {
			continue
		}
		a := allowance{target: l.RegexTarget, both: both && len(l.Regexes) > 0 && len(l.Stopwords) > 0}
		for _, expr := range l.Regexes {
			a.regexes = append(a.regexes, lazy(anchored(expr)))
		}
		for _, word := range l.Stopwords {
			a.stopwords = append(a.stopwords, strings.ToLower(word))
		}
		out = append(out, a)
	}
	return out
}

// anchored fixes the one expression of the library whose alternatives lack the intended
// anchors: it would allow any value that contains "false".
func anchored(expr string) string {
	return strings.Replace(expr, `^true|false|null$`, `^(?:true|false|null)$`, 1)
}
