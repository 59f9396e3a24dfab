package choose

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/column"
)

// keyed is a key, its short form for the last row, and what it does.
type keyed struct{ short, key, means string }

// allKeys are the keys, the most needed ones first: they get room in the last row.
var allKeys = []keyed{
	{"", "up down j k", "another finding, or scroll; also page up and down, home, end"},
	{"[a]pprove", "a", "post it, after a question: /approve"},
	{"[d]rop", "d", "leave the finding out: /drop F2: reason"},
	{"[e]dit", "e", "write its text anew: /edit F2: NEW TEXT"},
	{"[q]later", "q esc ctrl-c", "decide later; your changes are printed as a command"},
	{"[?]help", "?", "this page; esc goes back"},
	{"[m]ove", "m", "into the review's summary, or back: /summary F2"},
	{"[x]abort", "x", "reject the draft, after a question: /abort"},
	{"[p]review", "p", "the review as it would be posted"},
	{"[s]everity", "s", "one weaker, round and round: /severity F2 minor"},
	{"[enter]", "enter space", "the finding in full; n and b: the next one, the one before"},
	{"[u]ndo", "u", "the finding as it was drafted"},
	{"[r]evise", "r", "have it drafted anew with your feedback: /revise TEXT"},
}

func (m model) revisable() bool { return m.CanRevise && m.Rounds > 0 }

// working are the keys that the present screen has a use for.
func (m model) working() []keyed {
	actions := m.actions()
	return slices.DeleteFunc(slices.Clone(allKeys), func(k keyed) bool {
		return actions[strings.Fields(k.key)[0]] == nil
	})
}

func (m model) helped() (rows []string) {
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

// keyRow is the last row: the keys that work now, as far as there is room.
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
	for _, k := range m.working() {
		if k.short != "" && len(row)+len(k.short) <= m.width {
			row += " " + k.short
		}
	}
	return column.Cut(strings.TrimPrefix(row, " "), m.width)
}
