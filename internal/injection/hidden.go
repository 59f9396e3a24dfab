package injection

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// ForgedMark is the kind of a hit on text that only we write: the markers of posted reviews
// and comments, and the delimiters of data in a prompt.
const ForgedMark = "forged mark"

var ownMark = pattern.Lazy(`(?i)<!--\s*pr-review:(?:v[0-9]|f=)|<<<\s*(?:data|end)\s+[0-9a-f]{32}`)

// hiddenHits returns the hidden characters and forged marks of each line, one hit for each kind.
func hiddenHits(lines []string) []Hit {
	var hits []Hit
	for i, line := range lines {
		if len(hits) >= maxHits {
			break
		}
		if strings.Contains(line, "<!--") || strings.Contains(line, "<<<") {
			if at := ownMark().FindStringIndex(line); at != nil {
				hits = append(hits, Hit{Line: i + 1, Kind: ForgedMark, Excerpt: excerpt(line, at[0])})
			}
		}
		if guard.Plain(line) {
			continue
		}
		if i == 0 {
			line = withoutMark(line)
		}
		hits = append(hits, hiddenOf(line, i+1)...)
	}
	return mergeHits(hits)
}

// payload is the number of consecutive hidden characters that rules out chance in a minified line.
const payload = 16

func hiddenOf(line string, number int) []Hit {
	var hits []Hit
	text := !isBinaryLine(line)
	row, least, returned, directed := 0, 1, hasOldLineEnds(line), rightToLeft(line)
	if isMinified(line) {
		least = payload
	}
	eachRune(line, func(at int, r rune, seen bool) {
		if row++; seen {
			row = 0
		}
		kind := kindOf(r)
		counts := row >= least || row > 0 && (kind == bidi || kind == tags) && !inTable(line, at, r)
		if counts && kind != "" && (text || kind != Controls) && !isOrdinary(line, at, r) &&
			!(returned && r == '\r') && !(directed && strings.ContainsRune(directions, r)) {
			hits = append(hits, Hit{Line: number, Kind: kind, Excerpt: excerpt(line, at)})
		}
	})
	if at := mixedWord(line); text && least == 1 && at >= 0 {
		hits = append(hits, Hit{Line: number, Kind: LookAlike, Excerpt: excerpt(line, at)})
	}
	return mergeHits(hits)
}

// isOrdinary reports whether honest text has a hidden character at this place.
func isOrdinary(line string, at int, r rune) bool {
	before, mention := strings.CutSuffix(line[:at], "@") // that notifies no one
	last, _ := utf8.DecodeLastRuneInString(before)
	quiet := mention && (r == '\u2060' || r == '\u200b' && !unicode.IsLetter(last) && !unicode.IsDigit(last))
	coloured := r == '\x1b' && colour().MatchString(line[at:]) // captured output, and shell prompts
	picture := r == '\ufe0f' && pictureEscape().MatchString(line[max(0, at-len(`\U0001F324`)):at])
	return quiet || coloured || picture || besideBraille(line, at, r) || isSpelling(line, at, r) ||
		besideSpace(line, at, r)
}

// pictureEscape matches an emoji as YAML often escapes it, with the selector after it unescaped.
var pictureEscape = pattern.Lazy(`^\\U0001[Ff][0-9A-Fa-f]{3}$`)

const breaks = "\u00ad\u200b\u200c\u200d\u2060\ufeff"

// besideSpace reports whether r is a break or joiner with a space on one side and a letter or picture on the
// other. Translators' tools leave it there, and it separates nothing. More than two in a row are no accident.
func besideSpace(line string, at int, r rune) bool {
	if !strings.ContainsRune(breaks, r) {
		return false
	}
	const near = 12 // bytes, so that a run of thousands costs linear time
	before, behind := line[max(0, at-near):at], line[at:min(len(line), at+near)]
	left, right := strings.TrimRight(before, breaks), strings.TrimLeft(behind, breaks)
	if len(before)-len(left)+len(behind)-len(right) > 2*len("\u200b") {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(left)
	next, _ := utf8.DecodeRuneInString(right)
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.So, r) }
	return unicode.IsSpace(last) && word(next) || word(last) && unicode.IsSpace(next)
}

// comment matches the start of a comment that ends with its line, for a compiler also at a carriage return.
var comment = pattern.Lazy(`(?:^|[^:\w])//|(?:^|\s)(?:#|--[\s\w-])`)

// hasOldLineEnds reports whether carriage returns end lines as on old systems, none of them inside a comment.
func hasOldLineEnds(line string) bool {
	at := comment().FindStringIndex(line)
	return at == nil || at[1] > strings.LastIndexByte(strings.TrimRight(line, "\r \t"), '\r')
}

// eachRune calls f for every character of a line. seen is whether guard.Visible leaves the
// character visible, so that both packages follow one rule.
func eachRune(line string, f func(at int, r rune, seen bool)) {
	shown := guard.Visible(line)
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		out, m := utf8.DecodeRuneInString(shown)
		seen := true
		if out != r { // a mark, a plain space for a no-break one, or broken UTF-8
			mark := fmt.Sprintf("<U+%04X>", r)
			if strings.HasPrefix(shown, mark) {
				seen, m = false, len(mark)
			}
		}
		f(i, r, seen)
		i, shown = i+n, shown[m:]
	}
}

