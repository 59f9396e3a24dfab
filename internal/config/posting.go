package config

import (
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// Comments configures how a review is posted.
type Comments struct {
	Max     *int `json:"max,omitempty"`     // inline comments of one review; nil for 15
	Resolve bool `json:"resolve,omitempty"` // mark our threads that a new head resolved
}

// Most returns the largest number of inline comments of one review.
func (c Comments) Most() int { return valueOr(c.Max, 15) }

func commentKeys(c *Comments) keys {
	return keys{optionalInteger("max", 50, &c.Max, Comments{}.Most()), flag("resolve", &c.Resolve)}
}

// Linters configures how much of linters' results is shown.
type Linters struct {
	MaxPerRule *int `json:"max_per_rule,omitempty"` // findings of one rule in a draft; nil for 10
}

// Most returns the largest number of findings of one rule.
func (l Linters) Most() int { return valueOr(l.MaxPerRule, 10) }

func linterKeys(l *Linters) keys {
	return keys{optionalInteger("max-per-rule", 100, &l.MaxPerRule, Linters{}.Most())}
}

// Environment names the environment whose approval a change of certain paths needs.
type Environment struct {
	Paths []string `json:"paths"` // globs
	Name  string   `json:"name"`
}

func environmentKeys(e *Environment) keys {
	return keys{textList("paths", &e.Paths, wrongGlob), checkedText("environment", &e.Name, wrongEnvironment)}
}

func checkEnvironment(r *reader, n ast.Node, e Environment) {
	if len(e.Paths) == 0 || e.Name == "" {
		r.fail(n, "this needs paths, a list of globs, and environment, a name")
	}
}

// maxEnvironment is the maximum length of an environment's name, in characters:
// https://docs.github.com/en/actions/reference/workflows-and-actions/deployments-and-environments
const maxEnvironment = 255

// wrongEnvironment is the rule that GitHub accepts a text as an environment's name.
func wrongEnvironment(s string) string {
	control := strings.ContainsFunc(s, unicode.IsControl)
	if s == "" || len([]rune(s)) > maxEnvironment || strings.TrimSpace(s) != s || control ||
		strings.ContainsAny(s, "'\"`,;\\") || guard.Visible(s) != s {
		return mistake("%.60q is not an environment's name", s)
	}
	return ""
}

// login matches GitHub logins; those of managed users contain an underscore.
var login = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// The values of handover: where the kept findings are given as instructions for a coding
// agent: in the deciding job's summary, in the posted review, or nowhere.
const (
	HandoverSummary = "summary"
	HandoverReview  = "review"
	HandoverOff     = "off"
)

// Policy says whether one kind of pull request is reviewed.
type Policy string

// The policies.
const (
	Skip   Policy = "skip"
	Review Policy = "review"
)

// Admission says which pull requests are reviewed at all.
type Admission struct {
	Drafts    Policy   `json:"drafts"`
	Bots      Policy   `json:"bots"`
	Authors   []string `json:"authors,omitempty"` // associations in lower case, or "all"; empty: the event's default
	Label     string   `json:"label"`             // admits what the other rules reject
	SkipLabel string   `json:"skip_label"`        // opts out
	OnDemand  bool     `json:"on_demand"`         // only by label or dispatch
}

func admissionKeys(a *Admission) keys {
	return keys{
		choice("drafts", &a.Drafts, "", Skip, Review), choice("bots", &a.Bots, "", Skip, Review),
		authorsKey(&a.Authors), text("label", &a.Label),
		text("skip-label", &a.SkipLabel), flag("on-demand", &a.OnDemand),
	}
}

// authorsKey is a list of associations in any case, or a single one.
func authorsKey(into *[]string) key {
	k := textList("authors", into, anyText)
	k.read = func(r *reader, n ast.Node) {
		if _, one := n.(*ast.StringNode); one {
			n = &ast.SequenceNode{Values: []ast.Node{n}}
		}
		known := r.oneOf([]string{"all", "owner", "member", "collaborator", "contributor", "first_time_contributor",
			"first_timer", "none"})
		*into = r.texts(n, func(item ast.Node, name string) bool { return known(item, strings.ToLower(name)) })
		for i, name := range *into {
			(*into)[i] = strings.ToLower(name)
		}
	}
	return k
}
