package terminal

import "github.com/org/pr-review-action/internal/finding"

// ANSI colours of a terminal, by what they mean here.
const (
	Bold  = "1"
	Dim   = "2"
	green = "32"
	red   = "31"
	cyan  = "36"
)

// SeverityColor is the colour of a severity's name; empty for none that is known.
func SeverityColor(s finding.Severity) string {
	return map[finding.Severity]string{finding.Blocker: "1;31", finding.Major: "33", finding.Minor: "36",
		finding.Nit: Dim}[s]
}

// Paint puts text in a colour where colours are on.
func Paint(on bool, color, s string) string {
	if !on || s == "" || color == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
