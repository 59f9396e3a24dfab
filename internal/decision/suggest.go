package decision

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

const shownWord = 20

var (
	likeID      = pattern.Lazy(`^(?i:f|#|f#)?0*([0-9]{1,6})$`)
	gluedIDs    = pattern.Lazy(`^(F[0-9]+[;+&/]?){2,}$`)
	slashedVerb = pattern.Lazy(`(?i)[/⁄∕⧸╱／]` + verbs + `\b`)
	oneID       = pattern.Lazy(`F[0-9]+`)
	verbWord    = pattern.Lazy(`^[/\\⁄∕⧸╱]*(` + verbs + `)(?:[.,:;!]|$|[:-]?(f[0-9].*))`)
)

// synonyms maps words that people write to the verb that they mean.
func synonyms() map[string]string {
	return map[string]string{
		"remove": "drop", "delete": "drop", "skip": "drop", "ignore": "drop", "omit": "drop", "dismiss": "drop",
		"dorp": "drop", "drp": "drop",
		"reject": "abort", "cancel": "abort", "stop": "abort", "no": "abort", "aprove": "approve", "lgtm": "approve",
		"ok": "approve", "accept": "approve",
		"change": "edit", "rewrite": "edit", "move": "summary", "body": "summary", "grade": "severity",
		"redo": "revise", "revision": "revise",
	}
}

// rangeWords returns words that mean "to" between the ends of a range.
func rangeWords() []string {
	return []string{"to", "through", "thru", "until", "till", "bis", "à", "a", "al", "hasta", "até", "tot", "do",
		"до", "по", "到", "至", "から"}
}

// suggest returns the command that a refused line may have meant, or "".
func suggest(line string) string {
	if strings.HasPrefix(line, "/") && isCommand(line) {
		return "" // what is wrong is wrong with another line, or with the draft
	}
	verb, rest := findVerb(line)
	found := findIDs(rest)
	switch verb {
	case "":
		return suggestWithoutVerb(line)
	case "approve", "abort":
		if len(found) > 0 {
			return "/drop " + strings.Join(found, " ")
		}
		return "/" + verb
	case "revise":
		return strings.TrimSpace("/revise " + cutTo(rest, MaxFeedback))
	}
	if said := rewriteCommand(verb, rest); isCommand(said) {
		return said
	}
	switch {
	case verb == "severity" && len(found) > 0:
		return "/severity " + found[0] + " minor"
	case verb == "edit" && len(found) == 1:
		return "/edit " + found[0] + ": NEW TEXT"
	}
	return example(verb)
}

// suggestWithoutVerb returns the command that a line without a verb may have meant, or "".
func suggestWithoutVerb(line string) string {
	text := fold(line)
	switch all := findIDs(line); {
	case len(all) > 0:
		return "/drop " + strings.Join(slices.Compact(all), " ")
	case findPhrase(text, fewerPhrases()) != "":
		return example("drop")
	case findPhrase(text, nothingPhrases()) != "" || saysNo(trimMarks(line)):
		return "/abort"
	}
	return ""
}

func firstWord(text string) string {
	first, _ := cutWord(text)
	return first
}

func cutTo(text string, most int) string {
	if len(text) > most || text == "" {
		return "TEXT"
	}
	return text
}

func example(verb string) string {
	return map[string]string{
		"drop": "/drop F2: REASON", "keep": "/keep F1 F2", "summary": "/summary F4", "edit": "/edit F3: NEW TEXT",
		"severity": "/severity F6 minor",
	}[verb]
}

// findVerb returns the verb of a line and the text after it.
func findVerb(line string) (verb, rest string) {
	bare := strings.TrimLeft(strings.TrimRight(line, " \t`*_\"'”’"), "> \t")
	if at := slashedVerb().FindStringIndex(bare); at != nil {
		bare = bare[at[0]:]
	}
	for rest = bare; rest != ""; {
		var first string
		first, rest = cutWord(rest)
		plain := strings.TrimLeft(trimMarks(first), "`")
		if m := verbWord().FindStringSubmatch(plain); m != nil {
			_, glued, _ := cutColon(first)
			return m[1], strings.TrimSpace(m[2] + " " + glued + " " + rest)
		}
		if v := synonyms()[strings.Trim(plain, `/\.,:;!?`)]; v != "" &&
			(strings.HasPrefix(plain, "/") || v == "drop" || first == bare) {
			return v, rest
		}
	}
	return "", ""
}

// rewriteCommand returns what a person wrote after a verb in the syntax of a command.
func rewriteCommand(verb, rest string) string {
	words, reason := splitReason(rest)
	if id, text := cutWord(rest); verb == "edit" {
		id = selector(strings.TrimRight(id, ":："))
		if len(findIDs(id+" "+firstWord(text))) == 1 {
			return "/edit " + id + ": " + text
		}
	}
	line := "/" + verb
	for i, w := range words {
		id := likeID().FindStringSubmatch(strings.Trim(w, "*_`'\"()"))
		end := i+1 < len(words) && idPattern().MatchString(words[i+1])
		switch {
		case idPattern().MatchString(w), anyRange().MatchString(w), Severity(w).Rank() >= 0,
			strings.ContainsAny(w, "/*"):
			line += " " + w
		case id != nil:
			line += " F" + id[1]
		case gluedIDs().MatchString(strings.ToUpper(w)):
			line += " " + strings.Join(oneID().FindAllString(strings.ToUpper(w), -1), " ")
		case end && slices.Contains(rangeWords(), strings.ToLower(w)):
			return line + "-" + words[i+1]
		case verb != "severity" && len(findIDs(strings.Join(words[i:], " "))) == 0:
			return line + ": " + strings.Trim(strings.Join(words[i:], " ")+" "+reason, "-‐‑–—− ")
		}
	}
	if reason == "" {
		return line
	}
	return line + ": " + reason
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
