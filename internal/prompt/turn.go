package prompt

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// maxSorted bounds the bytes of a numbered diff that a label is asked for: a
// look at the beginning tells what a change is about.
const maxSorted = 24 << 10

// User returns the user turn that asks for the review of a file.
func User(b guard.Boundary, in Input) string {
	blocks := append(append(about(b, in), linters(b, in)...), change(b, in)...)
	return filled("user.md", in, blocks, "notes", notes(in.Path), "language", language(in.Language)+style(in.Style))
}

// filled is an embedded text as a turn about a file's change.
func filled(name string, in Input, blocks []string, values ...string) string {
	return fill(name, append(values, "status", happened(in), "part", part(in), "blocks", strings.Join(blocks, "\n"))...)
}

// linters holds what programs reported of the file. Who wrote the change has the last
// word on it.
func linters(b guard.Boundary, in Input) []string {
	if len(in.Linters) == 0 {
		return nil
	}
	return []string{b.Wrap("linters - what programs of the change author reported - to check against the diff",
		within([]Document{{Text: strings.Join(in.Linters, "\n")}}, maxGuidance))}
}

// Again returns the user turn that asks anew what a turn asked, where the answer
// held nothing to repair: prose, a refusal, no text.
func Again(user string) string { return user + text("again.md") }

// Repair returns the user turn that asks for a broken answer to be written
// again. Problem says in our own words what was wrong; the answer is untrusted
// text. The diff is not sent again.
func Repair(b guard.Boundary, path, problem, answer string) string {
	return fill("repair.md", "problem", problem, "path", b.Wrap("path", path), "answer", b.Wrap("answer", answer))
}

// Last returns the user turn that ends the tool calls of a conversation and asks
// for its answer.
func Last() string { return text("last.md") }

// ToolResult returns the tool turn that answers a call. Name and result are
// untrusted text: a model may name a tool that does not exist.
func ToolResult(b guard.Boundary, name, result string) string {
	return fill("tool.md", "result", b.Wrap("tool result", shorten(name)+":\n"+result))
}

// Verify returns the user turn that asks whether findings on a file hold, each
// under its ClaimID. What a finding is worth to its author, severity and
// confidence, is not shown: it says nothing about whether it is true.
func Verify(b guard.Boundary, in Input, findings []finding.Finding) string {
	claims := written(findings, func(i int, w *wire, _ finding.Finding) { w.ID = ClaimID(i) })
	blocks := append(append(about(b, in), change(b, in)...), b.Wrap("findings", claims))
	return filled("verify-user.md", in, blocks, "count", fmt.Sprint(len(findings)))
}

// ClaimID names the i-th finding of a Verify turn, from 0, in its verdict.
func ClaimID(i int) string { return fmt.Sprintf("C%d", i+1) }

// Classify returns the user turn that asks what a change is about. Of a long
// diff it shows the first hunks.
func Classify(b guard.Boundary, in Input) string {
	parts := Parts(in.Patch, maxSorted)
	in.Patch, in.Part, in.Parts = parts[0], 1, len(parts)
	return filled("classify-user.md", in, append(paths(b, in), b.Wrap("diff", Number(in.Patch))))
}

// fill puts values into an embedded text, in one pass: braces in a value stay.
func fill(name string, values ...string) string {
	for i := 0; i < len(values); i += 2 {
		values[i] = "{{" + values[i] + "}}"
	}
	return strings.NewReplacer(values...).Replace(text(name))
}

// happened says in a constant's words what became of the file: the status comes
// from outside.
func happened(in Input) string {
	switch in.Status {
	case "added", "renamed", "copied", "removed":
		return in.Status
	}
	return "modified"
}

func part(in Input) string {
	if in.Parts < 2 {
		return ""
	}
	return fmt.Sprintf(" This is part %d of %d of its change; you do not see the others.", in.Part, in.Parts)
}

// language asks for the findings' text in a language. The name is one of ours or
// of the configuration; what looks like no name is left out.
func language(name string) string {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != ' ' }
	if words := len(strings.Fields(name)); words == 0 || words > 3 || len(name) > 40 ||
		strings.ContainsFunc(name, other) || guard.Visible(name) != name {
		return ""
	}
	return " Write title and body of the findings in " + name +
		"; code, quotes, keys and their fixed values stay as they are."
}

func style(reported bool) string {
	if !reported {
		return ""
	}
	return " Report matters of style that a maintainer would have changed as well, with the category `style`, as `nit`."
}

// about is which file is meant, and what the repository wants of it.
func about(b guard.Boundary, in Input) []string { return append(paths(b, in), guidance(b, in)...) }

func paths(b guard.Boundary, in Input) []string {
	blocks := []string{b.Wrap("path", in.Path)}
	if in.OldPath != "" && in.OldPath != in.Path {
		blocks = append(blocks, b.Wrap("old path", in.OldPath))
	}
	return blocks
}

// change holds the diff last: what is judged stands next to the question.
func change(b guard.Boundary, in Input) []string {
	blocks := []string{b.Wrap("diff", Number(in.Patch))}
	if in.Context != "" {
		blocks = append([]string{b.Wrap("context", in.Context)}, blocks...)
	}
	if len(in.Pack) > 0 {
		blocks = append([]string{b.Wrap("elsewhere", pack(in.Pack))}, blocks...)
	}
	return blocks
}

type wire struct {
	ID        string       `json:"id,omitempty"`
	Path      *string      `json:"path,omitzero"`
	Side      finding.Side `json:"side"`
	StartLine int          `json:"start_line"`
	Line      int          `json:"line"`
	Quote     string       `json:"quote"`
	Title     string       `json:"title"`
	Body      string       `json:"body"`
	*weight
}

type weight struct {
	Category   string           `json:"category"`
	Severity   finding.Severity `json:"severity"`
	Confidence float64          `json:"confidence"`
	Suggestion string           `json:"suggestion"`
}

// written are findings as lines of JSON, in which no text of one can pass for another
// one; with adds to each what a question shows beside its claim.
func written(findings []finding.Finding, with func(i int, w *wire, f finding.Finding)) string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		w := wire{Side: f.Side, StartLine: f.StartLine, Line: f.Line, Quote: shorten(f.Quote), Title: f.Title,
			Body: f.Body}
		with(i, &w, f)
		line, _ := json.Marshal(w, jsontext.AllowInvalidUTF8(true)) // strings and numbers alone: it cannot fail
		lines[i] = string(line)
	}
	return strings.Join(lines, "\n")
}

// Revision is what a file's review is to be revised by: the findings that the
// draft has of the file, and what its approver wants to be different. Both are
// untrusted text: feedback may repeat what somebody wrote into the change.
type Revision struct {
	Findings []finding.Finding
	Feedback string
}

// Redraft returns the user turn that asks for all findings on a file once more, as
// its approver wants them. The system turn is that of Reviewing: the same bytes,
// and the same rules for what a finding is.
func Redraft(b guard.Boundary, in Input, r Revision) string {
	draft := written(r.Findings, func(_ int, w *wire, f finding.Finding) { // under the ids that the approver saw
		w.ID, w.weight = f.ID, &weight{f.Category, f.Severity, f.Confidence, f.Suggestion}
	})
	blocks := append(append(about(b, in), change(b, in)...), b.Wrap("draft", draft), b.Wrap("feedback", r.Feedback))
	return filled("redraft-user.md", in, blocks, "notes", notes(in.Path), "language",
		language(in.Language)+style(in.Style))
}
