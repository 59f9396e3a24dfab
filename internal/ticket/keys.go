package ticket

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LabelForms are the default forms of labels that may hold a key. The star stands
// for the key; all else stands as it is, in any case.
func LabelForms() []string { return []string{"jira:*", "*"} }

// denied are prefixes that name something else than a project where no projects
// are configured: standards, ciphers, versions, dates, tools, words of GitHub.
var denied = strings.Fields(`
	UTF UCS CP WIN LATIN BASE ASCII ISO IEC IEEE ANSI DIN EN ECMA RFC PEP JEP JSR BIP EIP ERC KIP SEP ADR FIPS NIST
	PCI SOC OWASP WCAG GDPR HIPAA
	SHA MD AES DES RSA ECDSA HMAC PKCS TLS SSL HS RS ES PS CVE CWE GHSA CVSS COVID SARS GPT LLAMA GEMINI CLAUDE
	X86 ARM RISC CUDA RTX GTX USB HTTP HTTPS IPV OAUTH
	UTC GMT EST PST CET GH PR MR ISSUE ISSUES BUG FIX HOTFIX FEATURE FEAT STEP PHASE PART SPRINT TOP RC ALPHA BETA
	VERSION VER RELEASE V
	Q1 Q2 Q3 Q4 H1 H2 JAN FEB MAR APR MAY JUN JUL AUG SEP SEPT OCT NOV DEC
	NODE PYTHON JAVA JDK GO REACT VUE ANGULAR RUBY PHP RUST SPRING DJANGO RAILS UBUNTU DEBIAN ALPINE POSTGRES MYSQL
	REDIS WEBPACK`)

var (
	candidate  = regexp.MustCompile(`[A-Z][A-Z0-9_]{1,9}-[1-9][0-9]{0,6}`)
	anyCase    = regexp.MustCompile(`(?i)[a-z][a-z0-9_]{1,9}-[1-9][0-9]{0,6}`)
	fiscalYear = regexp.MustCompile(`^FY[0-9]+$`)
	inLink     = regexp.MustCompile(`(?i)(?:/browse/|/issues/|[?&]selectedissue=)([a-z][a-z0-9_]{1,9}-[1-9][0-9]{0,6})`)
	wholeKey   = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,9}-[1-9][0-9]{0,6}$`)
)

// Project is the project's part of a key; empty for what is none.
func Project(key string) string {
	if !wholeKey.MatchString(key) {
		return ""
	}
	return key[:strings.LastIndexByte(key, '-')]
}

// finder finds keys of some projects; of any where there are none.
type finder struct{ projects []string }

func (f finder) counts(key string, link bool) bool {
	prefix := key[:strings.LastIndexByte(key, '-')]
	if len(f.projects) > 0 {
		return slices.Contains(f.projects, prefix)
	}
	return link || !slices.Contains(denied, prefix) && !fiscalYear.MatchString(prefix)
}

// Keys finds the keys of tickets in a text of a pull request, in their order and
// each once. projects are the configured ones; empty for none, which leaves out
// what more often names a standard, a version or a date.
func Keys(text string, where Where, projects []string) (all []Key) {
	f := finder{projects}
	var found []string
	switch text = hyphens.Replace(text); where {
	case Branch:
		found = f.inBranch(text)
	case Body:
		text = prose(text)
		fallthrough
	default:
		for i, part := range parts(text) {
			if i%2 == 1 {
				found = append(found, f.inLink(part)...)
			} else {
				found = append(found, f.inText(part)...)
			}
		}
	}
	for _, key := range found {
		all = append(all, Key{key, where})
	}
	return Merge(all)
}

// Merge adds keys to others, each once: where it was found first.
func Merge(all []Key, more ...Key) []Key {
	return firsts(slices.Concat(all, more), func(k Key) string { return k.Key })
}

func firsts[T any](all []T, name func(T) string) []T {
	known := map[string]bool{}
	return slices.DeleteFunc(all, func(one T) bool {
		was := known[name(one)]
		known[name(one)] = true
		return was
	})
}

func (f finder) inLink(link string) (all []string) {
	for _, m := range inLink.FindAllStringSubmatchIndex(link, -1) {
		if key := strings.ToUpper(link[m[2]:m[3]]); !touchedBehind(link[m[3]:]) && f.counts(key, true) {
			all = append(all, key)
		}
	}
	return all
}

func (f finder) inText(text string) (all []string) {
	for _, at := range matches(candidate, text) {
		key := text[at[0]:at[1]]
		last, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		touched := last == '_' || last == '-' || inWord(last) || touchedBehind(text[at[1]:])
		if !touched && f.counts(key, false) {
			all = append(all, key)
		}
	}
	return all
}

// inBranch finds the keys of a branch's name. There a key may touch hyphens and
// underscores; in lower case it counts at the start of a segment, and anywhere
// where its project is a configured one.
func (f finder) inBranch(name string) (all []string) {
	if strings.HasPrefix(name, "dependabot/") || strings.HasPrefix(name, "renovate/") {
		return nil
	}
	for segment := range strings.SplitSeq(name, "/") {
		for _, at := range matches(anyCase, segment) {
			written, behind := segment[at[0]:at[1]], segment[at[1]:]
			key := strings.ToUpper(written)
			last, _ := utf8.DecodeLastRuneInString(segment[:at[0]])
			touched := inWord(last) || touchedBehind(behind) && !strings.HasPrefix(behind, "-") &&
				!strings.HasPrefix(behind, "_")
			start := at[0] == 0 || len(f.projects) > 0 || key == written
			if start && !touched && f.counts(key, false) {
				all = append(all, key)
			}
		}
	}
	return all
}

// InLabel finds the key of a label of one of the forms; see LabelForms.
func InLabel(label string, forms, projects []string) []Key {
	for _, form := range forms {
		before, behind, ok := strings.Cut(strings.ToLower(form), "*")
		lower := strings.ToLower(label)
		if !ok || len(label) != len(lower) || len(lower) < len(before)+len(behind) ||
			!strings.HasPrefix(lower, before) || !strings.HasSuffix(lower, behind) {
			continue
		}
		key := hyphens.Replace(label[len(before) : len(label)-len(behind)])
		if wholeKey.MatchString(key) && (finder{projects}).counts(key, false) {
			return []Key{{Key: key, From: Label}}
		}
	}
	return nil
}

var hyphens = strings.NewReplacer("\u2010", "-", "\u2011", "-")

// matches are all places at which an expression fits, those within another one
// included: of RSA-SHA-256 the shorter key is looked at as well.
func matches(re *regexp.Regexp, text string) (all [][2]int) {
	for from := 0; ; {
		m := re.FindStringIndex(text[from:])
		if m == nil {
			return all
		}
		all = append(all, [2]int{from + m[0], from + m[1]})
		from += m[0] + 1
	}
}

// touchedBehind reports whether what stands behind a key makes it part of a longer word.
func touchedBehind(behind string) bool {
	r, size := utf8.DecodeRuneInString(behind)
	next, _ := utf8.DecodeRuneInString(behind[size:])
	switch r {
	case '_':
		return true
	case '-':
		return unicode.IsDigit(next)
	case '.':
		return asciiWord(next)
	}
	return inWord(r)
}

func inWord(r rune) bool {
	return asciiWord(r) || unicode.IsDigit(r) || unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r)
}

func asciiWord(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
