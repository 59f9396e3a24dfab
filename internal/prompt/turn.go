package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// maxSorted is the limit in bytes of a numbered diff to label: its beginning tells what a change
// is about.
const maxSorted = 24 << 10

// User returns the user turn that asks for the review of a file. The author of the change controls what linters report.
func User(b guard.Boundary, in Input) string {
	linters := wrapDocuments(b, "linters - what programs of the change author reported - to check against the diff",
		maxGuidance, Document{Text: strings.Join(in.Linters, "\n")})
	return fillReviewTurn("user.md", b, in, linters)
}

// fillReviewTurn fills in a text that asks for findings, with blocks between those about the file and its change, and
// more after it.
func fillReviewTurn(name string, b guard.Boundary, in Input, between []string, more ...string) string {
	blocks := append(aboutBlocks(b, in), between...)
	asked := languageRequest(in.Language) + styleRequest(in.Style)
	said, how := reportedBlocks(b, "file", in.Reported, func(_ int, w *wire, f finding.Finding) { w.ID = f.ID })
	blocks, asked = append(blocks, said...), asked+how
	return fillFileTurn(name, in, slices.Concat(blocks, changeBlocks(b, in), more), "notes", languageNotes(in.Path),
		"language", asked)
}

// reportedBlocks returns the block with what earlier reviews reported of a file or a change, and how to use it.
func reportedBlocks(b guard.Boundary, of string, all []finding.Finding,
	with func(i int, w *wire, f finding.Finding)) (blocks []string, asked string) {
	if len(all) == 0 {
		return nil, ""
	}
	return []string{b.Wrap("reported", findingLines(all, with))}, " `reported` holds defects that earlier reviews " +
		"reported of this " + of + ", with the line of then. It proves nothing: judge the diff as you would without " +
		"it. But a defect of yours that is one of these gets its title from there, copied exactly, so that nobody " +
		"reads it twice."
}

// fillFileTurn returns an embedded text, filled in for a file's change.
func fillFileTurn(name string, in Input, blocks []string, values ...string) string {
	return fill(name, append(values, "status", statusWord(in), "part", partNote(in),
		"blocks", strings.Join(blocks, "\n"))...)
}

// Again returns the user turn that repeats a question after an answer with nothing to repair:
// prose, a refusal, no text.
func Again(user string) string { return user + text("again.md") }

// Repair returns the user turn that asks to rewrite a broken answer. Problem says in our own words
// what was wrong; the answer is untrusted text. The diff is not sent again.
func Repair(b guard.Boundary, path, problem, answer string) string {
	return fill("repair.md", "problem", problem, "path", b.Wrap("path", path), "answer", b.Wrap("answer", answer))
}

// Last returns the user turn that ends a conversation's tool calls and asks for the answer.
func Last() string { return text("last.md") }

// ToolResult returns the tool turn that answers a call. Name and result are
// untrusted text: a model may name a tool that does not exist.
func ToolResult(b guard.Boundary, name, result string) string {
	return fill("tool.md", "result", b.Wrap("tool result", shorten(name)+":\n"+result))
}

// Verify returns the user turn that asks whether findings on a file are true, each under its
// ClaimID. Severity and confidence, the author's weights, are not shown: they do not tell whether
// it is true.
func Verify(b guard.Boundary, in Input, findings []finding.Finding) string {
	claims := findingLines(findings, asClaim)
	blocks := append(append(aboutBlocks(b, in), changeBlocks(b, in)...), b.Wrap("findings", claims))
	return fillFileTurn("verify-user.md", in, blocks, "count", fmt.Sprint(len(findings)))
}

// asClaim adds to a finding what its verification needs: the suggestion too, unless it will not be offered as one.
func asClaim(i int, w *wire, f finding.Finding) {
	if w.ID = ClaimID(i); f.Suggestion != "" && f.SuggestionProblem == "" {
		w.Suggestion = &f.Suggestion
	}
}

// ClaimID returns the id of the i-th finding, 0-based, of a Verify turn.
func ClaimID(i int) string { return fmt.Sprintf("C%d", i+1) }

// Classify returns the user turn that asks what a change is about. It shows the first hunks of a
// long diff.
func Classify(b guard.Boundary, in Input) string {
	parts := Parts(in.Patch, maxSorted)
	in.Patch, in.Part, in.Parts = parts[0], 1, len(parts)
	return fillFileTurn("classify-user.md", in, append(pathBlocks(b, in), b.Wrap("diff", Number(in.Patch))))
}

