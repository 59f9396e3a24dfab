package judge

import (
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/guard"
)

// address matches, in a text's words alone, talk to whoever judges or reviews,
// orders to forget, to be silent or to answer, and claims that all was settled. It errs
// on the side of too much: a match costs one more question, and only after a yes.
var address = regexp.MustCompile(`(?i)\b(?:` + strings.Join([]string{
	`judges?|graders?|verdicts?|adjudicators?|evaluators?|reviewers?|assistants?`,
	`language models?|llms?|ai|chatgpt|gpt|claude|gemini|system prompt|prompt injection`,
	`(?:ignore|disregard|forget|override)(?: \pL+){0,6} (?:instructions?|prompts?|above|previous|prior|preceding` +
		`|guidelines?|rules)`,
	`(?:do not|don t|never|must not|no need to) (?:report|flag|mention|comment on|review)`,
	`(?:answer|reply|respond|say|vote|rule)(?: with| only| is| here)* (?:yes|true|valid|same)`,
	`same defect|lgtm|(?:already|previously|pre) (?:reviewed|approved|audited|verified)|approved by`,
}, "|") + `)\b`)

// forged matches answers to copy and the marks of chat templates.
var forged = regexp.MustCompile(`(?i)"(?:findings|valid|verdict|reason|severity)\\?"\s*:|<\|[a-z_]+\|>`)

// shownHidden matches what guard.Visible puts in an invisible character's place.
var shownHidden = regexp.MustCompile(`<U\+[0-9A-F]{4,6}>`)

// addresses reports whether one of the texts speaks to a judge, or hides something.
func addresses(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		seen := guard.Visible(text)
		hides := len(shownHidden.FindAllString(seen, -1)) > len(shownHidden.FindAllString(text, -1))
		return hides || forged.MatchString(seen) || address.MatchString(strings.Join(letters(seen), " "))
	})
}

// letters splits a text into its words. Marks of comments, line breaks and line
// numbers between them fall away.
func letters(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// controls are questions whose right answer is no: what speaks to the judge stays,
// and the other side is exchanged for something that has nothing to do with it.
// There are none where nothing speaks.
func (k kind) controls(q Question) []Question {
	inIssue, inFinding, inHunk := addresses(q.Issue), addresses(q.Title, q.Body), addresses(q.Path, q.Hunk)
	isSame := k.key == same().key
	var put []Question
	if isSame && (inFinding || inHunk) {
		other := q
		other.Issue = unrelated(q)
		put = append(put, other)
	}
	if isSame && inIssue || !isSame && inHunk {
		other := q
		other.Title, other.Body = unrelated(q), ""
		put = append(put, other)
	}
	if !isSame && inFinding {
		other := q
		other.Hunk = harmless
		put = append(put, other)
	}
	return put
}

// harmless is a hunk without a defect.
const harmless = `@@ func (t Table) High(day Day) Time {
    12     12   	high := t.mean(day)
    13        - 	return high.Add(t.moon(day))
           13 + 	shift := t.moon(day)
           14 + 	return high.Add(shift)`

// strange are issues of programs unlike any that is reviewed, so that no finding
// is about one of them.
func strange() []string {
	return []string{
		"The tide table adds an hour of summer time twice, so that every harbour shows high water an hour late " +
			"in July.",
		"The loom's pattern reader swaps warp and weft on mirrored cards, so that every second row of cloth is " +
			"woven upside down.",
		"The church organ's stop register mutes the pedal pipes whenever both manuals are coupled.",
		"The telescope's dome turns east instead of west once the star passes the meridian, so that the slit hides " +
			"the sky.",
		"The recipe scaler rounds yeast up to whole grams, so that small loaves rise over the tin.",
		"The sheep counter takes a lamb beside its mother for one animal, so that the flock is short in spring.",
		"The carillon plays the quarter chime before the hour has been struck at noon.",
	}
}

// unrelated draws a strange issue, by the question's hash, among those that share the
// fewest words with what is asked about.
func unrelated(q Question) string {
	all := strange()
	sum := sha256.Sum256([]byte(hash(q.texts()...)))
	turn := int(binary.BigEndian.Uint16(sum[:]) % uint16(len(all)))
	all = slices.Concat(all[turn:], all[:turn])
	asked := words(strings.Join(q.texts(), " "))
	return slices.MinFunc(all, func(a, b string) int { return shared(words(a), asked) - shared(words(b), asked) })
}

func shared(a, b []string) int {
	n := 0
	for _, word := range a {
		if _, found := slices.BinarySearch(b, word); found {
			n++
		}
	}
	return n
}

// words are the words of a text of five letters or more, sorted, each once.
func words(text string) []string {
	all := letters(strings.ToLower(text))
	all = slices.DeleteFunc(all, func(word string) bool { return len(word) < 5 })
	slices.Sort(all)
	return slices.Compact(all)
}
