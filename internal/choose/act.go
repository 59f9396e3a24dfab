package choose

import (
	"maps"
	"regexp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// action is what a key does to the list.
type action func(m model) (model, tea.Cmd)

// actions returns the actions of the current screen, by key.
func (m model) actions() map[string]action {
	all := map[string]action{"a": model.approve, "x": model.abort, "p": model.preview, "q": model.leave,
		"esc": model.askLeave, "?": model.help}
	if m.revisable() {
		all["r"] = model.revise
	}
	if len(m.changes) == 0 || m.screen == preview || m.screen == help {
		return all // no finding is selected
	}
	ofFinding := map[string]action{"d": unlessDropped(model.drop), "e": unlessDropped(model.edit),
		"m": unlessDropped(model.toBody), "s": unlessDropped(model.regrade),
		"u": model.undo, "n": moveBy(1), "b": moveBy(-1), "enter": model.open, " ": model.open}
	maps.Copy(all, ofFinding)
	return all
}

// open toggles between the list and the finding in full.
func (m model) open() (model, tea.Cmd) {
	if m.scroll = 0; m.screen == list {
		m.screen = detail
	} else {
		m.screen = list
	}
	return m, nil
}

// moveBy moves to another finding, also while one is shown in full.
func moveBy(step int) action {
	return func(m model) (model, tea.Cmd) {
		m.scroll, m.cursor = 0, max(0, min(m.cursor+step, len(m.changes)-1))
		return m, nil
	}
}

func (m model) help() (model, tea.Cmd) {
	m.screen, m.scroll = help, 0
	return m, nil
}

// unlessDropped wraps an action so that it refuses to change a dropped finding.
func unlessDropped(act action) action {
	return func(m model) (model, tea.Cmd) {
		if m.changes[m.cursor].dropped {
			m.status = m.current().ID + " is dropped; u takes it back."
			return m, nil
		}
		return act(m)
	}
}

func (m model) drop() (model, tea.Cmd) {
	m.question = question{words: "Why drop " + m.current().ID + "? Enter without text gives no reason.", typing: true,
		answer: func(m model, reason string) (model, tea.Cmd) {
			return m.withChange(func(c *change) { c.dropped, c.reason = true, reason }), nil
		}}
	return m, nil
}

func (m model) edit() (model, tea.Cmd) {
	f, text := m.current(), m.changes[m.cursor].body
	words := "New text of " + f.ID + ":"
	if text == "" {
		text = oneLine(f.Body)
		if breaks := strings.Count(strings.TrimSpace(f.Body), "\n"); breaks > 0 {
			words = "New text of " + f.ID + ", its " + wording.Count(breaks+1, "line") + " joined into one:"
		}
	}
	if len(text) > maxTyped {
		m.status = "The text of " + f.ID + " is too long to be edited here."
		return m, nil
	}
	start := newLine(text)
	m.question = question{words: words, typing: true, line: start, answer: func(m model, text string) (model, tea.Cmd) {
		if text == "" || text == start.text() {
			m.status = "The text of " + f.ID + " stays as it was."
			return m, nil
		}
		return m.withChange(func(c *change) { c.body = text }), nil
	}}
	return m, nil
}

func (m model) toBody() (model, tea.Cmd) {
	if m.current().Placement == finding.Body {
		m.status = m.current().ID + " is already in the review's summary."
		return m, nil
	}
	return m.withChange(func(c *change) { c.moved = !c.moved }), nil
}

func (m model) regrade() (model, tea.Cmd) {
	f := m.current()
	return m.withChange(func(c *change) {
		if c.severity = next(c.severityAfter(f)); c.severity == f.Severity {
			c.severity = ""
		}
	}), nil
}

func (m model) undo() (model, tea.Cmd) {
	if m.changes[m.cursor] == (change{}) {
		m.status = "Nothing of " + m.current().ID + " was changed."
		return m, nil
	}
	return m.withChange(func(c *change) { *c = change{} }), nil
}

// renderDecision returns the decision's text so far and the review that it makes.
func (m model) renderDecision() (text, page string, err error) {
	if text, err = m.text(decision.Approve, ""); err == nil && m.Preview != nil {
		page, err = m.Preview(text)
	}
	return text, page, err
}

func (m model) showError(err error) (model, tea.Cmd) {
	m.status = guard.Line(err.Error(), statusRunes)
	return m, nil
}

func (m model) preview() (model, tea.Cmd) {
	_, page, err := m.renderDecision()
	if err != nil {
		return m.showError(err)
	}
	m.screen, m.scroll, m.page = preview, 0, m.removeLinks(page)
	return m, nil
}

func (m model) approve() (model, tea.Cmd) {
	text, page, err := m.renderDecision()
	if err != nil {
		return m.showError(err)
	}
	m.question = question{words: sentence("Post this review?", m.verdict(page), tally(m.changes),
		"y posts it, any other key goes back."), answer: func(m model, _ string) (model, tea.Cmd) {
		m.choice = Choice{decision.Approve, text}
		return m, tea.Quit
	}}
	return m, nil
}

func (m model) abort() (model, tea.Cmd) {
	m.question = question{words: "Reject the draft? Nothing is posted, and it cannot be decided again. y rejects " +
		"it, any other key goes back.", answer: func(m model, _ string) (model, tea.Cmd) {
		return m.decide(decision.Abort, "")
	}}
	return m, nil
}

func (m model) revise() (model, tea.Cmd) {
	words := "What should the next draft do differently? " + wording.Count(m.Rounds, "revision") + " left."
	if t := tally(m.changes); t != "" {
		words += " What you changed here (" + t + ") does not go into it."
	}
	m.question = question{words: words, typing: true, answer: func(m model, feedback string) (model, tea.Cmd) {
		if feedback == "" {
			return m, nil
		}
		return m.decide(decision.Revise, feedback)
	}}
	return m, nil
}

// decide quits with a verdict that changes no single finding.
func (m model) decide(v decision.Verdict, feedback string) (model, tea.Cmd) {
	text, err := m.text(v, feedback)
	if err != nil {
		return m.showError(err)
	}
	m.choice = Choice{v, text}
	return m, tea.Quit
}

// leave quits without a verdict, and asks first if something was changed.
func (m model) leave() (model, tea.Cmd) {
	if tally(m.changes) == "" {
		return m, tea.Quit
	}
	return m.askLeave()
}

// askLeave always asks first: an arrow key that arrives in pieces begins as esc.
func (m model) askLeave() (model, tea.Cmd) {
	how := "y leaves, any other key goes back."
	t := tally(m.changes)
	if t != "" {
		how = "y leaves and prints the command with these changes, any other key goes back."
	}
	m.question = question{words: sentence("Decide later?", t, how), answer: func(m model, _ string) (model, tea.Cmd) {
		return m, tea.Quit
	}}
	return m, nil
}

// sentence joins a question, facts and the keys that answer it.
func sentence(ask string, rest ...string) string {
	for _, part := range rest {
		if part != "" {
			ask += " " + strings.TrimSuffix(part, ".") + "."
		}
	}
	return ask
}

// removeLinks removes the addresses of our own links, which lead into the repository, from
// Markdown. Text from outside contains no links.
func (m model) removeLinks(page string) string {
	if m.Review.Web == "" {
		return page
	}
	ours := regexp.MustCompile(`\[([^\]\n]*)\]\(` + regexp.QuoteMeta(m.Review.Web) + `/[^)\s]*\)`)
	return ours.ReplaceAllString(page, "$1")
}

// verdict returns the first line of a review without its Markdown.
func (m model) verdict(page string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(m.removeLinks(page), "\n"), "\n")
	return guard.Line(strings.NewReplacer("*", "", "`", "").Replace(first), statusRunes)
}

