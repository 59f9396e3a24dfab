package choose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

// twelve is a change with twelve findings, most severe first.
func twelve() render.Review {
	r := render.Review{Name: "#42", Title: "Retry payments that time out",
		Head: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", Web: "https://github.com/org/payments"}
	for _, f := range []finding.Finding{
		found("F1", finding.Blocker, "ledger/transfer.go", 41, "A failed debit still credits the receiver",
			"`Debit` returns an error that nobody looks at before `Credit` runs, so a transfer from an empty "+
				"account creates money."),
		found("F2", finding.Major, "ledger/close.go", 88, "Locks are taken in the opposite order of Transfer",
			"`Close` takes `mu` before `book`, `Transfer` takes `book` before `mu`; both at once stop each other."),
		found("F3", finding.Major, "api/handler.go", 27, "The amount is read as a float",
			"0.1 + 0.2 cents do not survive `ParseFloat`; the ledger counts in `int64`."),
		found("F4", finding.Major, "retry/policy.go", 19, "A payment is sent again after it succeeded",
			"The timer is not stopped when the answer arrives."),
		found("F5", finding.Minor, "ledger/report.go", 15, "The error text names the wrong account",
			"`from` is printed where the failing account is `to`."),
		found("F6", finding.Minor, "retry/policy.go", 44, "The wait between tries has no upper limit",
			"It doubles each time; the ninth try waits for four hours."),
		found("F7", finding.Minor, "api/handler_test.go", 102, "The test passes when nothing is sent",
			"The fake server's count is compared with itself."),
		found("F8", finding.Minor, "cmd/worker/main.go", 63, "Workers are not awaited at the end",
			"`main` returns while a payment is under way."),
		found("F9", finding.Minor, "docs/setup.md", 12, "The variable is called PAYMENT_RETRIES",
			"The code reads `RETRY_LIMIT`."),
		found("F10", finding.Nit, "retry/clock.go", 8, "The type could be unexported",
			"Nothing outside of `retry` uses it."),
		found("F11", finding.Nit, "ledger/close.go", 90, "The lock could be released by defer",
			"There are three returns behind it."),
		found("F12", finding.Nit, "api/routes.go", 31, "The comment repeats the code",
			"It says what the line below says."),
	} {
		r.Files = append(r.Files, finding.FileReview{Path: f.Path, State: finding.Reviewed})
		r.Findings = append(r.Findings, f)
	}
	r.Findings[0].Suggestion = "\tif err := l.Debit(from, amount); err != nil {\n\t\treturn err\n\t}\n"
	r.Hunks = func(path string) []diff.Hunk {
		if path != "ledger/transfer.go" {
			return nil
		}
		return []diff.Hunk{{Lines: []diff.Line{{Op: diff.Add, New: 41, Text: "\tl.Debit(from, amount)"}}}}
	}
	return r
}

func found(id string, s finding.Severity, path string, line int, title, body string) finding.Finding {
	return finding.Finding{ID: id, Severity: s, Path: path, Side: finding.Right, StartLine: line, Line: line,
		Title: title, Body: body,
		Confidence: 0.8, Source: finding.Model, Placement: finding.Inline}
}

func options(r render.Review) Options {
	return Options{Review: r, Expires: time.Date(2026, 12, 5, 14, 10, 0, 0, time.UTC), CanRevise: true, Rounds: 3,
		Preview: func(text string) (string, error) {
			d, err := decision.Parse(text)
			return posted(r, finding.Kept(finding.Apply(d, r.Findings))), err
		}}
}

// posted stands in for the review's Markdown, so that no screen here changes with it.
func posted(r render.Review, kept []finding.Finding) string {
	page := fmt.Sprintf("**%s** · %s reviewed at [`%.7s`](%s/commit/%s)\n", finding.Counts(kept),
		wording.Count(len(r.Files), "file"), r.Head, r.Web, r.Head)
	for _, f := range kept {
		page += fmt.Sprintf("\n- **%s** [`%s:%d`](%s/blob/%s/%s#L%d) %s", f.Severity, f.Path, f.Line, r.Web, r.Head,
			f.Path, f.Line, f.Title)
	}
	return page
}

var special = map[string]tea.KeyType{
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"home": tea.KeyHome, "end": tea.KeyEnd,
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	"space":  tea.KeySpace,
	"ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+h": tea.KeyCtrlH, "ctrl+u": tea.KeyCtrlU,
}

// press presses keys: names of special ones, and text, rune by rune. over
// reports that the list has ended.
func press(t *testing.T, m model, keys ...string) (after model, over bool) {
	t.Helper()
	send := func(msg tea.Msg) {
		require.False(t, over, "a key after the end")
		next, cmd := m.Update(msg)
		m, over = next.(model), cmd != nil
	}
	for _, k := range keys {
		if kind, ok := special[k]; ok {
			send(tea.KeyMsg{Type: kind})
			continue
		}
		for _, r := range k {
			send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
		}
	}
	return m, over
}

func sized(o Options, width, height int) model {
	m, _ := newModel(o).Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m.(model)
}

// keysOf reads "j j d known enter": words that name no key are typed, with _ for
// a space.
func keysOf(s string) []string {
	keys := strings.Fields(s)
	for i, k := range keys {
		keys[i] = strings.ReplaceAll(k, "_", " ")
	}
	return keys
}
