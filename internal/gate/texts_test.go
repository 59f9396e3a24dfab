package gate_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/problem"
)

var update = flag.Bool("update", false, "write the golden files anew")

// texts are decisions on a draft with F1 to F5. given is the verdict next to the
// text; without one a text that does not abort or revise approves, as the
// comment of an environment's approval does.
var texts = []struct {
	text  string
	given decision.Verdict
	shown string // in place of a text that is too long to show
	input bool   // the text is the input commands
}{
	// What is clear.
	{text: ""},
	{text: "Looks good, thanks. See /docs for why."},
	{text: "approve"},
	{text: "LGTM 👍"},
	{text: "+1"},
	{text: "No issues, great catch on the overflow!"},
	{text: "Sieht gut aus, danke!"},
	{text: "Ça me va, merci."},
	{text: "Todo bien, adelante."},
	{text: "問題ありません。"},
	{text: "没问题，谢谢"},
	{text: "Всё хорошо, спасибо"},
	{text: "See https://example.org/F1/drop?x=F2, ./F1/notes and docs/F1/notes, not F1.md."},
	{text: "Why is a float wrong here? Just curious."},
	{text: "The unstoppable retry is dropped elsewhere, fine."},
	{text: "Approved by @f1-team, ask f2@example.org."},
	{text: "Good overall but slow; leave outdated docs alone."},
	{text: "Nice read of PDF1, UTF-8 and 0xF1."},
	{text: "/approve"},
	{text: "  \t/approve  "},
	{text: "/Approve."},
	{text: "/approve\n/approve"},
	{text: "/approve\r\n/drop F2 F5: known\r\n"},
	{text: "Mostly right.\n\n/drop F2\n/edit F3: Take the lock first.\n/summary F4\n/severity F5 minor\n\nThanks!"},
	{text: "/drop F1, F2,F3"},
	{text: "/drop F2: see: #31, @ada"},
	{text: "/drop F2 because it is known"},
	{text: "/drop F2 (known)"},
	{text: "/Drop f2 and f3 & F4 + F5."},
	{text: "/DROP F2、F3"},
	{text: "/drop Ｆ２：既知"},
	{text: "/drop `F2` “F3” （既知）"},
	{text: "/drop f2-f4"},
	{text: "/drop F2 – F3: same as last week"},
	{text: "/drop F1 F1-F3"},
	{text: "/drop minor"},
	{text: "/drop Nits."},
	{text: "/drop major: not now"},
	{text: "/drop docs/"},
	{text: "/drop *.md Makefile"},
	{text: "/keep F3"},
	{text: "/keep F3-F5"},
	{text: "/keep F2\n/keep F3"},
	{text: "/drop F2: wrong\n/keep F1 F3"},
	{text: "/severity f3 NIT."},
	{text: "/edit f3: one line\nand what was meant as its second"},
	{text: "/edit F3： 先にロック"},
	{text: "/edit F3: Ask @ada, ![x](http://evil.example/x)."},
	{text: "/edit F3: `/drop` stands in the text"},
	{text: "/edit F2: x\n/severity F2 nit\n/summary F2"},
	{text: "\u200b/abort"},
	{text: "fine\u2028/abort"},
	{text: "/abort:too noisy"},
	{text: "/abort because the tests are red"},
	{text: "```\n/drop F2\n```"},
	{text: "```text\n/drop F2\n```\nThanks"},
	{text: "/revise F1 and F2 are one; shorter"},
	{text: "/drop F2", given: decision.Approve},
	{text: "", given: decision.Abort},
	{text: "/drop F2 F3", input: true},
	{text: "/edit F3: better text /drop F2", input: true},
	{text: "/drop F2: known /severity F3 nit /approve", input: true},
	{text: "/edit F3: write `/drop` in code /drop F2", input: true},
	{text: "/edit F3: say /drop twice\n\n/drop F2", input: true},
	{text: "```\n/drop F2\n```", input: true},

	// What could be meant as a command.
	{text: "- /drop F1"},
	{text: "1. /drop F1"},
	{text: "* [ ] /abort"},
	{text: "• /drop F2"},
	{text: "`/drop F1`"},
	{text: "> /drop F1\nNo, keep that one."},
	{text: "**/abort**"},
	{text: "“/drop F2”"},
	{text: "> #### F1 · blocker · `ledger/transfer.go`"},
	{text: "| F2 | major |"},
	{text: "```/drop F2```"},
	{text: "Fine, but /drop F2"},
	{text: "Thanks! /abort"},
	{text: "请/abort"},
	{text: "Drop F1, F3-F4 and docs/**: known"},
	{text: "drop/F2"},
	{text: "Post everything but the second"},
	{text: "drop the second one"},
	{text: "drop minor"},
	{text: "Reject"},
	{text: "Abort, please"},
	{text: "Wait for CI…"},
	{text: "Hold on"},
	{text: "stop!"},
	{text: "Revise: shorter"},
	{text: "severity minor for all"},
	{text: "edit O1: Adds a cache."},
	{text: "- /dropF2"},
	{text: "No."},
	{text: "Nein!"},
	{text: "нет"},
	{text: "不。"},
	{text: "edit F3: Take the lock first."},
	{text: "keep F1 F2"},
	{text: "F1 is a false positive"},
	{text: "f2 isn’t true, rest ok"},
	{text: "F9 is good"},
	{text: "F1/F2 sind falsch"},
	{text: "F1は不要です"},
	{text: "F2 不对，其余可以"},
	{text: "Ф2 убрать"},
	{text: "F1-F2 weglassen, Rest passt"},
	{text: "Tout sauf F3"},
	{text: "Todo menos F2, gracias"},
	{text: "Tudo menos o F2"},
	{text: "All good except _F4_ (see src/a.go)"},
	{text: "do not post"},
	{text: "Please don’t post this yet."},
	{text: "DON'T PUBLISH"},
	{text: "Bitte nicht veröffentlichen"},
	{text: "Ne publiez pas, merci"},
	{text: "No publicar todavía"},
	{text: "Não publique ainda"},
	{text: "不要发布"},
	{text: "まだ投稿しないでください"},
	{text: "Пока не публикуй"},
	{text: "게시하지 마세요"},
	{text: "/approve\nBut do not send it before Monday"},
	{text: "\uff0fabort"},
	{text: "／drop F1"},
	{text: "\\drop F1"},
	{text: "commands: drop F2", input: true},
	{text: "drop F2", input: true},
	{text: "Thanks", input: true},
	{text: "/drop F2\nThanks", input: true},
	{text: "/edit F3: use /drop in your code /drop F2", input: true},
	{text: "/drop F2 /approve now", input: true},

	// What no draft or no command fits.
	{text: "/\u200bdrop F1"},
	{text: "/ drop F2"},
	{text: "/dorp F1"},
	{text: "/remove F2"},
	{text: "/drop F2: known /drop F3"},
	{text: "/edit F3: better text /abort"},
	{text: "/dropF2"},
	{text: "/drop:F2 F3"},
	{text: "/docs/notes.md is good"},
	{text: "/approve now"},
	{text: "/approve except F2"},
	{text: "/abort F2"},
	{text: "/approve\n/abort"},
	{text: "/drop F2\n/abort"},
	{text: "/abort", given: decision.Approve},
	{text: "/drop F1", given: decision.Abort},
	{text: "/revise"},
	{text: "/revise " + strings.Repeat("a", decision.MaxFeedback+1), shown: "/revise and 4,097 letters"},
	{text: "/revise shorter\n/drop F1"},
	{text: "/drop"},
	{text: "/drop F2 known"},
	{text: "/drop F2 — false positive"},
	{text: "/drop F2 und F3"},
	{text: "/drop F2 bis F4"},
	{text: "/drop F02"},
	{text: "/drop 2"},
	{text: "/drop F2F3"},
	{text: "/drop F2 F2"},
	{text: "/drop F9"},
	{text: "/drop F9 known"},
	{text: "/drop F2-F9"},
	{text: "/drop all"},
	{text: "/drop blocker"},
	{text: "/drop ledger/*"},
	{text: "/drop src/**"},
	{text: "/keep minor"},
	{text: "/drop F2\n/edit F2: x"},
	{text: "/drop minor\n/severity F5 major"},
	{text: "/keep F2\n/edit F3: x"},
	{text: "/keep F2\n/drop F2-F3"},
	{text: "/edit F3"},
	{text: "/edit F3 Take the lock first."},
	{text: "/edit F2:"},
	{text: "/edit F3 F4: x"},
	{text: "/edit F3: ```go\nx()\n```\n/drop F2"},
	{text: "/severity F4 huge"},
	{text: "/severity F4 F5 nit"},
	{text: "/severity F4 to nit"},
	{text: "/drop\n/nope\n/approve"},
	{text: strings.Repeat("a", 64<<10+1), shown: "65,537 letters"},
}

