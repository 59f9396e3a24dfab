package injection

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxDepth = 3 // encodings within encodings

// coding is one way to write text that a model reads and a person does not.
type coding struct {
	possible func(line string) bool // a quick look
	sign     *regexp.Regexp
	decode   func(string) string // "" where it is none
}

var codings = []coding{
	{stretch(16, letters+capitals+decimals+"+/_-", ""), regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}={0,2}`), fromBase64},
	{stretch(24, capitals+"234567", ""), regexp.MustCompile(`\b[A-Z2-7]{24,}={0,6}`), fromBase32},
	{stretch(20, decimals+"abcdefABCDEF", " :,xX"), regexp.MustCompile(`(?i)\b(?:0x)?(?:[0-9a-f]{2}[ :,]?){10,}`),
		fromHex},
	{stretch(64, "01", " \t\f\r"), regexp.MustCompile(`(?:[01]{8}\s?){8,}`), fromNumbers(2)},
	{stretch(18, decimals, ",; \t\f\r"), regexp.MustCompile(`(?:\d{2,3}[,; ]\s?){8,}\d{2,3}`), fromNumbers(10)},
	{many("%"), regexp.MustCompile(`[^\s"'<>]*(?:%[0-9A-Fa-f]{2}[^\s"'<>%]{0,8}){3,}`), fromPercent},
	{many("&"), regexp.MustCompile(`(?:&#?\w{2,8};[^&]{0,3}){4,}`), html.UnescapeString},
	{many(`\`), regexp.MustCompile(`(?:\\(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|[0-7]{3})[^\\]{0` +
		`,12}){4,}`), fromEscapes},
}

// decoded lists what a line says in other codings.
func decoded(line string) []string {
	var list []string
	for _, c := range codings {
		if !c.possible(line) {
			continue
		}
		for _, part := range c.sign.FindAllString(line, 64) {
			if text := c.decode(part); text != part && readable(text) {
				list = append(list, text)
			}
		}
	}
	return append(list, strange(line)...)
}

func many(sign string) func(string) bool {
	return func(line string) bool { return strings.Count(line, sign) > 2 }
}

const (
	letters  = "abcdefghijklmnopqrstuvwxyz"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	decimals = "0123456789"
)

// stretch looks for so many of some bytes in a row, others that may stand between
// them aside.
func stretch(need int, of, between string) func(string) bool {
	var kind [256]byte
	for i := range len(of) {
		kind[of[i]] = 1
	}
	for i := range len(between) {
		kind[between[i]] = 2
	}
	return func(line string) bool {
		run := 0
		for i := 0; i < len(line) && run < need; i++ {
			switch kind[line[i]] {
			case 0:
				run = 0
			case 1:
				run++
			}
		}
		return run >= need
	}
}

// readable reports whether decoded bytes are prose.
func readable(text string) bool {
	if len(text) < 8 || !utf8.ValidString(text) {
		return false
	}
	letters := 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || r == ' ':
			letters++
		case r < ' ' && r != '\n' && r != '\t' || r == 0x7f:
			return false
		}
	}
	return letters*5 >= utf8.RuneCountInString(text)*3
}

func fromBase64(s string) string {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	text, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(text)
}

func fromBase32(s string) string {
	text, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return ""
	}
	return string(text)
}

func fromHex(s string) string {
	s = strings.NewReplacer("0x", "", " ", "", ":", "", ",", "").Replace(strings.ToLower(s))
	text, err := hex.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(text)
}

// fromNumbers reads character codes written as numbers.
func fromNumbers(base int) func(string) string {
	return func(s string) string {
		if base == 2 && !strings.ContainsAny(s, " \t") {
			s = octets(s)
		}
		var b strings.Builder
		for _, field := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) {
			code, err := strconv.ParseUint(field, base, 16)
			if err != nil {
				return ""
			}
			b.WriteRune(rune(code))
		}
		return b.String()
	}
}

func octets(s string) string {
	var b strings.Builder
	for ; len(s) >= 8; s = s[8:] {
		b.WriteString(s[:8] + " ")
	}
	return b.String()
}

func fromPercent(s string) string {
	text, err := url.PathUnescape(s)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(text, "+", " ")
}

var escape = regexp.MustCompile(`\\(?:u\{([0-9a-fA-F]{1,6})\}|[ux]([0-9a-fA-F]{2,4})|([0-7]{3}))`)

func fromEscapes(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		digits, base := strings.Trim(e[1:], "ux{}"), 16
		if len(digits) == 3 && e[1] != 'u' && e[1] != 'x' {
			base = 8
		}
		code, err := strconv.ParseUint(digits, base, 32)
		if err != nil {
			return e
		}
		return string(rune(code))
	})
}
