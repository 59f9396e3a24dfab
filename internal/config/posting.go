package config

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/guard"
)

// mostComments is the largest value of comments.max.
const mostComments = 50

// maxEnvironment is the longest name of an environment, in characters:
// https://docs.github.com/en/actions/reference/workflows-and-actions/deployments-and-environments
const maxEnvironment = 255

func commentKeys(c *Comments) keys {
	return keys{upTo("max", mostComments, &c.Max, MaxComments), flag("resolve", &c.Resolve)}
}

// mostPerRule is the largest value of linters.max-per-rule.
const mostPerRule = 100

func linterKeys(l *Linters) keys {
	return keys{upTo("max-per-rule", mostPerRule, &l.MaxPerRule, l.Most())}
}

func environmentKeys(e *Environment) keys {
	return keys{listed("paths", &e.Paths, wrongGlob), ruled("environment", &e.Name, wrongEnvironment)}
}

func checkEnvironment(r *reader, n ast.Node, e Environment) {
	if len(e.Paths) == 0 || e.Name == "" {
		r.fail(n, "this needs paths, a list of globs, and environment, a name")
	}
}

// login is how GitHub names people; one of a company has an underscore.
var login = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

func wrongLogin(name string) string {
	if !login.MatchString(name) {
		return mistake("%.60q is no login; a team cannot be named here", name)
	}
	return ""
}

// wrongEnvironment is the rule for names that GitHub takes for an environment.
func wrongEnvironment(s string) string {
	control := strings.ContainsFunc(s, unicode.IsControl)
	if s == "" || len([]rune(s)) > maxEnvironment || strings.TrimSpace(s) != s || control ||
		strings.ContainsAny(s, "'\"`,;\\") || guard.Visible(s) != s {
		return mistake("%.60q is not an environment's name", s)
	}
	return ""
}

// The values of handover: where the kept findings stand as instructions for a coding
// agent: in the deciding job's summary, in the posted review, or nowhere.
const (
	HandoverSummary = "summary"
	HandoverReview  = "review"
	HandoverOff     = "off"
)

// Handovers lists them, the default first.
func Handovers() []string { return []string{HandoverSummary, HandoverReview, HandoverOff} }
