package finding

import "github.com/org/pr-review-action/internal/decision"

// Severity says how grave a finding is. A decision may change it, so it is defined there.
type Severity = decision.Severity

// The severities, weakest first.
const (
	Nit     = decision.Nit
	Minor   = decision.Minor
	Major   = decision.Major
	Blocker = decision.Blocker
)

// Severities lists every severity, weakest first.
func Severities() []Severity { return decision.Severities() }

// ParseSeverity reads a severity's name; the error lists the valid ones.
func ParseSeverity(name string) (Severity, error) { return decision.ParseSeverity(name) }
