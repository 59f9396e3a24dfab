package decision

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// shownWord is how many characters of a wrong word a reason quotes.
const shownWord = 20

// unknown says what is wrong with a word behind a slash.
func unknown(name string) error {
	lower := strings.ToLower(name)
	for _, known := range commands() {
		rest, begins := strings.CutPrefix(lower, known)
		switch {
		case lower == known:
			return errors.New("unknown command; commands have small letters: " + known)
		case begins && (!unicode.IsLetter(rune(rest[0])) || idPattern.MatchString(strings.ToUpper(rest))):
			return errors.New("unknown command; a space belongs behind " + known)
		}
	}
	return errors.New("unknown command; there are " + strings.Join(commands(), ", "))
}

var (
	likeID   = regexp.MustCompile(`^(?i:f|#|f#)?0*([1-9][0-9]{0,5})$`)
	idRange  = regexp.MustCompile(`^F?[0-9]+(-|–|—|\.\.+)F?[0-9]+$`)
	gluedIDs = regexp.MustCompile(`^(F[0-9]+[;+&/]?){2,}$`)
)

// noID says how the finding is named that a word may have meant.
func noID(command, word string) string {
	if like := likeID.FindStringSubmatch(word); like != nil {
		return "is no finding's id as the draft writes it; write F" + like[1]
	}
	switch {
	case idRange.MatchString(word):
		return "a range is no finding's id; name each one: " + command + " F2 F3"
	case gluedIDs.MatchString(word):
		return "is no finding's id; put a space between two of them: " + command + " F2 F3"
	}
	return "names something that is no finding's id; a reason stands behind a colon: " + command + " F2: REASON"
}

// looksLikeCommand reports whether a reader would take a line for a command
// though it begins with another character than the slash.
func looksLikeCommand(line string) bool {
	word := line
	if i := strings.IndexFunc(line, unicode.IsSpace); i >= 0 {
		word = line[:i]
	}
	return slices.Contains(commands(), strings.ToLower(strings.Map(plainly, word)))
}

// plainly is the ASCII character that r looks like: full-width forms, and what
// can be taken for a slash.
func plainly(r rune) rune {
	switch {
	case wide(r):
		return r - 0xFEE0
	case strings.ContainsRune("\u2044\u2215\u29F8\u2571\\", r):
		return '/'
	}
	return r
}

// wide reports whether r is the full-width form of an ASCII character.
func wide(r rune) bool { return r >= 0xFF01 && r <= 0xFF5E }

// ReviseCommand is feedback as the command line that gives it: one line, so that
// none of its own lines is a command. Parse refuses feedback that is empty or
// longer than MaxFeedback.
func ReviseCommand(feedback string) string {
	var words []string
	for _, line := range lines(feedback) {
		words = append(words, strings.TrimFunc(line, unseen))
	}
	return "/revise " + strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