// draft is a draft as its findings are shown: most severe first.
func draft() []finding.Finding {
	return []finding.Finding{
		{ID: "F1", Severity: finding.Blocker, Path: "ledger/transfer.go"},
		{ID: "F2", Severity: finding.Major, Path: "api/handler.go"},
		{ID: "F3", Severity: finding.Major, Path: "api/handler.go"},
		{ID: "F4", Severity: finding.Minor, Path: "docs/setup.md"},
		{ID: "F5", Severity: finding.Nit, Path: "build/Makefile"},
	}
}

const page = "../../.github/DECIDING.md"

// TestCheck11_EveryTextComesToWhatTheTableSays holds the table of the page about
// deciding against the parser.
func TestCheck11_EveryTextComesToWhatTheTableSays(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(texts), 120)
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
		if c.input {
			shown += ", in `commands`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", shown, outcome(t, c.text, c.given, c.input))
	}
	holdsPage(t, "texts", b.String())
}

// TestCheck11_ThePageListsThePhrasesThatAreNoNote holds the closed list.
func TestCheck11_ThePageListsThePhrasesThatAreNoNote(t *testing.T) {
	t.Parallel()
	for _, p := range decision.Phrases() {
		require.Contains(t, outcome(t, "Well, "+p+"!", "", false), "refused", p)
	}
	holdsPage(t, "phrases", strings.Join(decision.Phrases(), " · ")+"\n")
}

