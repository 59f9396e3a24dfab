package injection

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
)

// ForgedMark is the kind of a hit on what only we write: the marks of posted
// reviews and comments, and those that stand around data in a prompt.
const ForgedMark = "forged mark"

var ownMark = regexp.MustCompile(`(?i)<!--\s*pr-review:(?:v[0-9]|f=)|<<<\s*(?:data|end)\s+[0-9a-f]{32}`)

// hiddenHits lists the hidden characters and forged marks of each line, one hit for each kind.
func hiddenHits(lines []string) []Hit {
	var hits []Hit
	for i, line := range lines {
		if len(hits) >= maxHits {
			break
		}
		if strings.Contains(line, "<!--") || strings.Contains(line, "<<<") {
			if at := ownMark.FindStringIndex(line); at != nil {
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
	return tidy(hits)
}

// payload is how many hidden characters in a row a line for machines has by no chance.
const payload = 16

func hiddenOf(line string, number int) []Hit {
	var hits []Hit
	text := !dump(line)
	row, least, returned, directed := 0, 1, returned(line), rightToLeft(line)
	if minified(line) {
		least = payload
	}
	each(line, func(at int, r rune, seen bool) {
		if row++; seen {
			row = 0
		}
		kind := kindOf(r)
		counts := row >= least || row > 0 && (kind == bidi || kind == tags) && !tabled(line, at, r)
		if counts && kind != "" && (text || kind != Controls) && !usual(line, at, r) &&
			!(returned && r == '\r') && !(directed && strings.ContainsRune(directions, r)) {
			hits = append(hits, Hit{Line: number, Kind: kind, Excerpt: excerpt(line, at)})
		}
	})
	if at := mixedWord(line); text && least == 1 && at >= 0 {
		hits = append(hits, Hit{Line: number, Kind: LookAlike, Excerpt: excerpt(line, at)})
	}
	return tidy(hits)
}

// usual reports a hidden character where honest text has it.
func usual(line string, at int, r rune) bool {
	quiet := r == '\u2060' && strings.HasSuffix(line[:at], "@") // a mention that calls nobody
	coloured := r == '\x1b' && colour.MatchString(line[at:])    // captured output, and shell prompts
	return quiet || coloured || besideBraille(line, at, r) || spells(line, at, r) || besideSpace(line, at, r)
}

const breaks = "\u00ad\u200b\u200c\u200d\u2060\ufeff"

// besideSpace reports a break between words, or what joins them, with a space on one side and a letter or a picture
// on the other: translators' tools leave it, and it parts nothing. More than two in a row are no slip.
func besideSpace(line string, at int, r rune) bool {
	if !strings.ContainsRune(breaks, r) {
		return false
	}
	const near = 12 // bytes: a row of thousands is looked at once
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

// comment is the beginning of one that ends with its line, for a compiler at a carriage return too.
var comment = regexp.MustCompile(`(?:^|[^:\w])//|(?:^|\s)(?:#|--[\s\w-])`)

// returned reports lines that end as old systems end them, none of which takes what follows out of a comment.
func returned(line string) bool {
	at := comment.FindStringIndex(line)
	return at == nil || at[1] > strings.LastIndexByte(strings.TrimRight(line, "\r \t"), '\r')
}

// each calls f for every character of a line, with whether guard.Visible
// leaves it to be seen: the border's rule is the rule here as well.
func each(line string, f func(at int, r rune, seen bool)) {
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

// Kinds of hits that bytes of a picture have by chance: characters below the space and the like,
// and those that take no room.
const (
	Controls  = "control characters"
	ZeroWidth = "zero width"
	LookAlike = "look-alike letters"
)

const (
	bidi = "bidi control"
	tags = "tag characters"
)

// What stands in a table between the brackets or quotes and a hidden character: others, and escapes.
const others = `(?:\\(?:u[0-9a-fA-F]{4}|\w)|[\p{Cf}\p{Cc}])*`

var (
	tableStart = regexp.MustCompile("['\"`\\[\\]|,\\\\/^-]" + others + "$")
	tableEnd   = regexp.MustCompile("^" + others + "['\"`\\[\\]|,\\\\/^-]")
)

// maxTable is how many bytes on each side of a hidden character are looked at for its table.
const maxTable = 120

// tabled reports a hidden character that stands among its like in a string or a class, as in the tables of a bundle.
func tabled(line string, at int, r rune) bool {
	before, after := line[max(0, at-maxTable):at], line[at+utf8.RuneLen(r):]
	return tableStart.MatchString(before) && tableEnd.MatchString(after[:min(len(after), maxTable)])
}

// dump reports bytes of a picture or the like: a tenth of them are no text.
func dump(line string) bool {
	broken := 0
	for _, r := range line {
		if r == utf8.RuneError || r == 0 {
			broken++
		}
	}
	return broken*10 > len(line)
}

// kindOf names what a hidden character is for; "" for the form feed, which old sources put between pages.
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

// besideBraille reports whether a blank Braille pattern stands beside another
// pattern, as in progress marks and pictures.
func besideBraille(line string, at int, r rune) bool {
	if r != '\u2800' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(line[:at])
	after, _ := utf8.DecodeRuneInString(line[at+utf8.RuneLen(r):])
	return before > '\u2800' && before <= '\u28ff' || after > '\u2800' && after <= '\u28ff'
}

// unspacedScripts write words in a row, and may mark where one ends with a zero-width space.
var unspacedScripts = []*unicode.RangeTable{unicode.Khmer, unicode.Thai, unicode.Lao, unicode.Myanmar}

// joining are scripts whose words are written with joiners, at their end too.
var joining = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Malayalam, unicode.Devanagari,
	unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Sinhala, unicode.Gujarati,
	unicode.Gurmukhi, unicode.Oriya}

// spells reports what a script is written with: a zero-width space between its words, and a joiner behind the sign
// that ends a consonant, at a word's end too (https://www.unicode.org/versions/Unicode15.1.0/ch12.pdf).
func spells(line string, at int, r rune) bool {
	const joiners = "\u200c\u200d" // one behind the other, too, as older keyboards wrote them
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

// colour is what a terminal takes for a colour, bold, italic or underlined, or their end: none
// that takes text away, as black, white, reversed and concealed can, and a background.
var colour = regexp.MustCompile(`^\x1b\[(?:` + colourCode + `(?:;` + colourCode + `)*)?m`)

const colourCode = `(?:0?[0134]|2[234]|[34]9|3[1-7]|9[1-6]|3[07];4[1-6]|4[1-6];3[07])`

const directions = "\u200e\u200f\u061c"

// rightToLeft reports a line with letters of a script that is written so. There a mark of
// direction moves what has none of its own, and turns no text around.
func rightToLeft(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic) && unicode.IsLetter(r)
	})
}

// minified reports a line that is written for machines. In a bundle hidden characters are those of tables.
func minified(line string) bool {
	return len(line) > 5000 || len(line) > 2000 && strings.Count(line, " ") < len(line)/12
}

// withoutMark drops a byte order mark from a text's first line, behind the mark of a diff too.
func withoutMark(line string) string {
	if rest, found := strings.CutPrefix(strings.TrimLeft(line, "+- "), "\ufeff"); found {
		return rest
	}
	return line
}
