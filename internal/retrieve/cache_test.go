package retrieve

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunk"
)

func TestP11_AQuestionTakesTheResultOfOneThatAsksTheSame(t *testing.T) {
	t.Parallel()
	at := func(x, y float32) []float32 { return []float32{x, y} }
	first := Request{Query: "where is AddVoter called"}
	hunk := "@@ -1 +1 @@\n-a := 1\n+a := 2\n"
	for _, c := range []struct {
		name   string
		first  Request
		vector []float32
		second Request
		asks   []float32
		hit    bool
	}{
		{"same text", first, nil, first, nil, true},
		{"other spaces and capitals", Request{Query: "Close  the\npool"}, nil, Request{Query: "close the pool"}, nil,
			false}, // Close may be a name
		{"other spaces", Request{Query: "close  the\npool"}, nil, Request{Query: "close the pool"}, nil, true},
		{"same meaning", first, at(1, 0), Request{Query: "who calls AddVoter"}, at(0.96, 0.28), true},
		{"nearly the same meaning", first, at(1, 0), Request{Query: "who calls AddVoter"}, at(0.94, 0.34), false},
		{"another name", first, at(1, 0), Request{Query: "where is AddNonvoter called"}, at(1, 0), false},
		{"no vector", first, nil, Request{Query: "who calls AddVoter"}, nil, false},
		{"a vector of another model", first, at(1, 0), Request{Query: "who calls AddVoter"}, []float32{1}, false},
		{"another number of hits", first, nil, Request{Query: first.Query, K: 4}, nil, false},
		{"other paths", first, nil, Request{Query: first.Query, Paths: []string{"a/**"}}, nil,
			false},
		{"the same change", Request{Query: hunk}, at(1, 0), Request{Query: hunk}, nil, true},
		{"another change", Request{Query: hunk}, at(1, 0), Request{Query: "@@ -1 +1,2 @@\n-a := 1\n+a := 2\n+b\n"},
			at(1, 0), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answers := &cache{}
			e := entryOf(c.first)
			_, ok := answers.find(e)
			require.False(t, ok)
			e.vector = c.vector
			answers.keep(e, Result{Hits: []Hit{{Chunk: chunk.Chunk{Path: "a.go"}}}})
			asked := entryOf(c.second)
			asked.vector = c.asks
			_, ok = answers.find(asked)
			require.Equal(t, c.hit && entryOf(c.first).text == asked.text, ok, "in one turn, who is first is chance")
			BeginTurn(context.WithValue(t.Context(), conversationKey{}, answers))
			asked.vector = nil
			r, ok := answers.find(asked)
			if asked.vector = c.asks; !ok && asked.vector != nil {
				r, ok = answers.find(asked)
			}
			require.Equal(t, c.hit, ok)
			require.Equal(t, c.hit, r.Cached)
			if c.hit {
				require.Len(t, r.Hits, 1)
			}
		})
	}
	for _, order := range [][]string{{"who calls AddVoter", "who uses AddVoter"},
		{"who uses AddVoter", "who calls AddVoter"}} {
		answers := &cache{}
		for _, text := range order {
			e := entryOf(Request{Query: text})
			e.vector = at(1, 0)
			answers.keep(e, Result{Notes: []string{text}})
		}
		answers.turn++
		e := entryOf(first)
		e.vector = at(1, 0)
		r, _ := answers.find(e)
		require.Equal(t, []string{"who calls AddVoter"}, r.Notes, "whichever of a turn's ended first")
	}
	conversation(t.Context()).keep(entryOf(first), Result{})
	_, ok := conversation(t.Context()).find(entryOf(first))
	require.False(t, ok, "without a conversation nothing is shared")
}
