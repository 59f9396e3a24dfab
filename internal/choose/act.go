package choose

import (
	"regexp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
)

// action is what a key does.
type action func(m model) (model, tea.Cmd)

// actions are the keys that do something on the present screen.
func (m model) actions() map[string]action {
	all := map[string]action{"a": model.approve, "x": model.abort, "p": model.preview, "q": model.leave,
		"esc": model.askLeave, "?": model.help}
	if m.revisable() {
		all["r"] = model.revise
	}
	if len(m.changes) == 0 || m.screen == preview || m.screen == help {
		return all // no finding is at hand
	}
	for name, act := range map[string]action{"d": model.drop, "e": model.edit, "m": model.toBody, "s": model.regrade,
		"u": model.undo, "n": model.following, "b": model.preceding} {
		all[name] = act
	}
	for _, name := range []string{"enter", " "} {
		all[name] = model.open
	}
	return all
}

func (m model) open() (model, tea.Cmd) {
	m.scroll, m.screen = 0, map[screen]screen{list: detail}[m.screen]
	return m, nil
}

func (m model) following() (model, tea.Cmd) { return m.beside(1), nil }
func (m model) preceding() (model, tea.Cmd) { return m.beside(-1), nil }

func (m model) beside(step int) model {
	m.scroll, m.cursor = 0, max(0, min(m.cursor+step, len(m.changes)-1))
	return m
}

func (m model) help() (model, tea.Cmd) {
	m.screen, m.scroll = help, 0
	return m, nil
}

// refusesDropped says that a dropped finding takes no other change.
func (m model) refusesDropped() (model, bool) {
	if m.changes[m.cursor].dropped {
		m.status = m.current().ID + " is dropped; u takes it back."
		return m, true
	}
	return m, false
}

func (m model) drop() (model, tea.Cmd) {
	if m, no := m.refusesDropped(); no {
		return m, nil
	}
	m.question = question{words: "Why drop " + m.current().ID + "? Enter alone gives no reason.", typing: true,
		answer: func(m model, reason string) (model, tea.Cmd) {
			return m.changed(func(c *change) { c.dropped, c.reason = true, reason }), nil
		}}
	return m, nil
}

func (m model) edit() (model, tea.Cmd) {
	if m, no := m.refusesDropped(); no {
		return m, nil
	}
	f, text := m.current(), m.changes[m.cursor].body
	words := "New text of " + f.ID + ":"
	if text == "" {
		text = oneLine(f.Body)
		if breaks := strings.Count(strings.TrimSpace(f.Body), "\n"); breaks > 0 {
			words = "New text of " + f.ID + ", its " + render.Count(breaks+1, "line") + " joined into one:"
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
		return m.changed(func(c *change) { c.body = text }), nil
	}}
	return m, nil
}

func (m model) toBody() (model, tea.Cmd) {
	if m, no := m.refusesDropped(); no {
		return m, nil
	}
	if m.current().Placement == finding.Body {
		m.status = m.current().ID + " stands in the review's summary already."
		return m, nil
	}
	return m.changed(func(c *change) { c.moved = !c.moved }), nil
}

func (m model) regrade() (model, tea.Cmd) {
	if m, no := m.refusesDropped(); no {
		return m, nil
	}
	f := m.current()
	return m.changed(func(c *change) {
		if c.severity = next(c.graded(f)); c.severity == f.Severity {
			c.severity = ""
		}
	}), nil
}

func (m model) undo() (model, tea.Cmd) {
	if m.changes[m.cursor] == (change{}) {
		m.status = "Nothing of " + m.current().ID + " was changed."
		return m, nil
	}
	return m.changed(func(c *change) { *c = change{} }), nil
}

// rendered is the text of the decision so far and the review it makes.
func (m model) rendered() (text, page string, err error) {
	if text, err = m.text(decision.Approve, ""); err == nil && m.Preview != nil {
		page, err = m.Preview(text)
	}
	return text, page, err
}

func (m model) preview() (model, tea.Cmd) {
	_, page, err := m.rendered()
	if err != nil {
		m.status = guard.Line(err.Error(), statusRunes)
		return m, nil
	}
	m.screen, m.scroll, m.page = preview, 0, m.unlinked(page)
	return m, nil
}

func (m model) approve() (model, tea.Cmd) {
	text, page, err := m.rendered()
	if err != nil {
		m.status = guard.Line(err.Error(), statusRunes)
		return m, nil
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
		return m.decided(decision.Abort, "")
	}}
	return m, nil
}

func (m model) revise() (model, tea.Cmd) {
	words := "What should the next draft do differently? " + render.Count(m.Rounds, "revision") + " left."
	if t := tally(m.changes); t != "" {
		words += " What you changed here (" + t + ") does not go into it."
	}
	m.question = question{words: words, typing: true, answer: func(m model, feedback string) (model, tea.Cmd) {
		if feedback == "" {
			return m, nil
		}
		return m.decided(decision.Revise, feedback)
	}}
	return m, nil
}

// decided leaves with a verdict that changes no single finding.
func (m model) decided(v decision.Verdict, feedback string) (model, tea.Cmd) {
	text, err := m.text(v, feedback)
	if err != nil {
		m.status = guard.Line(err.Error(), statusRunes)
		return m, nil
	}
	m.choice = Choice{v, text}
	return m, tea.Quit
}

// leave puts the decision off, after a question where something was changed.
func (m model) leave() (model, tea.Cmd) {
	if tally(m.changes) == "" {
		return m, tea.Quit
	}
	return m.askLeave()
}

// askLeave asks in any case: an arrow key that arrives in pieces begins as esc.
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

// unlinked is Markdown without the addresses of the links that we made, which
// lead into the repository. Text from outside holds no link.
func (m model) unlinked(page string) string {
	if m.Review.Web == "" {
		return page
	}
	ours := regexp.MustCompile(`\[([^\]\n]*)\]\(` + regexp.QuoteMeta(m.Review.Web) + `/[^)\s]*\)`)
	return ours.ReplaceAllString(page, "$1")
}

// verdict is the first line of a review without its Markdown.
func (m model) verdict(page string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(m.unlinked(page), "\n"), "\n")
	return guard.Line(strings.NewReplacer("*", "", "`", "").Replace(first), statusRunes)
}
