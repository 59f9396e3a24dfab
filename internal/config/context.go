package config

import (
	"cmp"
	"time"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/ticket"
)

// Context configures what is gathered around a change. Zero values mean the defaults.
type Context struct {
	Show         ticket.Show `json:"show,omitzero"`    // empty: see Shows
	PackTokens   *int        `json:"tokens,omitempty"` // nil: see Tokens
	LimitSeconds int         `json:"limit_seconds,omitzero"`
	CallSeconds  int         `json:"call_seconds,omitzero"`
	Projects     []string    `json:"projects,omitempty"` // projects whose tickets are followed
	Labels       []string    `json:"labels,omitzero"`    // forms of labels that may hold a key
	Sources      []Source    `json:"sources,omitempty"`  // in the order of asking
}

// The default and the maximum of the tokens in a file's pack.
const (
	defaultTokens = 4000
	maxTokens     = 100_000
)

// Tokens returns how many tokens of the rest of the repository a file's reviewer is shown
// at most; 0 means none.
func (c Context) Tokens() int {
	if c.PackTokens == nil {
		return defaultTokens
	}
	return *c.PackTokens
}

// Shows returns how much of tickets and pages may leave the job. private is whether the repository is.
func (c Context) Shows(private bool) ticket.Show {
	if private {
		return cmp.Or(c.Show, ticket.ShowCriteria)
	}
	return cmp.Or(c.Show, ticket.ShowKey)
}

// The defaults and the maximum of the time limits.
const (
	defaultContextLimit = 30 * time.Second
	defaultCallLimit    = 15 * time.Second
	maxContextLimit     = 5 * time.Minute
)

// Limit returns how long gathering all of the context may take.
func (c Context) Limit() time.Duration {
	return cmp.Or(time.Duration(c.LimitSeconds)*time.Second, defaultContextLimit)
}

// CallLimit returns how long one call to a source may take.
func (c Context) CallLimit() time.Duration {
	return cmp.Or(time.Duration(c.CallSeconds)*time.Second, defaultCallLimit)
}

// LabelForms returns the forms of labels that may hold a ticket's key.
func (c Context) LabelForms() []string {
	if c.Labels == nil {
		return ticket.LabelForms()
	}
	return c.Labels
}

func contextKeys(c *Context) keys {
	labels := keepEmpty(textList("labels", &c.Labels,
		matching(labelForm(), "a form of labels with one *, such as jira:*")), &c.Labels)
	labels.show = func() any { return c.LabelForms() }
	return keys{
		choice("show", &c.Show, "", ticket.ShowKey, ticket.ShowCriteria, ticket.ShowFull),
		optionalInteger("tokens", maxTokens, &c.PackTokens, defaultTokens),
		duration("limit", maxContextLimit, &c.LimitSeconds, defaultContextLimit),
		duration("call-limit", maxContextLimit, &c.CallSeconds, defaultCallLimit),
		textList("projects", &c.Projects, matching(projectKey(), "a project's key, such as PAY")),
		labels, objects("sources", &c.Sources, sourceKeys, checkSource),
	}
}

var (
	projectKey = pattern.Lazy(`^[A-Z][A-Z0-9_]{1,9}$`)
	labelForm  = pattern.Lazy(`^[^*]{0,50}\*[^*]{0,50}$`)
)
