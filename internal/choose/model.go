package choose

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
)

// screen is what fills the terminal.
type screen int

const (
	list screen = iota
	detail
	preview
	help
)

// model is the state of the list. It is a value: Update returns the next one,
// and View is a function of it alone.
type model struct {
	Options
	width, height int
	screen        screen
	places        int      // columns of the widest place
	cursor        int      // index of the selected finding
	scroll        int      // first visible row of a detail, a preview or the help
	changes       []change // by finding
	page          string   // the preview's text
	status        string   // result of the last key; cleared by the next key
	question      question
	choice        Choice
	ends          []string // earlier commands that end findings of earlier reviews
}

// question is what the list asks in its foot, in our own or guarded words. If answer is
// nil, nothing is asked.
type question struct {
	words  string
	typing bool // the answer is a line of text; otherwise y means yes, and any other key no
	line   line
	answer func(m model, text string) (model, tea.Cmd)
}

func newModel(o Options) model {
	m := model{Options: o, width: 80, height: 24}
	m.changes, m.ends = chosenBefore(o.Commands, o.Review)
	for _, f := range o.Review.Findings {
		m.places = max(m.places, column.Width(render.Place(f)))
	}
	return m
}

func (m model) Init() tea.Cmd { return nil }

// Update handles a key or a new size.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
	case tea.KeyMsg:
		m, cmd = m.keys(tea.Key(msg))
	}
	m.scroll = max(0, min(m.scroll, len(m.pageText())-m.space()))
	return m, cmd
}

// keys handles keys that arrive together one after the other, as over a slow line. Pasted
// text is text: it never acts as a key.
func (m model) keys(k tea.Key) (model, tea.Cmd) {
	switch {
	case k.Alt:
		return m, nil
	case k.Paste:
		if m.question.typing {
			m.question.line = m.question.line.insert(string(k.Runes))
		}
		return m, nil
	case k.Type != tea.KeyRunes:
		return m.key(k.String())
	}
	var cmd tea.Cmd
	for _, r := range k.Runes {
		if m, cmd = m.key(string(r)); cmd != nil {
			break
		}
	}
	return m, cmd
}

func (m model) key(name string) (model, tea.Cmd) {
	m.status = ""
	switch {
	case name == "ctrl+c", name == "ctrl+d":
		return m, tea.Quit
	case m.question.typing:
		return m.lineKey(name)
	case m.question.answer != nil:
		q := m.question
		m.question = question{}
		if name == "y" || name == "Y" {
			return q.answer(m, "")
		}
		return m, nil
	case m.screen != list && (name == "esc" || name == "q"):
		m.screen, m.scroll = list, 0
		return m, nil
	}
	if act := m.actions()[name]; act != nil {
		return act(m)
	}
	return m.navigate(name), nil
}

// lineKey handles a key while a line of text is typed.
func (m model) lineKey(name string) (model, tea.Cmd) {
	q := m.question
	switch {
	case name == "esc":
		m.question = question{}
	case name == "enter":
		m.question = question{}
		return q.answer(m, q.line.text())
	case len([]rune(name)) == 1:
		m.question.line = q.line.insert(name)
	default:
		m.question.line = q.line.key(name)
	}
	return m, nil
}

// navigate moves the cursor, or scrolls a page. Other keys do nothing.
func (m model) navigate(name string) model {
	at, last, page := &m.cursor, len(m.changes)-1, m.listRows()
	if m.screen != list {
		at, last, page = &m.scroll, len(m.pageText())-m.space(), m.space()
	}
	step := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "home": -last,
		"end": last, "g": -last, "G": last}[name]
	*at = max(0, min(*at+step, last))
	return m
}

func (m model) current() finding.Finding { return m.Review.Findings[m.cursor] }

// withChange returns the model with an edited change of the current finding.
func (m model) withChange(edit func(*change)) model {
	m.changes = slices.Clone(m.changes)
	edit(&m.changes[m.cursor])
	return m
}
