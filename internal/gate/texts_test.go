package gate_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/gate"
)

var update = flag.Bool("update", false, "write the golden files anew")

// texts are decisions on a draft with F1 to F5. given is the verdict beside the
// text; without one a text that does not abort or revise approves, as the
// comment of an environment's approval does.
var texts = []struct {
	text  string
	given decision.Verdict
	shown string // in place of a text that is too long to show
}{
	{text: ""},
	{text: "Looks good, thanks. See /docs for why."},
	{text: "/approve"},
	{text: "  \t/approve  "},
	{text: "/approve\r\n/drop F2 F5: known\r\n"},
	{text: "Mostly right.\n\n/drop F1\n/edit F2: Take the lock first.\n/summary F3\n/severity F4 nit\n\nThanks!"},
	{text: "/drop F1, F2,F3"},
	{text: "/drop F2: see: #31, @ada"},
	{text: "/edit F3: Close: take `book` first, then **both**."},
	{text: "/edit F3: Ask @ada, ![x](http://evil.example/x)."},
	{text: "/edit F3: one line\nand what was meant as its second"},
	{text: "/edit F2: x\n/severity F2 nit\n/summary F2"},
	{text: "\u200b/abort"},
	{text: "fine\u2028/abort"},
	{text: "```\n/drop F1\n```"},
	{text: "> /drop F1\nNo, keep that one."},
	{text: "- /drop F1"},
	{text: "/revise F1 and F2 are one; shorter"},
	{text: "/drop F1", given: decision.Approve},
	{text: "", given: decision.Abort},

	{text: "\uff0fabort"},
	{text: "\\drop F1"},
	{text: "/\u200bdrop F1"},
	{text: "/DROP F1"},
	{text: "/dorp F1"},
	{text: "/dropF2"},
	{text: "/abort: too noisy"},
	{text: "/approve now"},
	{text: "/approve\n/approve"},
	{text: "/approve\n/abort"},
	{text: "/drop F2\n/abort"},
	{text: "/abort", given: decision.Approve},
	{text: "/drop F1", given: decision.Abort},
	{text: "/revise"},
	{text: "/revise " + strings.Repeat("a", decision.MaxFeedback+1), shown: "/revise and 4,097 letters"},
	{text: "/revise shorter\n/drop F1"},
	{text: "/drop"},
	{text: "/drop F2 known"},
	{text: "/drop f2"},
	{text: "/drop F02"},
	{text: "/drop F2F3"},
	{text: "/drop F2-F5"},
	{text: "/drop F2 F2"},
	{text: "/drop F9"},
	{text: "/drop F2\n/edit F2: x"},
	{text: "/edit F3"},
	{text: "/edit F3:"},
	{text: "/edit F3 F4: x"},
	{text: "/edit F3\uff1a x"},
	{text: "/severity F4 huge"},
	{text: "/severity F4 F5 nit"},
	{text: "/drop\n/nope\n/approve"},
	{text: strings.Repeat("a", 64<<10+1), shown: "65,537 letters"},
}

const page = "../../.github/DECIDING.md"

// TestCheck11_EveryTextComesToWhatTheTableSays holds the table of the page about
// deciding against the parser.
func TestCheck11_EveryTextComesToWhatTheTableSays(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(texts), 40)
	var b strings.Builder
	b.WriteString("| text | comes to |\n|---|---|\n")
	for _, c := range texts {
		shown := c.shown
		if shown == "" {
			shown = visible(c.text)
		}
		if c.given != "" {
			shown += ", `decision: " + string(c.given) + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", shown, outcome(t, c.text, c.given))
	}
	whole, err := os.ReadFile(filepath.FromSlash(page))
	require.NoError(t, err)
	const from, to = "<!-- texts -->\n", "<!-- end of texts -->\n"
	before, rest, found := strings.Cut(string(whole), from)
	require.True(t, found)
	was, behind, found := strings.Cut(rest, to)
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(filepath.FromSlash(page), []byte(before+from+b.String()+to+behind), 0o644))
		return
	}
	require.Equal(t, was, b.String(), "run go test ./internal/gate -update")
}

// visible is a text as code in a cell of a table, with what has no width or ends
// a line written out.
func visible(text string) string {
	if text == "" {
		return "nothing"
	}
	text = strings.NewReplacer("\r", `\r`, "\n", `\n`, "\t", `\t`, "\u200b", `\u200b`, "\u2028", `\u2028`).Replace(text)
	if strings.Contains(text, "`") {
		return "```` " + text + " ````"
	}
	return "`` " + text + " ``"
}

// outcome is what a text comes to, in one cell.
func outcome(t *testing.T, text string, given decision.Verdict) string {
	t.Helper()
	d, err := gate.Decide(text, given, decision.Approve, []string{"F1", "F2", "F3", "F4", "F5"}, until)
	var bad *decision.Error
	if errors.As(err, &bad) {
		require.Zero(t, d)
		var reasons []string
		for _, l := range bad.Lines {
			where := fmt.Sprintf("line %d: ", l.Line)
			if l.Line == 0 {
				where = ""
			}
			reasons = append(reasons, where+l.Reason)
		}
		return "refused: " + strings.Join(reasons, "<br>")
	}
	require.NoError(t, err)
	require.NotEmpty(t, d.Verdict)
	parts := []string{"**" + string(d.Verdict) + "**"}
	for _, x := range d.Drop {
		parts = append(parts, "drops "+x.ID+because(x.Reason))
	}
	for _, e := range d.Edit {
		parts = append(parts, e.ID+" says "+visible(e.Body))
	}
	for _, m := range d.Move {
		parts = append(parts, m.ID+" goes into the body"+because(m.Reason))
	}
	for _, s := range d.Severity {
		parts = append(parts, s.ID+" becomes "+string(s.Severity))
	}
	if d.Feedback != "" {
		parts = append(parts, "redrafts for "+visible(d.Feedback))
	}
	if d.Note != "" {
		parts = append(parts, "note "+visible(d.Note))
	}
	return strings.Join(parts, "; ")
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ", since " + visible(reason)
}

func TestP12_RevisingIsRefusedWithTheDispatchThatDoesIt(t *testing.T) {
	t.Parallel()
	const line = "gh workflow run pr-review.yml --repo octo/demo -f pull-request=42 -f code=3f9c2a71be04d855 -f feedback='be kinder'"
	err := gate.RefuseRevise(line)
	var r *checkpoint.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, 11, r.Check)
	require.Equal(t, "/revise needs a model, and the job that decides has none: nothing was posted\n  draft   still waits, unchanged\n  next    "+line, err.Error())
}
