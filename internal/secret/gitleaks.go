package secret

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// ruleFile is what we read of gitleaks' configuration. Its format:
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

// replacedRules are those that own does better: the keywords of two of them are
// in every second line of code, the third asks for a whole key at once.
func replacedRules() []string { return []string{"jwt", "vault-service-token", "private-key"} }

// looseRules fit a value that is a credential only by what stands around it,
// beside those that the generator of gitleaks' rules makes so.
func looseRules() []string {
	return []string{"curl-auth-header", "curl-auth-user", "jwt-base64", "sourcegraph-access-token", "twilio-api-key",
		"facebook-access-token"}
}

// gitleaks reads the rules of the library. A rule for files of one name is left out: here a text has no name.
func gitleaks() ([]form, error) {
	var file ruleFile
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		return nil, fmt.Errorf("reading gitleaks' rules: %w", err)
	}
	general := allowances([]allowlist{file.Allowlist})
	var out []form
	for _, r := range file.Rules {
		if r.Path != "" || r.Regex == "" || len(r.Keywords) == 0 || slices.Contains(replacedRules(), r.ID) {
			continue
		}
		f := form{
			kind: r.ID, grade: gradeOf(r.ID, r.Regex), keywords: r.Keywords, re: lazy(r.Regex), group: r.SecretGroup,
			entropy: r.Entropy, allow: slices.Concat(general, allowances(r.Allowlists)), readable: placeholder,
		}
		switch {
		case f.kind == "curl-auth-user": // its allowances pass what only begins as a stand-in
			f.allow, f.readable = general, pair
		case f.grade == Named:
			f.re = lazy(strings.ReplaceAll(r.Regex, leading, ""))
		case f.grade == Guess: // its allowances look for words anywhere in it
			f.allow, f.needs, f.readable = general, digitInValue, func(m match) bool {
				return placeholder(m) || name(m)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// leading is what the generator puts in front of a keyword. It changes what is
// matched, but not whether, and takes most of the time.
const leading = `[\w.-]{0,50}?`

func gradeOf(id, expr string) Grade {
	switch {
	case strings.HasPrefix(id, "generic"):
		return Guess
	case strings.Contains(expr, leading) || slices.Contains(looseRules(), id):
		return Named
	}
	return Issued
}

// allowances leaves out what speaks of paths and commits: those are never the reason here.
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

// anchored mends the one expression of the library whose alternatives lack the
// anchors that they were to have: it would pass any value with "false" in it.
func anchored(expr string) string {
	return strings.Replace(expr, `^true|false|null$`, `^(?:true|false|null)$`, 1)
}
