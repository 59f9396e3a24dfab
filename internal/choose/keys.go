package choose

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/order"
)

// keyed is a key, its short form for the last row, and what it does. The keys
// with the lowest ranks get room in the last row first.
type keyed struct {
	rank              int
	short, key, means string
}

// allKeys are the keys in the order of the help.
var allKeys = []keyed{
	{0, "", "up down j k", "another finding, or scroll; also page up and down, home, end"},
	{10, "[enter]", "enter space", "the finding in full; n and b: the next one, the one before"},
	{3, "[d]rop", "d", "leave the finding out: /drop F2: reason"},
	{4, "[e]dit", "e", "write its text anew: /edit F2: NEW TEXT"},
	{6, "[m]ove", "m", "into the review's summary, or back: /summary F2"},
	{9, "[s]everity", "s", "one weaker, round and round: /severity F2 minor"},
	{11, "[u]ndo", "u", "the finding as it was drafted"},
	{8, "[p]review", "p", "the review as it would be posted"},
	{2, "[a]pprove", "a", "post it, after a question: /approve"},
	{12, "[r]evise", "r", "have it drafted anew with your feedback: /revise TEXT"},
	{7, "[x]abort", "x", "reject the draft, after a question: /abort"},
	{5, "[q]later", "q esc ctrl-c", "decide later; your changes are printed as a command"},
	{1, "[?]help", "?", "this page; esc goes back"},
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

// keyRow is the last row: the keys that work now, the most needed ones where
// there is no room for all.
func (m model) keyRow() string {
	switch {
	case m.question.typing:
		return column.Cut("[enter] done  [esc] back  [ctrl-u] clear", m.width)
	case m.question.answer != nil:
		return column.Cut("[y]es  any other key: back", m.width)
	case m.screen == preview || m.screen == help:
		return column.Cut("[esc] back  up down page: scroll  [a]pprove", m.width)
	case m.screen == detail:
		const lead = "[n]ext "
		return column.Cut(lead+keysIn(m.width-len(lead), m.working()), m.width)
	}
	return column.Cut(keysIn(m.width, m.working()), m.width)
}

// keysIn are the short forms that have room in limit columns.
func keysIn(limit int, keys []keyed) string {
	byRank := slices.Clone(keys)
	order.Stable(byRank, func(a, b keyed) int { return a.rank - b.rank })
	shown, used := map[string]bool{}, -1
	for _, k := range byRank {
		if more := 1 + len(k.short); k.short != "" && used+more <= limit {
			shown[k.key], used = true, used+more
		}
	}
	var words []string
	for _, k := range keys {
		if shown[k.key] {
			words = append(words, k.short)
		}
	}
	return strings.Join(words, " ")
}