// keyHelp describes a key: its short form for the last row, its names, and what it does.
type keyHelp struct{ short, key, means string }

// allKeys lists the keys, most useful first: the last row has room for only some.
var allKeys = []keyHelp{
	{"", "up down j k", "another finding, or scroll; also page up and down, home, end"},
	{"[a]pprove", "a", "post it, after a question: /approve"},
	{"[d]rop", "d", "leave the finding out: /drop F2: reason"},
	{"[e]dit", "e", "rewrite its text: /edit F2: NEW TEXT"},
	{"[q]later", "q esc ctrl-c", "decide later; your changes are printed as a command"},
	{"[?]help", "?", "this page; esc goes back"},
	{"[m]ove", "m", "into the review's summary, or back: /summary F2"},
	{"[x]abort", "x", "reject the draft, after a question: /abort"},
	{"[p]review", "p", "the review as it would be posted"},
	{"[s]everity", "s", "the next lower severity, after nit blocker: /severity F2 minor"},
	{"[enter]", "enter space", "the finding in full; n and b: the next one, the one before"},
	{"[u]ndo", "u", "the finding as it was drafted"},
	{"[r]evise", "r", "have it drafted again with your feedback: /revise TEXT"},
}

func (m model) revisable() bool { return m.CanRevise && m.Rounds > 0 }

func (m model) helpRows() (rows []string) {
	const gap = 14
	for _, k := range allKeys {
		name := k.key
		if name == "r" && !m.revisable() {
			continue
		}
		for _, row := range column.Wrap(k.means, m.width-gap-1) {
			rows = append(rows, column.Cut(column.Pad(name, gap)+row, m.width))
			name = ""
		}
	}
	return append(append(rows, ""), m.prose("Each command can be given without this list: --command \"/drop F2\" "+
		"--approve.")...)
}

// keyRow returns the last row: the keys that work now, as many as fit.
func (m model) keyRow() string {
	switch {
	case m.question.typing:
		return column.Cut("[enter] done  [esc] back  [ctrl-u] clear", m.width)
	case m.question.answer != nil:
		return column.Cut("[y]es  any other key: back", m.width)
	case m.screen == preview || m.screen == help:
		return column.Cut("[esc] back  up down page: scroll  [a]pprove", m.width)
	}
	row := map[bool]string{true: " [n]ext"}[m.screen == detail]
	actions := m.actions()
	for _, k := range allKeys {
		if m.width < 40 { // the letters alone
			k.short = k.short[:min(3, len(k.short))]
		}
		works := actions[strings.Fields(k.key)[0]] != nil
		if works && k.short != "" && len(row)+len(k.short) <= m.width {
			row += " " + k.short
		}
	}
	return column.Cut(strings.TrimPrefix(row, " "), m.width)
}
