package config

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/ticket"
)

// Context says what is gathered around a change. Zero values are the defaults.
type Context struct {
	Show         ticket.Show `json:"show,omitzero"`    // empty: see Shows
	PackTokens   *int        `json:"tokens,omitempty"` // nil: see Tokens
	LimitSeconds int         `json:"limit_seconds,omitzero"`
	CallSeconds  int         `json:"call_seconds,omitzero"`
	Projects     []string    `json:"projects,omitempty"` // whose tickets are followed
	Labels       []string    `json:"labels,omitzero"`    // forms of labels that may hold a key
	Sources      []Source    `json:"sources,omitempty"`  // in the order in which they are asked
}

// The default and the largest number of tokens of a file's pack.
const (
	defaultTokens = 4000
	maxTokens     = 100_000
)

// Tokens is how many tokens of the rest of the repository a file's reviewer is shown
// at most; 0 for none.
func (c Context) Tokens() int {
	if c.PackTokens == nil {
		return defaultTokens
	}
	return *c.PackTokens
}

// Shows is how much of tickets and pages may leave the job; private is the repository's.
func (c Context) Shows(private bool) ticket.Show {
	if private {
		return cmp.Or(c.Show, ticket.ShowCriteria)
	}
	return cmp.Or(c.Show, ticket.ShowKey)
}

// The defaults and the largest values of the times that context may take.
const (
	defaultContextLimit = 30 * time.Second
	defaultCallLimit    = 15 * time.Second
	maxContextLimit     = 5 * time.Minute
)

// Limit is how long all of the context may take.
func (c Context) Limit() time.Duration {
	return cmp.Or(time.Duration(c.LimitSeconds)*time.Second, defaultContextLimit)
}

// CallLimit is how long one call to a source may take.
func (c Context) CallLimit() time.Duration {
	return cmp.Or(time.Duration(c.CallSeconds)*time.Second, defaultCallLimit)
}

// LabelForms are the forms of labels that may hold a key.
func (c Context) LabelForms() []string {
	if c.Labels == nil {
		return ticket.LabelForms()
	}
	return c.Labels
}

func contextKeys(c *Context) keys {
	return keys{
		choice("show", &c.Show, "", ticket.ShowKey, ticket.ShowCriteria, ticket.ShowFull),
		upTo("tokens", maxTokens, &c.PackTokens, defaultTokens),
		seconds("limit", maxContextLimit, &c.LimitSeconds, defaultContextLimit),
		seconds("call-limit", maxContextLimit, &c.CallSeconds, defaultCallLimit),
		listed("projects", &c.Projects, matching(projectKey, "a project's key, such as PAY")),
		{name: "labels", read: func(r *reader, n ast.Node) {
			c.Labels = matching(labelForm, "a form of labels with one *, such as jira:*")(r, n)
		}, show: func() any { return c.LabelForms() }},
		sourcesKey(&c.Sources),
	}
}

var (
	projectKey = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,9}$`)
	labelForm  = regexp.MustCompile(`^[^*]{0,50}\*[^*]{0,50}$`)
)

// matching reads a list of texts of one form. A list that is there and empty is no default.
func matching(form *regexp.Regexp, what string) func(*reader, ast.Node) []string {
	return func(r *reader, n ast.Node) []string {
		all := []string{}
		for _, item := range r.list(n) {
			var s string
			if r.formed(item, form, what, &s) {
				all = append(all, s)
			}
		}
		return all
	}
}

// formed reads a text of a form.
func (r *reader) formed(n ast.Node, form *regexp.Regexp, what string, into *string) bool {
	var s string
	if !r.text(n, &s) {
		return false
	}
	if !form.MatchString(s) {
		r.fail(n, "%.60q is not %s", s, what)
		return false
	}
	*into = s
	return true
}

// address reads the address of a server, without credentials in it. Whether plain
// http is allowed is for who connects.
func (r *reader) address(n ast.Node, into *string) {
	var s string
	if !r.text(n, &s) {
		return
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		r.fail(n, "expected an address that begins with https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		r.fail(n, "an address here has no user, no query and no fragment; credentials come from the environment")
	default:
		*into = strings.TrimSuffix(s, "/")
	}
}
