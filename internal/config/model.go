package config

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/pattern"
)

// Models names the model of each task. An empty one means that of the reviews, and an empty
// Review the one that the action or the command line names. If Classify is empty, nothing
// is classified.
type Models struct {
	Classify string `json:"classify,omitzero"`
	Review   string `json:"review,omitzero"`
	Verify   string `json:"verify,omitzero"`
	Redraft  string `json:"redraft,omitzero"`
}

func modelKeys(m *Models) keys {
	return keys{modelName("review", &m.Review), modelName("verify", &m.Verify), modelName("classify", &m.Classify),
		modelName("redraft", &m.Redraft)}
}

func modelName(name string, into *string) key {
	return checkedText(name, into, matching(printable(), "a model's name"))
}

var printable = pattern.Lazy(`^[!-~]{1,200}$`)

// Agent limits the conversation about one file. Zero values mean the defaults.
type Agent struct {
	MaxTurns   int  `json:"max_turns,omitzero"`
	MaxSeconds int  `json:"max_seconds,omitzero"`
	NoTools    bool `json:"no_tools,omitzero"`
}

// Turns returns the most answers in a conversation: one if the model may not call tools.
func (a Agent) Turns() int {
	if a.NoTools {
		return 1
	}
	return cmp.Or(a.MaxTurns, 6)
}

// Time returns how long a conversation may take.
func (a Agent) Time() time.Duration {
	return cmp.Or(time.Duration(a.MaxSeconds)*time.Second, 10*time.Minute)
}

func agentKeys(a *Agent) keys {
	return keys{integer("max-turns", 20, &a.MaxTurns, Agent{}.Turns()),
		duration("max-time", 6*time.Hour, &a.MaxSeconds, Agent{}.Time()), negatedFlag("tools", &a.NoTools)}
}

// ModelOptions are settings of every request. Zero values leave a setting at the model's
// default.
type ModelOptions struct {
	Effort          string            `json:"effort,omitzero"` // of reasoning
	Temperature     *float64          `json:"temperature,omitzero"`
	Seed            *int              `json:"seed,omitzero"`
	MaxOutputTokens int               `json:"max_output_tokens,omitzero"`
	Headers         map[string]string `json:"headers,omitzero"` // extra headers, by name
	// extra fields of the request: texts, numbers, booleans, lists and maps of them
	Body map[string]any `json:"body,omitzero"`
	// whether requests mark prefixes for caching: auto, on or off; empty for auto
	CacheMarks string `json:"cache_marks,omitzero"`
}

func optionKeys(o *ModelOptions) keys {
	return keys{
		choice("effort", &o.Effort, "", "none", "minimal", "low", "medium", "high", "xhigh", "max"),
		number("temperature", 2, &o.Temperature),
		optionalInteger("seed", math.MaxInt32, &o.Seed, nil),
		integer("max-output-tokens", 1_000_000, &o.MaxOutputTokens, 0),
		{name: "headers", read: func(r *reader, n ast.Node) { o.Headers = r.headers(n) },
			show: func() any { return maskValues(o.Headers) }},
		{name: "body", read: func(r *reader, n ast.Node) {
			for _, e := range r.entries(n) {
				r.refuse(e.Key, CheckField(keyName(e.Key)))
			}
			o.Body = r.values(n)
		}, show: func() any { return maskValues(o.Body) }},
		choice("cache-marks", &o.CacheMarks, "auto", "auto", "on", "off"),
	}
}

func priceKeys(p *cost.Price) keys {
	price := func(name string, into *cost.MicroUSD) key {
		return key{name: name, read: func(r *reader, n ast.Node) { r.usd(n, into) },
			show: func() any { return Dollars(*into) }}
	}
	return keys{price("input", &p.Input), price("cached-input", &p.CachedInput), price("output", &p.Output),
		price("cache-write", &p.CacheWrite), price("per-1000", &p.PerThousand)}
}

// pricesKey is the key of all prices, shown with a line per model: per-1000 for a reranker
// that bills by the search, the other prices for all other models.
func pricesKey(all *map[string]cost.Price) key {
	k := key{name: "prices", read: func(r *reader, n ast.Node) { r.prices(n, all) }, show: func() any { return nil }}
	for _, model := range slices.Sorted(maps.Keys(*all)) {
		p := (*all)[model]
		k.children = append(k.children, key{name: model, show: func() any {
			if p.PerThousand > 0 {
				return map[string]any{"per-1000": Dollars(p.PerThousand)}
			}
			return priceKeys(&p)[:4].toMap()
		}})
	}
	return k
}

// prices reads a price for each model and adds it to those already there. Cached input and
// cache writes cost the same as input unless set. For a reranker that bills by the search,
// per-1000 is enough.
func (r *reader) prices(n ast.Node, all *map[string]cost.Price) {
	if *all == nil {
		*all = map[string]cost.Price{}
	}
	for _, e := range r.entries(n) {
		var p cost.Price
		var said []string
		before := len(r.problems)
		r.readKey(e.Key, func() { said = r.mapping(e.Value, priceKeys(&p)) })
		delete(r.halves, keyName(e.Key))
		switch {
		case slices.Contains(said, "per-1000"):
		case !slices.Contains(said, "input") && len(r.problems) > before: // it may be the misspelled one
		case !slices.Contains(said, "input"):
			r.fail(e.Key, "the price of %.60q needs input, in USD per million tokens", keyName(e.Key))
		case !slices.Contains(said, "output"):
			r.halves[keyName(e.Key)] = half{r, e.Key}
		}
		if !slices.Contains(said, "cached-input") {
			p.CachedInput = p.Input
		}
		if !slices.Contains(said, "cache-write") {
			p.CacheWrite = p.Input
		}
		(*all)[keyName(e.Key)] = p
	}
}
