package judge

import (
	"slices"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// address matches, in a text reduced to its words, talk to whoever judges or reviews,
// orders to forget, to be silent or to answer, and claims that all is settled. It rather
// matches too much: a match costs one more question, and only after a yes.
var address = pattern.Lazy(`(?i)\b(?:` + strings.Join([]string{
	`judges?|graders?|verdicts?|adjudicators?|evaluators?|reviewers?|assistants?`,
	`language models?|llms?|ai|chatgpt|gpt|claude|gemini|system prompt|prompt injection`,
	`(?:ignore|disregard|forget|override)(?: \pL+){0,6} (?:instructions?|prompts?|above|previous|prior|preceding` +
		`|guidelines?|rules)`,
	`(?:do not|don t|never|must not|no need to) (?:report|flag|mention|comment on|review)`,
	`(?:answer|reply|respond|say|vote|rule)(?: with| only| is| here)* (?:yes|true|valid|same)`,
	`same defect|lgtm|(?:already|previously|pre) (?:reviewed|approved|audited|verified)|approved by`,
}, "|") + `)\b`)

// forged matches ready-made answers and the tokens of chat templates.
var forged = pattern.Lazy(`(?i)"(?:findings|valid|verdict|reason|severity)\\?"\s*:|<\|[a-z_]+\|>`)

// shownHidden matches what guard.Visible puts in place of an invisible character.
var shownHidden = pattern.Lazy(`<U\+[0-9A-F]{4,6}>`)

// addressesJudge reports whether one of the texts addresses a judge or hides something.
func addressesJudge(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		seen := guard.Visible(text)
		hides := len(shownHidden().FindAllString(seen, -1)) > len(shownHidden().FindAllString(text, -1))
		words := strings.FieldsFunc(seen, func(r rune) bool { return !unicode.IsLetter(r) })
		return hides || forged().MatchString(seen) || address().MatchString(strings.Join(words, " "))
	})
}

// controls returns questions whose right answer is no: they keep the text that
// addresses the judge, and replace the other side by something unrelated. It
// returns none if no text addresses the judge.
func (k kind) controls(q Question) []Question {
	inIssue, inFinding := addressesJudge(q.Issue), addressesJudge(q.Title, q.Body)
	inHunk := addressesJudge(q.Path, q.Hunk)
	isSame := k.key == same().key
	var put []Question
	if isSame && (inFinding || inHunk) {
		other := q
		other.Issue = unrelatedIssue
		put = append(put, other)
	}
	if isSame && inIssue || !isSame && inHunk {
		other := q
		other.Title, other.Body = unrelatedIssue, ""
		put = append(put, other)
	}
	if !isSame && inFinding {
		other := q
		other.Hunk = unrelatedHunk
		put = append(put, other)
	}
	return put
}

const unrelatedHunk = `@@ func (t Table) High(day Day) Time {
    12     12   	high := t.mean(day)
    13        - 	return high.Add(t.moon(day))
           13 + 	shift := t.moon(day)
           14 + 	return high.Add(shift)`

// unrelatedIssue is an issue of a program unlike any reviewed one, so that no finding is about
// it.
const unrelatedIssue = "The carillon plays the quarter chime before the hour has been struck at noon."
