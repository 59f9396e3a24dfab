package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

// cut is a file with its chunks, and their tokens.
type cut struct {
	file
	size    int64
	chunks  []chunk.Chunk
	counted [][]tokenCount
}

// tokenCount is how often a chunk has a token.
type tokenCount struct {
	token string
	times uint16
}

// countTokens counts what a chunk is found by.
func countTokens(c chunk.Chunk) []tokenCount {
	times := map[string]int{}
	for _, token := range chunk.Tokens(c.Prefix() + c.Text) {
		times[token]++
	}
	all := make([]tokenCount, 0, len(times))
	for token, n := range times {
		all = append(all, tokenCount{token, uint16(min(n, mostTimes))})
	}
	return all
}

// layerOf is a layer of files that were just cut.
func layerOf(made string, files []cut) *layer {
	order.Stable(files, func(a, b cut) int { return cmp.Compare(a.path, b.path) })
	w := layerWriter{made: made}
	tokens, names := map[string][]Count{}, map[string][]Count{}
	for _, f := range files {
		w.file(f.file)
		for i, c := range f.chunks {
			n, size := int32(len(w.sizes)), 0
			for _, t := range f.counted[i] {
				tokens[t.token] = append(tokens[t.token], Count{n, t.times})
				size += int(t.times)
			}
			for _, name := range slices.Compact(slices.Sorted(slices.Values(c.Defines))) {
				names[name] = append(names[name], Count{n, 1})
			}
			w.records = appendRecord(w.records, c)
			w.chunk(size)
		}
	}
	w.tokens.all(tokens)
	w.names.all(names)
	return w.layer()
}

func (w *wordsWriter) all(of map[string][]Count) {
	all := make([]string, 0, len(of))
	for name := range of {
		all = append(all, name)
	}
	slices.Sort(all)
	for _, name := range all {
		w.add(name, of[name])
	}
}

// some is files of a layer that are merged into another one, by path.
type some struct {
	*layer
	files   []file
	numbers []int32 // of the layer's chunks in the new one; -1: not taken
}

// merge puts files of several layers into one. It is the same, to the byte, wherever
// they were. The paths that are gone are marked as removed.
func merge(made string, from []some, gone []string) *layer {
	if len(from) == 1 && len(gone) == 0 && len(from[0].files) == len(from[0].layer.files) {
		return from[0].layer
	}
	type entry struct {
		file
		of *some
	}
	var all []entry
	for i := range from {
		from[i].numbers = slices.Repeat([]int32{-1}, len(from[i].sizes))
		for _, f := range from[i].files {
			all = append(all, entry{f, &from[i]})
		}
	}
	for _, path := range gone {
		all = append(all, entry{file{path: path}, nil})
	}
	order.Stable(all, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	w := layerWriter{made: made}
	for _, e := range all {
		w.file(e.file)
		for n := e.first; n < e.next; n++ {
			e.of.numbers[n] = int32(len(w.sizes))
			w.records = append(w.records, e.of.record(n)...)
			w.chunk(int(e.of.sizes[n]))
		}
	}
	w.tokens.merge(from, func(l *layer) words { return l.tokens })
	w.names.merge(from, func(l *layer) words { return l.names })
	l := w.layer()
	l.packed = mergePacked(from)
	return l
}

// merge adds the words of all, by name.
func (w *wordsWriter) merge(from []some, in func(*layer) words) {
	at, heads, counts := make([]int, len(from)), make([]string, len(from)), []Count{}
	next := func(i int) {
		if of := in(from[i].layer); at[i] < of.len() {
			heads[i] = of.name(at[i])
		}
	}
	for i := range from {
		next(i)
	}
	for {
		name, found := "", false
		for i, f := range from {
			if at[i] < in(f.layer).len() && (!found || heads[i] < name) {
				name, found = heads[i], true
			}
		}
		if !found {
			return
		}
		counts = counts[:0]
		for i, f := range from {
			if of := in(f.layer); at[i] < of.len() && heads[i] == name {
				counts = appendCounts(counts, of.counts(at[i]), f.numbers)
				at[i]++
				next(i)
			}
		}
		if slices.SortFunc(counts, byChunk); len(counts) > 0 {
			w.add(name, counts)
		}
	}
}

// flat is one layer of all files, whatever the index was built over.
func (x *Index) flat() *layer {
	if len(x.layers) == 1 {
		return x.layers[0]
	}
	from := make([]some, len(x.layers))
	for i, l := range x.layers {
		from[i].layer = l
	}
	for _, p := range visible(x.layers) {
		i := slices.Index(x.layers, p.layer)
		from[i].files = append(from[i].files, p.file)
	}
	return merge(x.made, from, nil)
}
