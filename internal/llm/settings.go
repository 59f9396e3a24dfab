package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/config"
)

// settings is what the options and the model's family come to.
type settings struct {
	effort      string
	temperature *float64
	fixed       bool // the family takes no temperature: Deterministic does not ask for one
	seed        *int
	maxTokens   int
	body        map[string]json.RawMessage
	identity    string // of what the options changed; empty where they changed nothing
}

// families has the defaults of models by name, the first match counting. Other
// models are left their own: none of these settings is known to serve all of them.
var families = []struct {
	name   *regexp.Regexp
	effort string
	fixed  bool
}{
	// Chat models under a reasoning model's name: no reasoning, any temperature.
	{regexp.MustCompile(`^gpt-\d+(\.\d+)?-chat`), "", false},
	// These reason at one effort of their own and refuse others.
	{regexp.MustCompile(`^(gpt-\d|o\d)[^/]*-pro\b|^o1-(mini|preview)`), "", true},
	// Medium is what gpt-5 and the o models start from. Later ones start without
	// reasoning, or differ, and a review without it finds less.
	{regexp.MustCompile(`^(gpt-([5-9]|\d\d)|o[1-9])\b`), "medium", true},
}

func (o Options) settings(model string) (settings, error) {
	body, err := o.body()
	switch t := o.Temperature; {
	case err != nil:
		return settings{}, err
	case o.Effort != "" && !slices.Contains(config.Efforts(), o.Effort):
		return settings{}, fmt.Errorf("model-options: effort: %q is none of %s", o.Effort,
			strings.Join(config.Efforts(), ", "))
	case t != nil && !(*t >= 0 && *t <= 2):
		return settings{}, fmt.Errorf("model-options: temperature: %v is not from 0 to 2", *t)
	case o.MaxOutputTokens < 0:
		return settings{}, fmt.Errorf("model-options: max-output-tokens: %d is below 0", o.MaxOutputTokens)
	}
	s := settings{effort: o.Effort, temperature: o.Temperature, seed: o.Seed, maxTokens: o.MaxOutputTokens, body: body}
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, f := range families {
		if f.name.MatchString(name) {
			s.effort, s.fixed = cmp.Or(o.Effort, f.effort), f.fixed
			s.identity = s.changed(f.effort)
			return s, nil
		}
	}
	s.identity = s.changed("")
	return s, nil
}

// changed lists the settings that are not a model's defaults.
func (s settings) changed(effort string) string {
	var out strings.Builder
	say := func(name, value string) { out.WriteString("; " + name + " " + value) }
	if s.effort != effort {
		say("effort", s.effort)
	}
	if s.temperature != nil {
		say("temperature", strconv.FormatFloat(*s.temperature, 'g', -1, 64))
	}
	if s.seed != nil {
		say("seed", strconv.Itoa(*s.seed))
	}
	if s.maxTokens != 0 {
		say("max-output-tokens", strconv.Itoa(s.maxTokens))
	}
	if len(s.body) > 0 {
		body, _ := json.Marshal(s.body) // written as JSON before: it cannot fail; keys are sorted
		say("body", string(body))
	}
	return out.String()
}

// limit is the output limit of a request, 0 for none. A request's own is never
// raised: money was reserved for that much.
func (s settings) limit(r Request) int {
	if r.MaxTokens > 0 && s.maxTokens > 0 {
		return min(r.MaxTokens, s.maxTokens)
	}
	return max(r.MaxTokens, s.maxTokens)
}

// coldest stands for temperature 0, which some servers refuse. Smaller values
// overflow in servers that divide by them.
const coldest = 1e-6

// temperatureOf is the temperature to ask for; nil leaves it to the server.
func (s settings) temperatureOf(r Request) *float64 {
	cold := coldest
	if s.temperature != nil {
		hot := max(*s.temperature, cold)
		if r.Deterministic {
			hot = cold
		}
		return &hot
	}
	if r.Deterministic && !s.fixed {
		return &cold
	}
	return nil
}
