package ticket

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
)

// LabelForms returns the default forms of labels that may hold a key. The star stands for the
// key; the rest matches literally, in any case.
func LabelForms() []string { return []string{"jira:*", "*"} }

var (
	candidate = pattern.Lazy(`[A-Z][A-Z0-9_]{1,9}-[1-9][0-9]{0,6}`)
	anyCase   = pattern.Lazy(`(?i)[a-z][a-z0-9_]{1,9}-[1-9][0-9]{0,6}`)
	inLink    = pattern.Lazy(`(?i)(?:/browse/|/issues/|[?&]selectedissue=)([a-z][a-z0-9_]{1,9}-[1-9][0-9]{0,6})`)
	wholeKey  = pattern.Lazy(`^[A-Z][A-Z0-9_]{1,9}-[1-9][0-9]{0,6}$`)
)

// Project returns the project part of a key, or "" if key is not a key.
func Project(key string) string {
	if !wholeKey().MatchString(key) {
		return ""
	}
	return key[:strings.LastIndexByte(key, '-')]
}

// Keys returns the ticket keys of the given projects in a text of a pull request, in order and each once.
func Keys(text string, where Where, projects []string) []Key {
	var found []string
	switch text = hyphens.Replace(text); where {
	case Branch:
		found = keysInBranch(text)
	case Body:
		text = prose(text)
		fallthrough
	default:
		for i, part := range parts(text) {
			if i%2 == 1 {
				found = append(found, keysInLinks(part)...)
			} else {
				found = append(found, keysInText(part)...)
			}
		}
	}
	var all []Key
	for _, key := range found {
		if slices.Contains(projects, Project(key)) {
			all = append(all, Key{key, where})
		}
	}
	return Merge(all)
}

// Merge appends more to all and keeps each key once, where it was found first.
func Merge(all []Key, more ...Key) []Key {
	return order.Unique(slices.Concat(all, more), func(k Key) string { return k.Key })
}

func keysInLinks(link string) (all []string) {
	for _, m := range inLink().FindAllStringSubmatchIndex(link, -1) {
		if !continuesWord(link[m[3]:]) {
			all = append(all, strings.ToUpper(link[m[2]:m[3]]))
		}
	}
	return all
}

func keysInText(text string) (all []string) {
	for _, at := range allMatches(candidate(), text) {
		last, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		if last != '_' && last != '-' && !inWord(last) && !continuesWord(text[at[1]:]) {
			all = append(all, text[at[0]:at[1]])
		}
	}
	return all
}

// keysInBranch returns the keys in a branch's name, in any case. There a key may touch hyphens and underscores.
func keysInBranch(name string) (all []string) {
	if strings.HasPrefix(name, "dependabot/") || strings.HasPrefix(name, "renovate/") {
		return nil
	}
	for segment := range strings.SplitSeq(name, "/") {
		for _, at := range allMatches(anyCase(), segment) {
			behind := segment[at[1]:]
			last, _ := utf8.DecodeLastRuneInString(segment[:at[0]])
			if !inWord(last) && (!continuesWord(behind) || behind[0] == '-' || behind[0] == '_') {
				all = append(all, strings.ToUpper(segment[at[0]:at[1]]))
			}
		}
	}
	return all
}

// InLabel returns the key in a label that has one of the forms, or nil. See LabelForms.
func InLabel(label string, forms, projects []string) []Key {
	for _, form := range forms {
		before, behind, ok := strings.Cut(strings.ToLower(form), "*")
		lower := strings.ToLower(label)
		if !ok || len(label) != len(lower) || len(lower) < len(before)+len(behind) ||
			!strings.HasPrefix(lower, before) || !strings.HasSuffix(lower, behind) {
			continue
		}
		key := hyphens.Replace(label[len(before) : len(label)-len(behind)])
		if slices.Contains(projects, Project(key)) {
			return []Key{{Key: key, From: Label}}
		}
	}
	return nil
}

var hyphens = strings.NewReplacer("\u2010", "-", "\u2011", "-")

// allMatches returns every match of re as start and end, including those inside another match: in
// a branch, fix_PAY-12 contains the key PAY-12.
func allMatches(re *regexp.Regexp, text string) (all [][2]int) {
	for from := 0; ; {
		m := re.FindStringIndex(text[from:])
		if m == nil {
			return all
		}
		all = append(all, [2]int{from + m[0], from + m[1]})
		from += m[0] + 1
	}
}

// continuesWord reports whether the text right after a key makes it part of a longer word.
func continuesWord(behind string) bool {
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