// Kinds of hits that binary data has by chance: control characters, characters without
// width, and look-alikes.
const (
	Controls  = "control characters"
	ZeroWidth = "zero width"
	LookAlike = "look-alike letters"
)

const (
	bidi = "bidi control"
	tags = "tag characters"
)

// tableFiller matches hidden characters and escapes between a table's brackets or quotes and a hidden character.
const tableFiller = `(?:\\(?:u[0-9a-fA-F]{4}|\w)|[\p{Cf}\p{Cc}\x{17b4}\x{17b5}])*`

var (
	tableStart = pattern.Lazy("['\"`\\[\\]|,\\\\/^-]" + tableFiller + "$")
	tableEnd   = pattern.Lazy("^" + tableFiller + "['\"`\\[\\]|,\\\\/^-]")
)

// maxTable is the number of bytes on each side of a hidden character that are searched for its table.
const maxTable = 120

// inTable reports whether a hidden character is one of several in a string or class, as in the tables of a bundle.
func inTable(line string, at int, r rune) bool {
	before, after := line[max(0, at-maxTable):at], line[at+utf8.RuneLen(r):]
	return tableStart().MatchString(before) && tableEnd().MatchString(after[:min(len(after), maxTable)])
}

// isBinaryLine reports whether a line is binary data such as a picture: over a tenth of its bytes are not text.
func isBinaryLine(line string) bool {
	broken := 0
	for _, r := range line {
		if r == utf8.RuneError || r == 0 {
			broken++
		}
	}
	return broken*10 > len(line)
}

// kindOf returns the purpose of a hidden character, "" for the form feed, which old sources put between pages.
func kindOf(r rune) string {
	switch {
	case r == '\f':
		return ""
	case r >= 0xe0000 && r <= 0xe007f:
		return tags
	case unicode.Is(unicode.Bidi_Control, r) && !strings.ContainsRune(directions, r):
		return bidi
	case unicode.Is(unicode.Variation_Selector, r):
		return "variation selectors"
	case unicode.Is(unicode.Cc, r):
		return Controls
	}
	return ZeroWidth
}

// besideBraille reports whether a blank Braille pattern is next to another pattern, as in
// progress bars and pictures.
func besideBraille(line string, at int, r rune) bool {
	if r != '\u2800' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(line[:at])
	after, _ := utf8.DecodeRuneInString(line[at+utf8.RuneLen(r):])
	return before > '\u2800' && before <= '\u28ff' || after > '\u2800' && after <= '\u28ff'
}

// unspacedScripts are written without spaces, and may mark the end of a word with a zero-width space.
var unspacedScripts = []*unicode.RangeTable{unicode.Khmer, unicode.Thai, unicode.Lao, unicode.Myanmar}

// joining lists scripts that use joiners inside words and at their end.
var joining = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Malayalam, unicode.Devanagari,
	unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Sinhala, unicode.Gujarati,
	unicode.Gurmukhi, unicode.Oriya}

// isSpelling reports whether r belongs to a script's spelling: a zero-width space between its words, or a joiner after
// the sign that ends a consonant, also at a word's end (https://www.unicode.org/versions/Unicode15.1.0/ch12.pdf).
func isSpelling(line string, at int, r rune) bool {
	const joiners = "\u200c\u200d" // also several in a row, as older keyboards wrote them
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line[max(0, at-len(joiners)):at], joiners))
	after, _ := utf8.DecodeRuneInString(line[at+utf8.RuneLen(r):])
	switch r {
	case '\u200b':
		return unicode.In(before, unspacedScripts...) && unicode.In(after, unspacedScripts...)
	case '\u200c', '\u200d':
		if unicode.In(before, joining...) {
			return true
		}
		return r == '\u200d' && strings.ContainsRune("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca",
			before)
	}
	return false
}

// colour matches terminal codes for colours, bold, italic, underline and their end. It excludes
// those that can hide text: black, white, reverse, conceal, and a background alone.
var colour = pattern.Lazy(`^\x1b\[(?:` + colourCode + `(?:;` + colourCode + `)*)?m`)

const colourCode = `(?:0?[0134]|2[234]|[34]9|3[1-7]|9[1-6]|3[07];4[1-6]|4[1-6];3[07])`

const directions = "\u200e\u200f\u061c"

// rightToLeft reports whether a line has letters of a right-to-left script. There a
// directional mark moves characters without their own direction, and reverses no text.
func rightToLeft(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic) && unicode.IsLetter(r)
	})
}

// isMinified reports whether a line is written for machines. In a bundle, hidden characters are in tables.
func isMinified(line string) bool {
	return len(line) > 5000 || len(line) > 2000 && strings.Count(line, " ") < len(line)/12
}

// withoutMark removes a byte order mark from a text's first line, also after a diff's sign.
func withoutMark(line string) string {
	if rest, found := strings.CutPrefix(strings.TrimLeft(line, "+- "), "\ufeff"); found {
		return rest
	}
	return line
}
