package guard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes the invisible visible: control, bidirectional, zero width, tag and other invisible
// characters become <U+202E> and the like, no-break spaces plain spaces, broken UTF-8 U+FFFD. Line
// feeds and tabs stay, CR LF becomes LF. Emoji sequences stay, and so do joiners between letters of the
// scripts that use them. No invisible character is left, so a second pass changes nothing.
func Visible(s string) string {
	if Plain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	last, base := rune(-1), rune(-1) // base: the last one that is not a selector
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if flag := flagTags(last, s); flag > 0 {
			b.WriteString(s[:flag])
			last, base, s = -1, -1, s[flag:]
			continue
		}
		s = s[n:]
		next, _ := utf8.DecodeRuneInString(s)
		switch {
		case r == '\u00a0' || r == '\u202f':
			b.WriteByte(' ')
		case (r == '\ufe0e' || r == '\ufe0f') && selects(last, next):
			b.WriteRune(r)
			last = r
			continue
		case !isHidden(r) || joins(base, r, next):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
			r = '>'
		}
		last, base = r, r
	}
	return b.String()
}

// Plain reports whether a text has only printable ASCII, line feeds and tabs.
func Plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\u2028' || r == '\u2029' || r == '\u2800' || r == '\U0001d159':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// selects reports whether a selector follows a picture, or is part of a keycap sequence.
func selects(last, next rune) bool {
	keycap := next == '\u20e3' && (last >= '0' && last <= '9' || last == '#' || last == '*')
	return keycap || isPictograph(last)
}

// joins reports whether a joiner has its proper use between its neighbours.
func joins(base, r, next rune) bool {
	letters := usesJoiners(base) && usesJoiners(next)
	return r == '\u200c' && letters || r == '\u200d' && (letters || isPictograph(base) && isPictograph(next))
}

// flagTags returns the length of the tag characters at the start of s that turn a black
// flag into that of England, Scotland or Wales, or 0 if there are none.
func flagTags(prev rune, s string) int {
	if prev != '\U0001f3f4' {
		return 0
	}
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		tags := ""
		for _, c := range region {
			tags += string(0xe0000 + c)
		}
		if tags += "\U000e007f"; strings.HasPrefix(s, tags) {
			return len(tags)
		}
	}
	return 0
}

// isPictograph reports whether r is in a block of emoji.
func isPictograph(r rune) bool {
	switch {
	case r >= 0x1f000 && r <= 0x1faff, r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x23ff,
		r >= 0x25a0 && r <= 0x27bf, r >= 0x2900 && r <= 0x297f, r >= 0x2b00 && r <= 0x2bff:
		return true
	}
	return strings.ContainsRune("©®‼⁉™ℹⓂ〰〽㊗㊙", r)
}

// usesJoiners reports whether a letter or mark belongs to a script that uses joiners.
func usesJoiners(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
