package llm

import (
	"cmp"
	"encoding/json"
	"maps"

	"github.com/org/pr-review-action/internal/pattern"
)

// asked is a request written in one form. fields holds the values that the library would drop (zeros), reject on its
// own by the model's name (temperature, max_tokens), or has no field for.
type asked struct {
	request Request
	form    form
	carries [capabilities]bool // the capabilities that the request uses and a server can refuse
	effort  string
	fields  map[string]any
}

// ask writes what both interfaces have in common.
func (c *Client) ask(r Request, f form) *asked {
	a := &asked{request: r, form: f, fields: map[string]any{}}
	maps.Copy(a.fields, c.settings.Body)
	a.carries[via], a.carries[system] = !c.at.responsesOnly, !f.responses()
	a.carries[tools], a.carries[strict] = len(r.Tools) > 0, len(r.Tools) > 0
	a.carries[marks] = c.marks && !f.responses() && f[marks] == 0
	a.carries[state] = f.responses() && f[state] == 0
	a.carries[format] = a.formatted() && f[format] < 2
	a.carries[mixed] = a.carries[format] && len(r.Tools) > 0
	a.reasons(cmp.Or(r.Effort, c.settings.Effort))
	a.bound(c.settings.limit(r))
	if t := c.settings.temperatureOf(r); t != nil && f[temperature] == 0 {
		a.fields["temperature"], a.carries[temperature] = *t, true
	}
	if s := c.settings.Seed; s != nil && f[seed] == 0 && !f.responses() {
		a.fields["seed"], a.carries[seed] = *s, true
	}
	return a
}

// formatted reports whether the request asks for a response format.
func (a *asked) formatted() bool {
	return a.request.Schema != nil && a.form[format] < 2 && (a.form[mixed] == 0 || len(a.request.Tools) == 0)
}

// reasons sets the effort. Some models take tools in chat completions only without reasoning.
func (a *asked) reasons(wanted string) {
	if a.form[via] == viaPlainChat && len(a.request.Tools) > 0 {
		wanted = "none"
	}
	if a.form[effort] == 0 && wanted != "" {
		a.effort, a.carries[effort] = wanted, true
	}
}

// bound sets the output limit.
func (a *asked) bound(limit int) {
	if limit == 0 || a.form[length] == unlimited {
		return
	}
	size := max(limit>>a.form[ceiling], min(limit, leastLimit))
	name := "max_completion_tokens"
	switch {
	case a.form.responses():
		name = "max_output_tokens"
	case a.form[length] == 1:
		name = "max_tokens"
	}
	a.fields[name], a.carries[length] = size, true
	a.carries[ceiling] = size > leastLimit
}

// filled replaces an empty text: the library leaves it out, and servers reject a turn without content.
func filled(text string) string { return cmp.Or(text, "(empty)") }

var notInName = pattern.Lazy(`[^a-zA-Z0-9_-]`)

// echoed returns a call in a form that can be sent back. Servers check it, and some parse the arguments, so a
// malformed call would end the conversation. The tool's answer tells the model what was wrong.
func (c Call) echoed() Call {
	c.Name = notInName().ReplaceAllString(c.Name, "_")
	c.Name = cmp.Or(c.Name[:min(len(c.Name), 64)], "unknown")
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil {
		c.Arguments = "{}"
	}
	return c
}
