package judge

import (
	_ "embed" // the texts are files beside this one
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/review"
)

//go:embed judge.md
var system string

//go:embed same.md
var sameUser string

//go:embed words.md
var sameWords string

//go:embed valid.md
var validUser string

//go:embed again.md
var again string

// kind is one of the two questions. Key names the answer's true or false; words is
// the question without the code, empty where it cannot be put so.
type kind struct{ key, user, words string }

func same() kind  { return kind{key: "same_defect", user: sameUser, words: sameWords} }
func valid() kind { return kind{key: "valid", user: validUser} }

// schema is the JSON schema of the answer. The reason comes first: a model that
// has to give one before it decides, decides better.
func (k kind) schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","additionalProperties":false,"required":["reason","` + k.key + `"],` +
		`"properties":{"reason":{"type":"string","description":"One or two sentences."},"` + k.key +
		`":{"type":"boolean"}}}`)
}

// turn writes the user turn. What comes from outside stands between marks.
func (k kind) turn(b guard.Boundary, q Question) string {
	user := k.user
	if q.wordsAlone() {
		user = k.words
	}
	return strings.NewReplacer(
		"{{issue}}", b.Wrap("issue", q.Issue),
		"{{line}}", strconv.Itoa(q.Line),
		"{{path}}", b.Wrap("path", q.Path),
		"{{title}}", b.Wrap("title", q.Title),
		"{{body}}", b.Wrap("body", q.Body),
		"{{hunk}}", b.Wrap("hunk", q.Hunk),
	).Replace(user)
}

// withoutCode is the question for the second and third vote. Two of three votes are
// cast on the words alone, so that nothing in the diff, in whatever language, can
// carry a majority.
func (k kind) withoutCode(q Question) Question {
	if k.words != "" {
		q.Path, q.Line, q.Hunk = "", 0, ""
	}
	return q
}

func (q Question) wordsAlone() bool { return q.Issue != "" && q.Hunk == "" && q.Path == "" }

func (q Question) texts() []string { return []string{q.Issue, q.Path, q.Title, q.Body, q.Hunk} }

// Fingerprint is the SHA-256, in hex, over what of ours settles a ruling: all
// texts that the judge is sent, what is taken for an address, and the protocol.
func Fingerprint() string { return review.Hash(protocol, sent(), address.String(), forged.String()) }

// sent is the hash of all texts that the judge is sent, and of a sample of what
// code writes into them.
func sent() string {
	const b = guard.Boundary("00000000000000000000000000000000")
	q := Question{Issue: "i", Path: "p", Title: "t", Body: "b", Line: 1, Hunk: Hunk("@@ -1,2 +1,2 @@ f\n x\n-y\n+z", 2)}
	texts := []string{system, again}
	for _, k := range []kind{same(), valid()} {
		texts = append(texts, k.turn(b, q), k.words, string(k.schema()))
	}
	return review.Hash(append(texts, harmless, strange)...)
}

// The bounds of a hunk: its lines, and the characters of each.
const (
	maxLines = 200
	maxWidth = 400
)

// Hunk gives what the judge sees of a patch: the hunk at the line of the new side, or the
// nearest one, numbered as in a review, with a mark where something was left out; empty for
// a patch without readable hunks.
func Hunk(patch string, line int) string {
	hunks, err := diff.Hunks(patch)
	if err != nil || len(hunks) == 0 {
		return ""
	}
	h := hunks[0]
	for _, other := range hunks[1:] {
		if distance(other, line) < distance(h, line) {
			h = other
		}
	}
	first, all := window(h, line), len(h.Lines)
	h.Lines = slices.Clone(h.Lines[first:min(first+maxLines, all)])
	for i, l := range h.Lines {
		h.Lines[i].Text = narrow(l.Text)
	}
	head, body, _ := strings.Cut(prompt.NumberHunks([]diff.Hunk{h}), "\n")
	return head + leftOut(first) + "\n" + body + leftOut(all-first-len(h.Lines))
}

func distance(h diff.Hunk, line int) int {
	last := h.NewStart + max(h.NewLines, 1) - 1
	return max(h.NewStart-line, line-last, 0)
}

// window is the index of the first line that is shown.
func window(h diff.Hunk, line int) int {
	at := 0
	for i, l := range h.Lines {
		if l.New != 0 && l.New <= line {
			at = i
		}
	}
	return max(0, min(at-maxLines/2, len(h.Lines)-maxLines))
}

func narrow(text string) string {
	if utf8.RuneCountInString(text) <= maxWidth {
		return text
	}
	return string([]rune(text)[:maxWidth]) + " …"
}

func leftOut(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("\n… %d lines of the hunk left out", lines)
}
