package config

import (
	"cmp"
	"time"
)

// Models name the models of the tasks; an empty one is that of the reviews, and
// an empty Review the one that the action or the command line names. Without
// Classify nothing is classified.
type Models struct {
	Classify string `json:"classify,omitzero"`
	Review   string `json:"review,omitzero"`
	Verify   string `json:"verify,omitzero"`
	Redraft  string `json:"redraft,omitzero"`
}

// Agent bounds the conversation about one file. Zero values are the defaults.
type Agent struct {
	MaxTurns   int  `json:"max_turns,omitzero"`
	MaxSeconds int  `json:"max_seconds,omitzero"`
	NoTools    bool `json:"no_tools,omitzero"`
}

// The defaults and the largest values of an agent's bounds.
const (
	defaultTurns = 6
	maxTurns     = 20
	defaultTime  = 10 * time.Minute
	maxTime      = 6 * time.Hour
)

// Turns is how many answers a conversation has at most: one where the model may
// call no tools.
func (a Agent) Turns() int {
	if a.NoTools {
		return 1
	}
	return cmp.Or(a.MaxTurns, defaultTurns)
}

// Time is how long a conversation may go on.
func (a Agent) Time() time.Duration {
	return cmp.Or(time.Duration(a.MaxSeconds)*time.Second, defaultTime)
}

// ModelOptions are settings of every request. Zero values leave a setting to the
// model's default.
type ModelOptions struct {
	Effort          string            `json:"effort,omitzero"` // of reasoning: one of Efforts
	Temperature     *float64          `json:"temperature,omitzero"`
	Seed            *int              `json:"seed,omitzero"`
	MaxOutputTokens int               `json:"max_output_tokens,omitzero"`
	Headers         map[string]string `json:"headers,omitzero"` // further headers, by name
	// further fields of the request: texts, numbers, booleans, lists and maps of them
	Body map[string]any `json:"body,omitzero"`
	// whether requests mark what is worth caching: auto, on or off; empty for auto
	CacheMarks string `json:"cache_marks,omitzero"`
}

// Efforts lists the values of model-options.effort.
func Efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// Guideline is what a repository wants looked at in some of its files.
type Guideline struct {
	Paths []string `json:"paths"` // globs
	Text  string   `json:"text"`
}
