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
// would make a result depend on their timing (P11). A nil cache holds nothing.
type cache struct {
	mu      sync.Mutex
	entries []entry
}

// entry is a question as it is compared, and its answer.
type entry struct {
	text    string   // of a sentence without its spaces and capitals
	names   []string // words that look like names in code: no cosine tells AddVoter from AddNonvoter
	vector  []float32
	byText  bool // a change, or a name's uses: another one is not the same, however near
	options string
	result  Result
}

// sameMeaning is the cosine from which on two questions ask the same.
const sameMeaning = 0.95

type conversationKey struct{}

// InConversation returns a context whose searches share answers: equal questions of one
// conversation are asked once. Give each conversation one.
func InConversation(ctx context.Context) context.Context {
	return context.WithValue(ctx, conversationKey{}, &cache{})
}

func conversation(ctx context.Context) *cache {
	c, _ := ctx.Value(conversationKey{}).(*cache)
	return c
}

// entryOf is a question as it is compared: K and filter have to be equal.
func entryOf(r Request) entry {
	q := ask(r.Query)
	e := entry{text: r.Query, options: fmt.Sprintf("%d %q", r.K, r.Filter.Paths), byText: !q.sentence()}
	if !e.byText {
		e.text = strings.ToLower(strings.Join(strings.Fields(r.Query), " "))
	}
	e.names = slices.DeleteFunc(chunk.Identifiers(r.Query), func(word string) bool {
		return word == strings.ToLower(word) && !strings.ContainsAny(word, marks)
	})
	slices.Sort(e.names)
	return e
}

// find is the result of an earlier question: of the same words, or, where there is a
// vector, of the same meaning and the same names.
func (c *cache) find(e entry) (Result, bool) {
	if c == nil {
		return Result{}, false
	}
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
	if e.options != earlier.options || e.byText != earlier.byText || !slices.Equal(e.names, earlier.names) {
		return false
	}
	return e.text == earlier.text || !e.byText && len(e.vector) > 0 && len(e.vector) == len(earlier.vector) &&
		vector.Dot(e.vector, earlier.vector) >= sameMeaning
}

// keep adds an answered question.
func (c *cache) keep(e entry, r Result) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.result = r
	c.entries = append(c.entries, e)
}