var onePage sync.Mutex

// holdsPage compares a part of the page with what it should be, or rewrites it.
func holdsPage(t *testing.T, part, want string) {
	t.Helper()
	onePage.Lock()
	defer onePage.Unlock()
	whole, err := os.ReadFile(filepath.FromSlash(page))
	require.NoError(t, err)
	from, to := "<!-- "+part+" -->\n", "<!-- end of "+part+" -->\n"
	before, rest, found := strings.Cut(string(whole), from)
	require.True(t, found)
	was, behind, found := strings.Cut(rest, to)
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(filepath.FromSlash(page), []byte(before+from+want+to+behind), 0o644))
		return
	}
	require.Equal(t, was, want, "run go test ./internal/gate -update")
}

// visible is a text as code in a cell of a table, with what has no width or ends
// a line written out.
func visible(text string) string {
	if text == "" {
		return "nothing"
	}
	text = strings.NewReplacer("|", `\|`, "\r", `\r`, "\n", `\n`, "\t", `\t`, "\u200b", `\u200b`, "\u2028",
		`\u2028`).Replace(text)
	if strings.Contains(text, "`") {
		return "```` " + text + " ````"
	}
	return "`` " + text + " ``"
}

// outcome returns the result of parsing a text, as one cell.
func outcome(t *testing.T, text string, given decision.Verdict, input bool) string {
	t.Helper()
	var d decision.Decision
	var err error
	if input {
		text, err = decision.Commands(text)
	}
	if err == nil {
		d, err = gate.Decide(text, given, decision.Approve, finding.Items(draft()), until)
	}
	var bad *decision.Error
	if errors.As(err, &bad) {
		require.Zero(t, d)
		var reasons []string
		for _, l := range bad.Lines {
			where := fmt.Sprintf("line %d: ", l.Line)
			if l.Line == 0 {
				where = ""
			}
			if l.Meant != "" {
				l.Reason += "; did you mean " + visible(l.Meant) + "?"
			}
			reasons = append(reasons, where+l.Reason)
		}
		return "refused: " + strings.Join(reasons, "<br>")
	}
	require.NoError(t, err)
	require.NotEmpty(t, d.Verdict)
	parts := []string{"**" + string(d.Verdict) + "**"}
	for _, x := range d.Drop {
		how := " by " + string(x.How)
		if x.How == decision.ByID {
			how = ""
		}
		parts = append(parts, "drops "+x.ID+how+because(x.Reason))
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
	const line = "gh workflow run pr-review.yml --repo octo/demo -f pull-request=42 -f code=3f9c2a71be04d855 -f " +
		"feedback='be kinder'"
	err := gate.RefuseRevise(line)
	var r *problem.Error
	require.ErrorAs(t, err, &r)
	require.Equal(t, 11, r.Check)
	require.Equal(t, "/revise needs a model, and the job that decides has none: nothing was posted\n  draft   still "+
		"waits, unchanged\n  next    "+line, err.Error())
}
