package llmtest

import (
	"math"

	"github.com/org/pr-review-action/internal/cost"
)

// Prompt caches hold prefixes from so many tokens on, in steps of so many
// (OpenAI's guide to prompt caching).
const (
	cacheFrom = 1024
	cacheStep = 128
)

// Bill is what all answers so far cost, also those that a fault kept from the
// client. An answer's own cost counts before the price.
func (s *Server) Bill() cost.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bill
}

// WholeBill is the part of the bill for questions about a change as a whole.
func (s *Server) WholeBill() cost.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wholeBill
}

// charge puts an answer on the bill.
func (s *Server) charge(r Request, a Answer) {
	u := cost.Usage{
		InputTokens: int64(a.input), CachedTokens: int64(a.Cached), CacheWriteTokens: int64(a.CacheWrite),
		OutputTokens: int64(a.output()), ReasoningTokens: int64(a.Reasoning), Calls: 1,
	}
	switch {
	case a.Cost != 0:
		u.Cost = cost.MicroUSD(math.Ceil(a.Cost*1e6 - 1e-6))
	case s.Price != nil:
		u.Cost = s.Price.Of(u)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bill = cost.Add(s.bill, u)
	if r.Whole() {
		s.wholeBill = cost.Add(s.wholeBill, u)
	}
}

// cached is how many tokens of a request are in the cache.
func (s *Server) cached(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	prompt, longest := r.prompt(), 0
	for _, earlier := range s.cache {
		longest = max(longest, commonPrefix(prompt, earlier)/bytesPerToken)
	}
	if longest < cacheFrom {
		return 0
	}
	return longest / cacheStep * cacheStep
}

// remember puts a request that was answered into the cache: requests that run
// beside each other find nothing of one another.
func (s *Server) remember(r Request) {
	if !s.Caches {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache = append(s.cache, r.prompt())
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
