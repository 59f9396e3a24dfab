package index

import (
	"cmp"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/chunk"
)

// tokens is what chunks hold of which token, by chunk and by token.
type tokens struct {
	names []string // by id, in the order in which they come first
	ids   map[string]uint32

	from  []uint32 // of each chunk, where its counts begin, and behind the last one
	held  []uint32 // tokens of chunks, in order of the names
	times []uint16
	sizes []uint32 // of each chunk, how many tokens it has

	postFrom  []uint32 // of each token, where its chunks begin, and behind the last one
	postChunk []int32
	postTimes []uint16
	mean      float64 // of sizes
}

// tokenCount is how often a chunk has a token.
type tokenCount struct {
	token string
	times uint16
}

const mostTimes = 1<<16 - 1

// countTokens counts what a chunk is found by, in order of the tokens.
func countTokens(c chunk.Chunk) []tokenCount {
	times := map[string]int{}
	for _, token := range chunk.Tokens(c.Prefix() + c.Text) {
		times[token]++
	}
	all := make([]tokenCount, 0, len(times))
	for _, token := range slices.Sorted(maps.Keys(times)) {
		all = append(all, tokenCount{token, uint16(min(times[token], mostTimes))})
	}
	return all
}

// tokenBuilder puts the tokens of chunks together, chunk by chunk.
type tokenBuilder struct {
	tokens
	renamed map[*tokens][]uint32 // ids in another index → one more than the id here
}

func newTokenBuilder() *tokenBuilder {
	return &tokenBuilder{tokens: tokens{ids: map[string]uint32{}, from: []uint32{0}}, renamed: map[*tokens][]uint32{}}
}

func (b *tokenBuilder) id(token string) uint32 {
	id, ok := b.ids[token]
	if !ok {
		id = uint32(len(b.names))
		b.ids[token] = id
		b.names = append(b.names, token)
	}
	return id
}

// add takes the counted tokens of the next chunk in.
func (b *tokenBuilder) add(counted []tokenCount) {
	for _, c := range counted {
		b.held = append(b.held, b.id(c.token))
		b.times = append(b.times, c.times)
	}
	b.end()
}

// take takes the tokens of the next chunk from another index.
func (b *tokenBuilder) take(other *tokens, chunk int) {
	renamed := b.renamed[other]
	if renamed == nil {
		renamed = make([]uint32, len(other.names))
		b.renamed[other] = renamed
	}
	for i := other.from[chunk]; i < other.from[chunk+1]; i++ {
		old := other.held[i]
		if renamed[old] == 0 {
			renamed[old] = b.id(other.names[old]) + 1
		}
		b.held = append(b.held, renamed[old]-1)
		b.times = append(b.times, other.times[i])
	}
	b.end()
}

// end ends a chunk.
func (b *tokenBuilder) end() {
	size := uint32(0)
	for _, n := range b.times[b.from[len(b.from)-1]:] {
		size += uint32(n)
	}
	b.sizes = append(b.sizes, size)
	b.from = append(b.from, uint32(len(b.held)))
}

// finish turns the counts round: of each token the chunks that have it, in order.
func (b *tokenBuilder) finish() tokens {
	t := b.tokens
	t.postFrom = make([]uint32, len(t.names)+1)
	for _, id := range t.held {
		t.postFrom[id+1]++
	}
	for i := range t.names {
		t.postFrom[i+1] += t.postFrom[i]
	}
	t.postChunk, t.postTimes = make([]int32, len(t.held)), make([]uint16, len(t.held))
	next := slices.Clone(t.postFrom)
	for chunk := range t.sizes {
		for i := t.from[chunk]; i < t.from[chunk+1]; i++ {
			at := next[t.held[i]]
			next[t.held[i]]++
			t.postChunk[at], t.postTimes[at] = int32(chunk), t.times[i]
		}
	}
	sum := 0.0
	for _, size := range t.sizes {
		sum += float64(size)
	}
	t.mean = cmp.Or(sum/max(1, float64(len(t.sizes))), 1)
	return t
}

// of are the chunks that hold a token, and how often each does.
func (t *tokens) of(token string) (chunks []int32, times []uint16) {
	id, ok := t.ids[token]
	if !ok {
		return nil, nil
	}
	from, to := t.postFrom[id], t.postFrom[id+1]
	return t.postChunk[from:to], t.postTimes[from:to]
}
