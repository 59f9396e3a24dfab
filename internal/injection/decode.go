package injection

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/pattern"
)

const maxDepth = 3 // encodings within encodings

// coding is one way to encode text that a model reads and a person does not.
type coding struct {
	possible func(line string) bool // a cheap check
	find     func(line string, most int) []string
	decode   func(string) string // "" if it does not decode
}

var codings = []coding{
	{longRun(shortest, base64Signs, ""), matchesOf(`[\w+/-]{16,}={0,2}`), fromBase64},
	{longRun(20, hexDigits, " :,xX"), matchesOf(`(?i)\b(?:0x)?(?:[0-9a-f]{2}[ :,]?){10,}`), fromHex},
	{repeated("%"), matchesOf(`[^\s"'<>]*(?:%[0-9A-Fa-f]{2}[^\s"'<>%]{0,8}){3,}`), fromPercent},
	{repeated("&"), matchesOf(`(?:&#?\w{2,8};[^&]{0,3}){4,}`), html.UnescapeString},
	{repeated(`\`), matchesOf(`(?:\\(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|[0-7]{3})[^\\]{0,12}){4,}`),
		fromEscapes},
}

// matchesOf returns a function that finds the matches of an expression.
func matchesOf(expr string) func(string, int) []string {
	re := pattern.Lazy(expr)
	return func(line string, most int) []string { return re().FindAllString(line, most) }
}

// decoded returns the texts that a line contains in other encodings.
func decoded(line string) []string {
	var list []string
	for _, c := range codings {
		if !c.possible(line) {
			continue
		}
		for _, part := range c.find(line, 64) {
			if text := c.decode(part); text != part && isReadable(text) {
				list = append(list, text)
			}
		}
	}
	return append(list, disguises(line)...)
}

func repeated(sign string) func(string) bool {
	return func(line string) bool { return strings.Count(line, sign) > 2 }
}

const (
	hexDigits   = "0123456789abcdefABCDEF"
	base64Signs = hexDigits + "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ+/_-"
	shortest    = 16 // base64 characters at least
)

// longRun returns a check for a run of need bytes out of some, not counting the bytes allowed between them.
func longRun(need int, of, between string) func(string) bool {
	counted, allowed := bytesOf(of), bytesOf(of+between)
	return func(line string) bool {
		run := 0
		for i := range len(line) {
			if !allowed[line[i]] {
				run = 0
			} else if counted[line[i]] {
				run++
			}
			if run >= need {
				return true
			}
		}
		return false
	}
}

func bytesOf(text string) (set [256]bool) {
	for i := range len(text) {
		set[text[i]] = true
	}
	return set
}

// isReadable reports whether decoded bytes are prose.
func isReadable(text string) bool {
	if len(text) < 8 || !utf8.ValidString(text) {
		return false
	}
	letters := 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || r == ' ':
			letters++
		case isControl(r):
			return false
		}
	}
	return letters*5 >= utf8.RuneCountInString(text)*3
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }

// binary reports whether no readable text can begin with some bytes.
func binary(head []byte) bool {
	for len(head) > 0 && utf8.FullRune(head) {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 || isControl(r) {
			return true
		}
		head = head[n:]
	}
	return false
}

var urlSigns = strings.NewReplacer("-", "+", "_", "/")

// fromBase64 decodes base64, unless its beginning cannot be prose.
func fromBase64(s string) string {
	s = urlSigns.Replace(strings.TrimRight(s, "="))
	var head [shortest / 4 * 3]byte
	if _, err := base64.RawStdEncoding.Decode(head[:], []byte(s[:shortest])); err != nil || binary(head[:]) {
		return ""
	}
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	text, _ := base64.RawStdEncoding.DecodeString(s) // the pattern has checked it
	return string(text)
}

func fromHex(s string) string {
	s = strings.NewReplacer("0x", "", " ", "", ":", "", ",", "").Replace(strings.ToLower(s))
	text, _ := hex.DecodeString(s) // the pattern has checked it
	return string(text)
}

func fromPercent(s string) string {
	text, err := url.PathUnescape(s)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(text, "+", " ")
}

var escape = pattern.Lazy(`\\(?:u\{([0-9a-fA-F]{1,6})\}|[ux]([0-9a-fA-F]{2,4})|([0-7]{3}))`)

func fromEscapes(s string) string {
	return escape().ReplaceAllStringFunc(s, func(e string) string {
		digits, base := strings.Trim(e[1:], "ux{}"), 16
		if len(digits) == 3 && e[1] != 'u' && e[1] != 'x' {
			base = 8
		}
		code, _ := strconv.ParseUint(digits, base, 32) // the pattern has checked it
		return string(rune(code))
	})
}

// commonWords lists words of which a line in rot13 or backwards has several. "no" backwards is itself a word.
const commonWords = "the and this you your not all any for is it to of do no as be with text file report approve " +
	"ignore review reviewer reviews assistant model instructions rules safe say return empty above previous language " +
	"issues findings skip must code change"

const minDisguised = 3 // different disguised words in one line that rule out chance

// spellings maps each disguised word to true if it is in rot13, and to false if it is backwards.
var spellings = sync.OnceValue(func() map[string]bool {
	list := map[string]bool{}
	for word := range strings.FieldsSeq(commonWords) {
		list[backwards(word)] = false
		list[strings.Map(rot13, word)] = true
	}
	return list
})

func backwards(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

var (
	spaced = pattern.Lazy(`(?:\b\pL[ ._-]{1,3}){7,}\pL\b`)
	gap    = pattern.Lazy(`[ ._-]{2,}`)
)

// disguises returns a line in the spellings that no one writes by chance: rot13, backwards, letters spaced out.
func disguises(line string) []string {
	var list []string
	forward, back, single := countDisguised(line)
	if forward >= minDisguised {
		list = append(list, strings.Map(rot13, line))
	}
	if back >= minDisguised {
		list = append(list, backwards(line))
	}
	if single >= 8 {
		for _, run := range spaced().FindAllString(line, 4) {
			list = append(list, joinLetters(run))
		}
	}
	return list
}

// countDisguised counts a line's different words in rot13, its different words backwards, and its one-letter words.
func countDisguised(line string) (forward, back, single int) {
	var seen []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) == 1 {
			single++
			continue
		}
		inRot13, known := spellings()[word]
		if !known || slices.Contains(seen, word) {
			continue
		}
		if seen = append(seen, word); inRot13 {
			forward++
		} else {
			back++
		}
	}
	return forward, back, single
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// joinLetters joins letters that are spaced out; wider gaps separate the words.
func joinLetters(run string) string {
	var words []string
	for word := range strings.SplitSeq(gap().ReplaceAllString(run, "\n"), "\n") {
		words = append(words, strings.NewReplacer(" ", "", ".", "", "_", "", "-", "").Replace(word))
	}
	return strings.Join(words, " ")
}
