package injection

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/org/pr-review-action/internal/guard"
)

// lookalikes lists pairs: a letter of another script, then the Latin letter that it is taken for.
const lookalikes = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlАAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅS" +
	"οoνvρpιiκkυuαaΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" + "օoսuոnցgհhѵvɡgɑaıi"

func lookalike(r rune) (rune, bool) {
	if r < 0x100 || r > 0x5ff {
		return r, false
	}
	at := strings.IndexRune(lookalikes, r)
	if at < 0 {
		return r, false
	}
	latin, _ := utf8.DecodeRuneInString(lookalikes[at+utf8.RuneLen(r):])
	return latin, true
}

// mixedWord returns the offset of a word in which look-alike letters of another script
// occur among Latin ones, or -1. A word in one script is not a disguise, nor is a Latin
// abbreviation with a Cyrillic ending, nor a word with letters that resemble no Latin one.
func mixedWord(line string) int {
	found, at := -1, 0
	eachWord(line, func(word string, letters bool) {
		if found < 0 && letters && isMixed(word) {
			found = at
		}
		at += len(word)
	})
	return found
}

// eachWord calls f for each run of letters and each run between them.
func eachWord(line string, f func(run string, letters bool)) {
	isLetter := func(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) }
	for inside := false; line != ""; inside = !inside {
		size := strings.IndexFunc(line, func(r rune) bool { return isLetter(r) != inside })
		if size < 0 {
			size = len(line)
		}
		f(line[:size], inside)
		line = line[size:]
	}
}

func isMixed(word string) bool {
	var latin, capital, alike, other, length int
	greek := false
	for _, r := range word {
		length++
		_, known := lookalike(r)
		switch {
		case known && !unicode.Is(unicode.Latin, r):
			alike++
			greek = greek || unicode.Is(unicode.Greek, r)
		case unicode.Is(unicode.Latin, r):
			latin++
			if unicode.IsUpper(r) {
				capital++
			}
		case unicode.IsLetter(r):
			other++
		}
	}
	abbreviation := latin == capital && latin > 1
	return latin > 0 && alike > 0 && other == 0 && !abbreviation && (!greek || length > 3)
}

// fold normalizes a text for comparison: it removes hidden characters, replaces tag characters by their
// letters, applies compatibility forms, replaces look-alikes in mixed words, and lowers the case.
func fold(line string) string {
	if guard.Plain(line) {
		return strings.ToLower(line)
	}
	return strings.ToLower(replaceLookalikes(norm.NFKC.String(stripHidden(line))))
}

// stripHidden returns a line without hidden characters and with tag characters decoded. A form feed separates words.
func stripHidden(line string) string {
	if guard.Plain(line) {
		return line
	}
	var b strings.Builder
	eachRune(line, func(_ int, r rune, seen bool) {
		switch {
		case r > 0xe0020 && r < 0xe007f:
			b.WriteRune(r - 0xe0000)
		case r == 0xe0020:
			b.WriteByte(' ')
		case seen || r == '\f':
			b.WriteRune(r)
		}
	})
	return b.String()
}

// replaceLookalikes replaces the look-alikes of a line that has mixed words. Words with letters that
// resemble no Latin one stay as they are.
func replaceLookalikes(line string) string {
	if mixedWord(line) < 0 {
		return line
	}
	var b strings.Builder
	eachWord(line, func(run string, letters bool) {
		if letters {
			run = toLatin(run)
		}
		b.WriteString(run)
	})
	return b.String()
}

func toLatin(word string) string {
	var b strings.Builder
	for _, r := range word {
		alike, known := lookalike(r)
		if !known && !unicode.Is(unicode.Latin, r) {
			return word
		}
		b.WriteRune(alike)
	}
	return b.String()
}
