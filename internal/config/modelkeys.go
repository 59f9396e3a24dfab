package config

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
)

func modelKeys(m *Models) keys {
	return keys{modelName("review", &m.Review), modelName("verify", &m.Verify), modelName("classify", &m.Classify),
		modelName("redraft", &m.Redraft)}
}

func agentKeys(a *Agent) keys {
	return keys{whole("max-turns", 1, maxTurns, &a.MaxTurns, defaultTurns),
		seconds("max-time", maxTime, &a.MaxSeconds, defaultTime), unless("tools", &a.NoTools)}
}

func optionKeys(o *ModelOptions) keys {
	return keys{
		choice("effort", &o.Effort, "", Efforts()...),
		{name: "temperature", read: func(r *reader, n ast.Node) { o.Temperature = r.number(n, 0, maxTemperature) },
			show: func() any { return at(o.Temperature) }},
		upTo("seed", math.MaxInt32, &o.Seed, nil),
		whole("max-output-tokens", 1, maxOutputTokens, &o.MaxOutputTokens, 0),
		{name: "headers", read: func(r *reader, n ast.Node) { o.Headers = r.headers(n) },
			show: func() any { return hidden(o.Headers) }},
		{name: "body", read: func(r *reader, n ast.Node) { o.Body = r.values(n, maxDepth) },
			show: func() any { return body(o.Body) }},
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

// pricesKey has a line for each model's price: of a reranker that bills by the search
// per-1000, of others the rest.
func pricesKey(all *map[string]cost.Price) key {
	k := key{name: "prices", read: func(r *reader, n ast.Node) { r.prices(n, all) }, show: func() any { return nil }}
	for _, model := range slices.Sorted(maps.Keys(*all)) {
		p := (*all)[model]
		k.under = append(k.under, key{name: model, show: func() any {
			price := priceKeys(&p).object()
			maps.DeleteFunc(price, func(name string, _ any) bool { return (name == "per-1000") != (p.PerThousand > 0) })
			return price
		}})
	}
	return k
}

// prices reads a price for each model, beside those that are there. Cached input and
// cache writes cost what input does where nothing else is said. Of a reranker that bills
// by the search, per-1000 is enough.
func (r *reader) prices(n ast.Node, all *map[string]cost.Price) {
	if *all == nil {
		*all = map[string]cost.Price{}
	}
	for _, e := range r.entries(n) {
		var p cost.Price
		var said []string
		r.inside(e.Key, func() { said = r.mapping(e.Value, priceKeys(&p)) })
		delete(r.halves, keyName(e.Key))
		switch {
		case slices.Contains(said, "per-1000"):
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

// half is a price without output's, and who read it where.
type half struct {
	*reader
	key ast.MapKeyNode
}

// checkHalves fails where a model that writes has half a price: only what embeds and what
// reranks writes nothing. The price of one that the defaults name for that, or a file that
// may not, is dropped where another one does it: it is none that a cap could be held by.
func (r *reader) checkHalves(c *Config) {
	overruled := slices.ContainsFunc(r.overruled, func(line string) bool {
		return strings.Contains(line, " embeddings") || strings.Contains(line, " rerank")
	})
	for model, at := range r.halves {
		switch {
		case c.WritesNothing(model):
		case r.defaults.WritesNothing(model), overruled && at.reader == r:
			delete(c.Prices, model)
		default:
			at.fail(at.key, "the price of %.60q needs output, in USD per million tokens", model)
		}
	}
}

// WritesNothing reports whether a model is the one that embeds or reranks.
func (c Config) WritesNothing(model string) bool {
	return model == c.Embeddings.Model || model == c.Rerank.Model
}

func modelName(name string, into *string) key {
	return ruled(name, into, func(s string) string {
		if s == "" || len(s) > maxModelName || strings.ContainsFunc(s, unprinted) {
			return mistake("%.60q is not a model's name", s)
		}
		return ""
	})
}

// unprinted reports a character that is none of ASCII's printed ones.
func unprinted(c rune) bool { return c <= ' ' || c > '~' }

func languageKey(into *string) key {
	k := ruled("language", into, wrongLanguage)
	inner := k.read
	k.read = func(r *reader, n ast.Node) {
		inner(r, n)
		*into = strings.TrimSpace(*into)
	}
	k.show = func() any { return cmp.Or(*into, "English") }
	return k
}

func wrongLanguage(s string) string {
	foreign := func(c rune) bool { return c != ' ' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	s = strings.TrimSpace(s)
	if words := len(strings.Fields(s)); words == 0 || words > maxWords || len(s) > maxLanguage ||
		strings.ContainsFunc(s, foreign) || guard.Visible(s) != s {
		return mistake("%.60q is not a language: name it in up to %d words of letters, digits and hyphens, "+
			"%d bytes in all", s, maxWords, maxLanguage)
	}
	return ""
}

func wrongPath(path string) string {
	if diff.CheckPath(path) != nil || strings.ContainsAny(path, "*?[]{}") {
		return mistake("%.60q is not a file's path from the repository's top", path)
	}
	return ""
}

func guidelineKeys(g *Guideline) keys {
	return keys{listed("paths", &g.Paths, wrongGlob), text("text", &g.Text)}
}

func checkGuideline(r *reader, n ast.Node, g Guideline) {
	if len(g.Paths) == 0 || strings.TrimSpace(g.Text) == "" {
		r.fail(n, "a guideline needs paths, a list of globs, and text")
	}
}

// seconds reads a time in whole seconds.
func (r *reader) seconds(n ast.Node, most time.Duration, into *int) {
	var s string
	if bare := digits(n); bare != "" {
		r.fail(n, "expected a time with its unit, such as 10m, got %s", shown(n))
		return
	}
	if !r.text(n, &s) {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second || d > most || d%time.Second != 0 {
		r.fail(n, "%.60q is not a time in whole seconds from 1s to %s, such as 10m", s, Duration(most))
		return
	}
	*into = int(d / time.Second)
}
