package choose

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
)

// commands are the lines for all changes, in the draft's order.
func (m model) commands() []string {
	lines := slices.Clone(m.ends)
	for i, c := range m.changes {
		lines = append(lines, c.commands(m.Review.Findings[i].ID)...)
	}
	return lines
}

// text is the decision with a verdict. An abort and a revision change nothing of
// a finding. The error is that of package decision, as for any other decision.
func (m model) text(v decision.Verdict, feedback string) (string, error) {
	lines := []string{strings.TrimSpace("/" + string(v) + " " + feedback)}
	if v == decision.Approve {
		lines = slices.Concat(m.commands(), lines)
	}
	text := strings.Join(lines, "\n")
	d, err := decision.Parse(text)
	if err != nil {
		return "", err
	}
	_, err = d.Check(items(m.Review))
	return text, err
}

// chosen is the choice so far: without a verdict, what was changed.
func (m model) chosen() Choice {
	if m.choice.Verdict != "" {
		return m.choice
	}
	return Choice{Text: strings.Join(m.commands(), "\n")}
}
