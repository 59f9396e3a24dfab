package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// cache holds the answered questions of one conversation. A question with the same words
// or meaning gets the earlier one's result. Sharing a cache between conversations would
// make results depend on their timing (P11).
type cache struct {
	mu      sync.Mutex
	entries []entry
	turn    int
}

// entry is a question, in the form in which it is compared, and its answer.
type entry struct {
	// what has to be equal: K, paths, the words that look like names in code, since no
	// cosine tells AddVoter from AddNonvoter, and the whole query unless it is a sentence
	key    string
	text   string // query in lower case, each run of spaces as one
	vector []float32
	result Result
	turn   int // in which it was asked
}

// sameMeaning is the least cosine of two questions that ask the same.
const sameMeaning = 0.95

type conversationKey struct{}

// InConversation returns a context whose searches share answers, so that a question is
// searched only once. Create one for each conversation.
func InConversation(ctx context.Context) context.Context {
	return context.WithValue(ctx, conversationKey{}, &cache{})
}

// BeginTurn begins a turn of the conversation. Questions of one turn are asked side by side, so that a question takes
// the result of another one only from an earlier turn (P11).
func BeginTurn(ctx context.Context) {
	c := conversation(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn++
}

// conversation returns the cache of ctx or, outside of a conversation, a new one.
func conversation(ctx context.Context) *cache {
	if c, ok := ctx.Value(conversationKey{}).(*cache); ok {
		return c
	}
	return &cache{}
}

// entryOf returns a question in the form in which it is compared, without vector and result.
func entryOf(r Request) entry {
	names := slices.DeleteFunc(chunk.Identifiers(r.Query), func(word string) bool {
		return word == strings.ToLower(word) && !strings.ContainsAny(word, marks)
	})
	slices.Sort(names)
	whole := r.Query
	if parseQuery(r.Query).isSentence() {
		whole = ""
	}
	return entry{key: fmt.Sprintf("%d %q %q %q", r.K, r.Paths, names, whole),
		text: strings.ToLower(strings.Join(strings.Fields(r.Query), " "))}
}

// find returns the result of an earlier question with the same key that has the same text or, if both have vectors,
// the same meaning: of several, the first in the order of their turns and texts.
func (c *cache) find(e entry) (known Result, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var from entry
	for _, earlier := range c.entries {
		same := e.text == earlier.text || len(e.vector) > 0 && len(e.vector) == len(earlier.vector) &&
			earlier.turn < c.turn && vector.Dot(e.vector, earlier.vector) >= sameMeaning
		if e.key == earlier.key && same && (!ok ||
			cmp.Or(earlier.turn-from.turn, strings.Compare(earlier.text, from.text)) < 0) {
			from, ok = earlier, true
		}
	}
	known = from.result
	known.Hits, known.Cached = slices.Clone(known.Hits), ok
	return known, ok
}

func (c *cache) keep(e entry, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.result, e.turn = r, c.turn
	c.entries = append(c.entries, e)
}
