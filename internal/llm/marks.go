package llm

import (
	"encoding/json"
	"net/url"
	"strings"
)

// The values of Options.CacheMarks: marks for hosts that are known to take them, for
// every host, for none.
const (
	MarksAuto = "auto"
	MarksOn   = "on"
	MarksOff  = "off"
)

// markedHosts take cache_control in chat completions, and cache nothing of Claude's
// without (https://openrouter.ai/docs/features/prompt-caching,
// https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
var markedHosts = []string{"openrouter.ai", "anthropic.com"}

// marks reports whether requests to an endpoint say what of them is worth caching.
func (e endpoint) marks(wanted string) bool {
	switch wanted {
	case MarksOn:
		return true
	case MarksOff:
		return false
	}
	u, _ := url.Parse(e.base) // was made by at
	host := strings.ToLower(u.Hostname())
	for _, known := range markedHosts {
		if host == known || strings.HasSuffix(host, "."+known) {
			return true
		}
	}
	return false
}

// marked puts a mark where a prefix ends that will be asked again: behind the system
// turn, which tools stand before, and behind the last turn of a conversation that can
// go on. A mark costs a write, so that a single question gets the first alone.
func (a *asked) marked(messages []json.RawMessage) {
	places := []int{0}
	if last := len(messages) - 1; len(a.request.Tools) > 0 && last > 0 {
		places = append(places, last)
	}
	for _, at := range places {
		var message map[string]any
		if json.Unmarshal(messages[at], &message) != nil {
			continue
		}
		text, ok := message["content"].(string)
		if !ok || text == "" {
			continue
		}
		message["content"] = []any{map[string]any{"type": "text", "text": text,
			"cache_control": map[string]string{"type": "ephemeral"}}}
		messages[at], _ = json.Marshal(message) // plain values: it cannot fail
	}
}
