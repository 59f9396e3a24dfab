package retrieve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// cache holds the answered questions of one conversation. A question that reads or
// means the same takes the result of the earlier one. Sharing one between conversations
// would make a result depend on their timing (P11).
type cache struct {
	mu      sync.Mutex
	entries []entry
}

// entry is a question as it is compared, and its answer.
type entry struct {
	// what has to be equal: K, filter, the words that look like names in code, since no
	// cosine tells AddVoter from AddNonvoter, and all of a change or of a name's uses
	key    string
	text   string // of a sentence without its spaces and capitals
	vector []float32
	result Result
}

// sameMeaning is the cosine from which on two questions ask the same.
const sameMeaning = 0.95

type conversationKey struct{}

// InConversation returns a context whose searches share answers: equal questions of one
// conversation are asked once. Give each conversation one.
func InConversation(ctx context.Context) context.Context {
	return context.WithValue(ctx, conversationKey{}, &cache{})
}

// conversation is the cache of ctx; outside of a conversation one that nobody else has.
func conversation(ctx context.Context) *cache {
	if c, ok := ctx.Value(conversationKey{}).(*cache); ok {
		return c
	}
	return &cache{}
}

// entryOf is a question as it is compared.
func entryOf(r Request) entry {
	names := slices.DeleteFunc(chunk.Identifiers(r.Query), func(word string) bool {
		return word == strings.ToLower(word) && !strings.ContainsAny(word, marks)
	})
	slices.Sort(names)
	whole := r.Query
	if ask(r.Query).sentence() {
		whole = ""
	}
	return entry{key: fmt.Sprintf("%d %q %q %q", r.K, r.Filter.Paths, names, whole),
		text: strings.ToLower(strings.Join(strings.Fields(r.Query), " "))}
}

// find is the result of an earlier question: of the same words, or, where there is a
// vector, of the same meaning and the same names.
func (c *cache) find(e entry) (Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.entries, e.same)
	if at < 0 {
		return Result{}, false
	}
	known := c.entries[at].result
	known.Hits, known.Cached = slices.Clone(known.Hits), true
	return known, true
}

// same reports whether an earlier question asks what e does.
func (e entry) same(earlier entry) bool {
	return e.key == earlier.key && (e.text == earlier.text || len(e.vector) > 0 &&
		len(e.vector) == len(earlier.vector) && vector.Dot(e.vector, earlier.vector) >= sameMeaning)
}

// keep adds an answered question.
func (c *cache) keep(e entry, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.result = r
	c.entries = append(c.entries, e)
}
