package llm

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/pattern"
)

// wireRequest is a request written in one form. fields holds the values that the library would drop (zeros), reject
// by the model's name (temperature, max_tokens), or has no field for.
type wireRequest struct {
	request Request
	form    form
	mark    cacheMark
	uses    [capabilities]bool // the capabilities that the request uses and a server can refuse
	effort  string
	fields  map[string]any
}

// ask writes what both interfaces have in common.
func (c *Client) ask(r Request, f form) *wireRequest {
	a := &wireRequest{request: r, form: f, mark: c.mark, fields: map[string]any{}}
	maps.Copy(a.fields, c.settings.Body)
	a.uses[via], a.uses[system] = !c.at.responsesOnly, !f.responses()
	a.uses[tools], a.uses[strict] = len(r.Tools) > 0, len(r.Tools) > 0
	a.uses[marks] = c.mark != "" && (!f.responses() || c.mark == cacheBreakpoint) && f[marks] == 0
	hasState := slices.ContainsFunc(r.Turns, func(t Turn) bool { return len(t.State) > 0 })
	a.uses[state] = f[state] == 0 && (f.responses() || hasState)
	last := len(r.Turns) // a user's turn in it follows a tool's
	a.uses[bridge] = !f.responses() && last > 0 && r.Turns[last-1].Role == RoleUser
	a.uses[format] = a.hasFormat() && f[format] < 2
	a.uses[mixed] = a.uses[format] && len(r.Tools) > 0
	a.setEffort(cmp.Or(r.Effort, c.settings.Effort))
	a.setLimit(c.settings.limit(r), c.oldLimit)
	a.setMarks()
	if t := c.settings.temperatureOf(r); t != nil && f[temperature] == 0 {
		a.fields["temperature"], a.uses[temperature] = *t, true
	}
	if s := c.settings.Seed; s != nil && f[seed] == 0 && !f.responses() {
		a.fields["seed"], a.uses[seed] = *s, true
	}
	return a
}

// hasFormat reports whether the request asks for a response format.
func (a *wireRequest) hasFormat() bool {
	return a.request.Schema != nil && a.form[format] < 2 && (a.form[mixed] == 0 || len(a.request.Tools) == 0)
}

// setEffort sets the reasoning effort. Some models take tools in chat completions only without reasoning.
func (a *wireRequest) setEffort(wanted string) {
	if a.form[via] == viaPlainChat && len(a.request.Tools) > 0 {
		wanted = "none"
	}
	if a.form[effort] == 0 && wanted != "" {
		a.effort, a.uses[effort] = wanted, true
	}
}

// limitNames are the names of the output limit in chat completions.
var limitNames = [...]string{"max_completion_tokens", "max_tokens"}

// setLimit sets the output limit. first is the index of the name that is tried first.
func (a *wireRequest) setLimit(limit, first int) {
	if limit == 0 || a.form[length] == unlimited {
		return
	}
	size := max(limit>>a.form[ceiling], min(limit, minLimit))
	name := "max_output_tokens"
	if !a.form.responses() {
		name = limitNames[a.form[length]^first]
	}
	a.fields[name], a.uses[length] = size, true
	a.uses[ceiling] = size > minLimit
}

// nonEmpty replaces an empty text: the library leaves it out, and servers reject a turn without content.
func nonEmpty(text string) string { return cmp.Or(text, "(empty)") }

var notInName = pattern.Lazy(`[^a-zA-Z0-9_-]`)

// sendable returns a call in a form that can be sent back. Servers check it, and some parse the arguments, so a
// malformed call would end the conversation. The tool's answer tells the model what was wrong.
func (c Call) sendable() Call {
	c.Name = notInName().ReplaceAllString(c.Name, "_")
	c.Name = cmp.Or(c.Name[:min(len(c.Name), 64)], "unknown")
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil {
		c.Arguments = "{}"
	}
	return c
}
