package llm

import (
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// The values of Options.CacheMarks: marks for hosts that are known to take them, for every host, for none.
const (
	MarksAuto = "auto"
	MarksOn   = "on"
	MarksOff  = "off"
)

// cacheMark is the field by which a text says that the prefix that ends with it is worth caching; "" for no marks.
type cacheMark string

const (
	cacheControl    cacheMark = "cache_control"           // in chat completions
	cacheBreakpoint cacheMark = "prompt_cache_breakpoint" // in both interfaces
)

// controlHosts take cache_control, and cache nothing of Claude's without it
// (https://openrouter.ai/docs/features/prompt-caching,
// https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
var controlHosts = []string{"openrouter.ai", "anthropic.com"}

// breakpointModels are OpenAI's models that find a prefix only at the end of a message that is marked, or was the
// last one, and bill what they write (https://developers.openai.com/api/docs/guides/prompt-caching).
var breakpointModels = pattern.Lazy(`^gpt-(5\.[6-9]|[6-9]|1\d)`)

// cacheMark returns how requests to an endpoint mark what is worth caching.
func (e endpoint) cacheMark(wanted, model string) cacheMark {
	of := func(known string) bool { return e.host == known || strings.HasSuffix(e.host, "."+known) }
	control := slices.ContainsFunc(controlHosts, of)
	breakpoints := !control && breakpointModels().MatchString(model)
	switch {
	case wanted == MarksOff, wanted != MarksOn && !control && !(breakpoints && of(openAI)):
		return ""
	case breakpoints:
		return cacheBreakpoint
	}
	return cacheControl
}

// setMarks sets the fields that belong to breakpoints. OpenAI sets one of its own at the end of a request, which is of
// use only in a conversation that can continue: else the whole request would be written to the cache.
func (a *wireRequest) setMarks() {
	if !a.uses[marks] || a.mark != cacheBreakpoint {
		return
	}
	fields := map[string]any{"prompt_cache_key": "pr-review-action"}
	if len(a.request.Tools) == 0 {
		fields["prompt_cache_options"] = map[string]string{"mode": "explicit"}
	}
	maps.Copy(fields, a.fields)
	a.fields = fields
}

// addMarks marks the end of each prefix that will be sent again: the system turn, which the tools precede, and for
// cache_control the last turn of a conversation that can continue. A mark costs a write, so a single question only
// gets the first.
func (a *wireRequest) addMarks(turns []any) {
	places, kind, value := []int{0}, "text", map[string]string{"type": "ephemeral"}
	if last := len(turns) - 1; a.mark == cacheControl && len(a.request.Tools) > 0 && last > 0 {
		places = append(places, last)
	}
	if a.mark == cacheBreakpoint {
		value = map[string]string{"mode": "explicit"}
	}
	if a.form.responses() {
		kind = "input_text"
	}
	for _, at := range places {
		message := toObject(turns[at])
		if text, ok := message["content"].(string); ok && text != "" {
			message["content"] = []any{map[string]any{"type": kind, "text": text, string(a.mark): value}}
			turns[at] = message
		}
	}
}
