package retrieve

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// Cache holds the answered questions of one conversation. A question that reads or
// means the same takes the result of the earlier one. Sharing one between conversations
// would make a result depend on their timing (P11). A nil Cache holds nothing.
type Cache struct {
	mu      sync.Mutex
	entries []entry
	stats   CacheStats
}

// CacheStats counts what a cache was good for.
type CacheStats struct {
	Asked int // questions
	Hits  int // of them answered by an earlier one
	Saved int // calls of remote endpoints that were not made
}

// entry is an answered question.
type entry struct {
	text    string // normalised, with what else settles the result
	names   []string
	vector  []float32
	byText  bool // a change, or a name's uses: another one is not the same, however near
	options string
	result  Result
}

// sameMeaning is the cosine from which on two questions ask the same.
const sameMeaning = 0.95

// Stats are the cache's counts so far.
func (c *Cache) Stats() CacheStats {
	if c == nil {
		return CacheStats{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// entryOf is a question as it is compared: K and filter have to be equal.
func entryOf(r Request) entry {
	options := fmt.Sprintf("%d %q", r.K, r.Filter.Paths)
	q := ask(r.Query)
	byText := q.hunks != nil || q.uses
	text := r.Query
	if !byText {
		text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	}
	return entry{text: text, names: codeNames(r.Query), options: options, byText: byText}
}

// codeNames are the words of a question that look like names in code, sorted: no
// cosine tells AddVoter from AddNonvoter.
func codeNames(text string) []string {
	names := slices.DeleteFunc(chunk.Identifiers(text), func(word string) bool {
		return !strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' || r == '$'
		})
	})
	slices.Sort(names)
	return names
}

// find is the result of an earlier question: of the same words, or, where there is a
// vector, of the same meaning and the same names. Saves says how many calls a hit spares.
func (c *Cache) find(e entry, saves int) (Result, bool) {
	if c == nil {
		return Result{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.vector == nil { // each question is looked up by its words first
		c.stats.Asked++
	}
	at := slices.IndexFunc(c.entries, e.same)
	if at < 0 {
		return Result{}, false
	}
	c.stats.Hits++
	c.stats.Saved += saves
	known := c.entries[at].result
	known.Hits, known.Cached = slices.Clone(known.Hits), true
	return known, true
}

// same reports whether an earlier question asks what e does.
func (e entry) same(earlier entry) bool {
	if e.options != earlier.options || e.byText != earlier.byText {
		return false
	}
	if e.text == earlier.text {
		return slices.Equal(e.names, earlier.names) // in the same case too
	}
	return !e.byText && len(e.vector) > 0 && len(e.vector) == len(earlier.vector) &&
		slices.Equal(e.names, earlier.names) && vector.Dot(e.vector, earlier.vector) >= sameMeaning
}

// keep adds an answered question.
func (c *Cache) keep(e entry, r Result) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.result = r
	c.entries = append(c.entries, e)
}
