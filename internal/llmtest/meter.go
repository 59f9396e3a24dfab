package llmtest

import (
	"math"
	"regexp"
	"sync"

	"github.com/org/pr-review-action/internal/cost"
)

type meter struct {
	Caches bool        // reports cached tokens by common prefixes
	Apart  bool        // reports reasoning outside the output tokens, only in the total, as xAI and Gemini do
	Price  *cost.Price // price of the bill; nil for none

	mu              sync.Mutex
	bill, wholeBill cost.Usage
	cache           []string        // prompts
	prefixes        map[string]bool // those of the models in breakpoints
}

// Prompt caches keep prefixes from cacheFrom tokens on, in steps of cacheStep (OpenAI's guide to prompt caching).
const (
	cacheFrom = 1024
	cacheStep = 128
)

// breakpoints are the models that find prefixes only where a turn ended, bill what they write to the cache, and write
// each request, unless it asks for explicit breakpoints alone.
var breakpoints = regexp.MustCompile(`^gpt-(5\.[6-9]|[6-9])`)

// Bill returns the cost of all answers so far, lost ones included. An answer's own cost overrides the price.
func (m *meter) Bill() cost.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bill
}

// WholeBill returns the part of the bill for questions about a change as a whole.
func (m *meter) WholeBill() cost.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wholeBill
}

func (m *meter) charge(r Request, a Answer) {
	u := cost.Usage{
		InputTokens: int64(a.input), CachedTokens: int64(a.Cached), CacheWriteTokens: int64(a.CacheWrite),
		OutputTokens: int64(a.output()), ReasoningTokens: int64(a.Reasoning), Calls: 1,
	}
	switch {
	case a.Cost != 0:
		u.Cost = cost.MicroUSD(math.Ceil(a.Cost*1e6 - 1e-6))
	case m.Price != nil:
		u.Cost = m.Price.Of(u)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bill = cost.Add(m.bill, u)
	if r.Whole() {
		m.wholeBill = cost.Add(m.wholeBill, u)
	}
}

// cached returns how many tokens of a request are in the cache, and how many it writes to it.
func (m *meter) cached(r Request) (read, written int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if breakpoints.MatchString(r.Model) {
		found, kept := r.prefixes()
		for _, prefix := range found {
			if m.prefixes[prefix] {
				read = len(prefix) / bytesPerToken
			}
		}
		for _, prefix := range kept {
			written = len(prefix)/bytesPerToken - read
		}
		return read, max(written, 0)
	}
	prompt, longest := r.prompt(), 0
	for _, earlier := range m.cache {
		longest = max(longest, commonPrefix(prompt, earlier)/bytesPerToken)
	}
	if longest < cacheFrom {
		return 0, 0
	}
	return longest / cacheStep * cacheStep, 0
}

// prefixes returns the prefixes of a request that are looked for in the cache, and those that are kept there: the one
// before its breakpoint, and if the choice is the server's, also those before any end of a turn, of which the last is
// kept.
func (r Request) prefixes() (found, kept []string) {
	prompt, ends := r.turns()
	options, _ := r.Fields["prompt_cache_options"].(map[string]any)
	explicit := options["mode"] == "explicit"
	for i, end := range ends {
		marked := i == 0 && r.Breakpoint
		if end < cacheFrom*bytesPerToken || explicit && !marked {
			continue
		}
		if found = append(found, prompt[:end]); marked || i == len(ends)-1 {
			kept = append(kept, prompt[:end])
		}
	}
	return found, kept
}

// remember caches a request after its answer: concurrent requests find nothing of one another.
func (m *meter) remember(r Request) {
	if !m.Caches {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if breakpoints.MatchString(r.Model) {
		_, kept := r.prefixes()
		for _, prefix := range kept {
			m.prefixes[prefix] = true
		}
		return
	}
	m.cache = append(m.cache, r.prompt())
}

func commonPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
