package decision

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

const shownWord = 20

var (
	likeID   = pattern.Lazy(`^(?i:f|#|f#)?0*([0-9]{1,6})$`)
	gluedIDs = pattern.Lazy(`^(F[0-9]+[;+&/]?){2,}$`)
	verbWord = pattern.Lazy(`(?i)\b` + verbs + `(?:\b|f[0-9])`)
	no       = pattern.Lazy(`^(?:reject|stop|cancel)\b`)
)

// suggest returns the command that a refused line may have meant, or "": the text from its verb
// on if that is a command, otherwise the verb's form, otherwise a drop of the findings that it names.
func suggest(line string) string {
	if strings.HasPrefix(line, "/") && isCommand(line) {
		return "" // what is wrong is wrong with another line, or with the draft
	}
	ids, verb, text := slices.Compact(findIDs(line)), "", marks().ReplaceAllString(fold(line), "")
	if at := verbWord().FindStringIndex(line); at != nil {
		verb = strings.TrimRight(strings.ToLower(line[at[0]:at[1]]), "f0123456789")
		rest := strings.TrimRight(line[at[0]+len(verb):], " \t`*_\"'”’")
		if said := "/" + verb + rest; isCommand(said) {
			return said
		}
		id, text := cutWord(strings.TrimSpace(rest))
		said := "/edit " + id + ": " + text
		if verb == "edit" && text != "" && len(findIDs(text)) == 0 && isCommand(said) {
			return said
		}
	}
	switch {
	case verb != "" && verb != "approve" && verb != "abort":
		return example(verb, ids)
	case len(ids) > 0:
		return "/drop " + strings.Join(ids, " ")
	case verb != "":
		return "/" + verb
	case findPhrase(text, fewerPhrases()) != "":
		return example("drop", nil)
	case findPhrase(text, nothingPhrases()) != "" || isPlainNo(text) || no().MatchString(text):
		return "/abort"
	}
	return ""
}

// example returns a command of a verb about findings: all that are given where it takes several.
func example(verb string, ids []string) string {
	id := append(ids, "F2")[0]
	if (verb == "drop" || verb == "keep") && len(ids) > 0 {
		id = strings.Join(ids, " ")
	}
	return "/" + verb + " " + map[string]string{"drop": id + ": REASON", "keep": id, "summary": id,
		"edit": id + ": NEW TEXT", "severity": id + " minor", "revise": "TEXT"}[verb]
}

func firstWord(text string) string {
	first, _ := cutWord(text)
	return first
}

// ReviseCommand returns the command line that gives the feedback. It is one line, so that
// no line of the feedback is taken for a command. Parse refuses feedback that is empty or
// longer than MaxFeedback.
func ReviseCommand(feedback string) string {
	var words []string
	for _, line := range splitLines(feedback) {
		words = append(words, strings.TrimFunc(line, isInvisible))
	}
	return "/revise " + strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
