package judge

import (
	_ "embed" // the texts are files next to this one
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
var retryUser string

// kind is one of the two questions. key is the answer's boolean member; words is the
// question without the code, empty if it cannot be asked without.
type kind struct{ key, user, words string }

func same() kind  { return kind{key: "same_defect", user: sameUser, words: sameWords} }
func valid() kind { return kind{key: "valid", user: validUser} }

// schema returns the JSON schema of the answer. The reason comes first: a model that
// has to give one before it decides, decides better.
func (k kind) schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","additionalProperties":false,"required":["reason","` + k.key + `"],` +
		`"properties":{"reason":{"type":"string","description":"One or two sentences."},"` + k.key +
		`":{"type":"boolean"}}}`)
}

// userTurn returns the user turn, with untrusted text wrapped in the boundary's marks.
func (k kind) userTurn(b guard.Boundary, q Question) string {
	user := k.user
	if q.isWordsOnly() {
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

// withoutCode returns the question for the second and third vote. Two of three votes
// are cast on the words alone, so that nothing in the diff, in whatever language, can
// carry a majority.
func (k kind) withoutCode(q Question) Question {
	if k.words != "" {
		q.Path, q.Line, q.Hunk = "", 0, ""
	}
	return q
}

func (q Question) isWordsOnly() bool { return q.Issue != "" && q.Hunk == "" && q.Path == "" }

func (q Question) texts() []string { return []string{q.Issue, q.Path, q.Title, q.Body, q.Hunk} }

// Fingerprint returns the SHA-256, in hex, of what in this package decides a ruling:
// all texts sent to the judge, what counts as an address, and the protocol.
func Fingerprint() string {
	return review.Hash(protocol, sentHash(), address().String(), forged().String())
}

// sentHash returns the hash of all texts that are sent to the judge, with a sample
// question filled in.
func sentHash() string {
	const b = guard.Boundary("00000000000000000000000000000000")
	q := Question{Issue: "i", Path: "p", Title: "t", Body: "b", Line: 1, Hunk: Hunk("@@ -1,2 +1,2 @@ f\n x\n-y\n+z", 2)}
	texts := []string{system, retryUser}
	for _, k := range []kind{same(), valid()} {
		texts = append(texts, k.userTurn(b, q), k.words, string(k.schema()))
	}
	return review.Hash(append(texts, unrelatedHunk, unrelatedIssue)...)
}

// The bounds of a hunk: its lines, and the characters of each.
const (
	maxLines = 200
	maxWidth = 400
)

// Hunk returns what the judge sees of a patch: the hunk at a line of the new side, or the
// nearest one, numbered as in a review, with a note where lines were left out. It is empty
// if the patch has no valid hunks.
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
	first, all := windowStart(h, line), len(h.Lines)
	h.Lines = slices.Clone(h.Lines[first:min(first+maxLines, all)])
	for i, l := range h.Lines {
		h.Lines[i].Text = guard.Cut(l.Text, maxWidth)
	}
	head, body, _ := strings.Cut(prompt.NumberHunks([]diff.Hunk{h}), "\n")
	return head + leftOutNote(first) + "\n" + body + leftOutNote(all-first-len(h.Lines))
}

func distance(h diff.Hunk, line int) int {
	last := h.NewStart + max(h.NewLines, 1) - 1
	return max(h.NewStart-line, line-last, 0)
}

// windowStart returns the index of the first line to show.
func windowStart(h diff.Hunk, line int) int {
	at := 0
	for i, l := range h.Lines {
		if l.New != 0 && l.New <= line {
			at = i
		}
	}
	return max(0, min(at-maxLines/2, len(h.Lines)-maxLines))
}

func leftOutNote(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("\n… %d lines of the hunk left out", lines)
}
