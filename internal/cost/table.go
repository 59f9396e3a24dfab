package cost

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// PricesAsOf returns the date of the built-in prices, as 2006-01-02. Prices
// change: a price in the configuration overrides the table.
func PricesAsOf() string { return "2026-11-19" }

// PriceOf returns the built-in price of a model, for prompts of up to 100,000 tokens in
// the vendor's standard tier. The name may include the vendor ("openai/gpt-6-luna"), a
// date ("gpt-5.4-mini-2026-03-17") and dots or hyphens in its version. A longer or
// shorter name is a different model, and copies offered by other vendors are not found.
func PriceOf(model string) (Price, bool) {
	name := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(model)), "openrouter/")
	slash := strings.LastIndexByte(name, '/')
	name, vendor := spelling(name[slash+1:]), name[:max(slash, 0)]
	if p, ok := lookup(name, vendor); ok {
		return p, true
	}
	if bare := dated().ReplaceAllString(name, ""); bare != name {
		return lookup(bare, vendor)
	}
	return Price{}, false
}

// dated matches the date that vendors append to a model's name.
var dated = pattern.Lazy(`[-@]20\d{2}-?[01]\d-?[0-3]\d$`)

// spelling maps spellings to one: claude-sonnet-4.5 to claude-sonnet-4-5, and
// Azure's gpt-35-turbo to that of gpt-3.5-turbo.
func spelling(name string) string {
	return strings.ReplaceAll(strings.Replace(name, "gpt-35-", "gpt-3.5-", 1), ".", "-")
}

func lookup(name, vendor string) (Price, bool) {
	for _, l := range lists {
		if vendor != "" && !contains(l.vendors, vendor) {
			continue
		}
		for _, r := range l.rows {
			if contains(r.models, name) {
				return l.price(r), true
			}
		}
	}
	return Price{}, false
}

// contains reports whether a space-separated list contains a name.
func contains(list, name string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(item string) bool { return spelling(item) == name })
}

// list is the price list of one vendor.
type list struct {
	vendors  string // the vendor's names, as prefixes of a model's name
	rows     []row
	searches bool // for rerankers: input is the price of a thousand searches
}

// row is the price of models, in USD per million tokens. Cached input and cache
// writes cost the same as input unless they have their own price (0).
type row struct {
	models                            string
	input, cached, output, cacheWrite float64
}

func (l list) price(r row) Price {
	if l.searches {
		return Price{PerThousand: micro(r.input)}
	}
	return Price{Input: micro(r.input), CachedInput: micro(cmp.Or(r.cached, r.input)), Output: micro(r.output),
		CacheWrite: micro(cmp.Or(r.cacheWrite, r.input))}
}

func micro(dollars float64) MicroUSD { return MicroUSD(math.Round(dollars * million)) }