// fill inserts values into an embedded text in one pass, so that braces in a value stay.
func fill(name string, values ...string) string {
	for i := 0; i < len(values); i += 2 {
		values[i] = "{{" + values[i] + "}}"
	}
	return strings.NewReplacer(values...).Replace(text(name))
}

// statusWord returns the file's status as one of a few constants, because the status comes from
// outside.
func statusWord(in Input) string {
	switch in.Status {
	case "added", "renamed", "copied", "removed":
		return in.Status
	}
	return "modified"
}

func partNote(in Input) string {
	if in.Parts < 2 {
		return ""
	}
	return fmt.Sprintf(" This is part %d of %d of its change; you do not see the others.", in.Part, in.Parts)
}

// languageRequest asks for the findings' text in a language. The name comes from us or the configuration;
// one that does not look like a name is ignored.
func languageRequest(name string) string {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != ' ' }
	if words := len(strings.Fields(name)); words == 0 || words > 3 || len(name) > 40 ||
		strings.ContainsFunc(name, other) || guard.Visible(name) != name {
		return ""
	}
	return " Write title and body of the findings in " + name +
		"; code, quotes, keys and their fixed values stay as they are."
}

func styleRequest(reported bool) string {
	if !reported {
		return ""
	}
	return " Report matters of style that a maintainer would have changed as well, with the category `style`, as `nit`."
}

// aboutBlocks returns the blocks that name the file and the repository's guidance for it.
func aboutBlocks(b guard.Boundary, in Input) []string {
	return append(pathBlocks(b, in), guidanceBlocks(b, in)...)
}

func pathBlocks(b guard.Boundary, in Input) []string {
	blocks := []string{b.Wrap("path", in.Path)}
	if in.OldPath != "" && in.OldPath != in.Path {
		blocks = append(blocks, b.Wrap("old path", in.OldPath))
	}
	return blocks
}

// changeBlocks returns the blocks of the change, the diff last: next to the question.
func changeBlocks(b guard.Boundary, in Input) []string {
	blocks := []string{b.Wrap("diff", Number(in.Patch))}
	if len(in.Pack) > 0 {
		blocks = append([]string{b.Wrap("elsewhere", pack(in.Pack))}, blocks...)
	}
	return blocks
}

type wire struct {
	ID        string       `json:"id,omitempty"`
	Path      *string      `json:"path,omitzero"`
	Side      finding.Side `json:"side"`
	StartLine int          `json:"start_line,omitzero"`
	Line      int          `json:"line,omitzero"`
	Quote     string       `json:"quote"`
	Title     string       `json:"title"`
	Body      string       `json:"body,omitzero"`
	*weight
	Suggestion *string `json:"suggestion,omitzero"`
}

type weight struct {
	Category   string           `json:"category"`
	Severity   finding.Severity `json:"severity"`
	Confidence float64          `json:"confidence"`
}

// findingLines formats findings as lines of JSON, so that no text in one can pass for another finding.
// with adds what a question shows besides the claim.
func findingLines(findings []finding.Finding, with func(i int, w *wire, f finding.Finding)) string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		w := wire{Side: f.Side, StartLine: f.StartLine, Line: f.Line, Quote: shorten(f.Quote), Title: f.Title,
			Body: f.Body}
		with(i, &w, f)
		line, _ := json.Marshal(w, jsontext.AllowInvalidUTF8(true)) // cannot fail: only strings and numbers
		lines[i] = string(line)
	}
	return strings.Join(lines, "\n")
}

// Revision is the input for revising a file's review: the draft's findings for the file, and the
// changes that its approver asks for. Both are untrusted: feedback may repeat text from the
// change.
type Revision struct {
	Findings []finding.Finding
	Feedback string
}

// Redraft returns the user turn that asks for all findings on a file again, revised as its
// approver asks. The system turn is Reviewing's: the same bytes, and the same rules for what a
// finding is.
func Redraft(b guard.Boundary, in Input, r Revision) string {
	draft := findingLines(r.Findings, func(_ int, w *wire, f finding.Finding) { // with the ids that the approver saw
		w.ID, w.weight, w.Suggestion = f.ID, &weight{f.Category, f.Severity, f.Confidence}, &f.Suggestion
	})
	return fillReviewTurn("redraft-user.md", b, in, nil, b.Wrap("draft", draft), b.Wrap("feedback", r.Feedback))
}
