package decision

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says how grave an item of a draft is.
type Severity string

// The severities, weakest first.
const (
	Nit     Severity = "nit"
	Minor   Severity = "minor"
	Major   Severity = "major"
	Blocker Severity = "blocker"
)

// Severities lists every severity, weakest first.
func Severities() []Severity { return []Severity{Nit, Minor, Major, Blocker} }

// Rank orders severities: 0 for nit up to 3 for blocker, -1 for an unknown one.
func (s Severity) Rank() int { return slices.Index(Severities(), s) }

// ParseSeverity reads a severity's name; the error lists the valid ones.
func ParseSeverity(name string) (Severity, error) {
	s := Severity(name)
	if s.Rank() < 0 {
		names := make([]string, 0, len(Severities()))
		for _, v := range Severities() {
			names = append(names, string(v))
		}
		return "", fmt.Errorf("severity %q is none of %s", name, strings.Join(names, ", "))
	}
	return s, nil
}
