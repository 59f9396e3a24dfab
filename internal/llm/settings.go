package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/config"
)

// settings combines the options with the defaults of the model's family.
type settings struct {
	config.ModelOptions
	fixed    bool   // the family takes no temperature, so Deterministic does not ask for one
	identity string // lists what the options changed; empty if nothing
}

// families holds the defaults of models by name; the first match counts. Other models keep
// their own defaults: none of these settings is known to work for all of them.
var families = []struct {
	name   string // matches a name
	effort string
	fixed  bool
}{
	// Chat models under a reasoning model's name: no reasoning, any temperature.
	{`^gpt-\d+(\.\d+)?-chat`, "", false},
	// These have one fixed effort and refuse others.
	{`^(gpt-\d|o\d)[^/]*-pro\b|^o1-(mini|preview)`, "", true},
	// Medium is what gpt-5 and the o models start from. Later ones start without
	// reasoning, or differ, and a review without it finds less.
	{`^(gpt-([5-9]|\d\d)|o[1-9])\b`, "medium", true},
}

func newSettings(o config.ModelOptions, model string) settings {
	s, family := settings{ModelOptions: o}, ""
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, f := range families {
		if regexp.MustCompile(f.name).MatchString(name) {
			family, s.fixed = f.effort, f.fixed
			break
		}
	}
	s.Effort = cmp.Or(o.Effort, family)
	s.identity = s.describeChanges(family)
	return s
}

// describeChanges lists the settings that are not a model's defaults.
func (s settings) describeChanges(effort string) (out string) {
	if s.Effort != effort {
		out += "; effort " + s.Effort
	}
	if s.Temperature != nil {
		out += fmt.Sprintf("; temperature %g", *s.Temperature)
	}
	if s.Seed != nil {
		out += fmt.Sprintf("; seed %d", *s.Seed)
	}
	if s.MaxOutputTokens != 0 {
		out += fmt.Sprintf("; max-output-tokens %d", s.MaxOutputTokens)
	}
	if len(s.Body) > 0 {
		body, _ := json.Marshal(s.Body) // plain values: it cannot fail; keys are sorted
		out += "; body " + string(body)
	}
	return out
}

// limit returns the output limit of a request, 0 for none. It never raises a request's own:
// money was reserved for that much.
func (s settings) limit(r Request) int {
	if r.MaxTokens > 0 && s.MaxOutputTokens > 0 {
		return min(r.MaxTokens, s.MaxOutputTokens)
	}
	return max(r.MaxTokens, s.MaxOutputTokens)
}

// minTemperature stands for temperature 0, which some servers refuse. Smaller values overflow in
// servers that divide by them.
const minTemperature = 1e-6

// temperatureOf returns the temperature to request; nil leaves it to the server.
func (s settings) temperatureOf(r Request) *float64 {
	switch {
	case r.Deterministic && (s.Temperature != nil || !s.fixed):
		return new(minTemperature)
	case s.Temperature == nil:
		return nil
	}
	return new(max(*s.Temperature, minTemperature))
}
