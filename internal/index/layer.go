package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
)

// layer is the chunks of some files as they are stored. Little of it is read before it
// is asked for: a chunk, or what holds a token. It is not changed once it is there.
type layer struct {
	made    string
	files   []file   // by path
	sizes   []uint32 // of each chunk, how many tokens it has
	ends    []int    // of each chunk, where its record ends
	records string
	tokens  words
	names   words  // that chunks define
	body    string // all of the above, as it is stored
	packed  packed
	sum     string // of the stored form, in hex; empty where it was not stored yet
}

// file is a file of a layer.
type file struct {
	path        string
	blob        string // empty: the layer below has the path, and the commit does not
	note        string // why it has no chunks, or windows alone; empty for others
	imports     []string
	first, next int // its chunks
}

func (f file) removed() bool { return f.blob == "" }

func (l *layer) find(path string) (int, bool) {
	return slices.BinarySearchFunc(l.files, path, func(f file, path string) int {
		return strings.Compare(f.path, path)
	})
}

// record is what is stored of a chunk, apart from its path.
func (l *layer) record(n int) string {
	from := 0
	if n > 0 {
		from = l.ends[n-1]
	}
	return l.records[from:l.ends[n]]
}

// chunk reads a record. What is wrong with one leaves its chunk empty.
func (l *layer) chunk(path string, n int) chunk.Chunk {
	r := reader{rest: l.record(n)}
	return chunk.Chunk{Path: path, StartLine: r.number(), EndLine: r.number(), Kind: chunk.Kind(r.text()),
		Language: r.text(), Scope: r.text(), Name: r.text(), Signature: r.text(), Doc: r.text(), Text: r.text(),
		Defines: r.list()}
}

func appendRecord(to []byte, c chunk.Chunk) []byte {
	w := writer{to}
	w.number(c.StartLine)
	w.number(c.EndLine)
	w.texts(string(c.Kind), c.Language, c.Scope, c.Name, c.Signature, c.Doc, c.Text)
	w.list(c.Defines)
	return w.out
}

// Count is a chunk, and how often it has a token.
type Count struct {
	Chunk int32
	Times uint16
}

const mostTimes = 1<<16 - 1

func byChunk(a, b Count) int { return cmp.Compare(a.Chunk, b.Chunk) }

// words are names, sorted, and the counts of each.
type words struct{ table, names, held string }

// wordSize is the bytes of a name in the table: where it ends, and where its counts do.
const wordSize = 8

func (w words) len() int { return len(w.table) / wordSize }

// end is where the i-th name, or at 4 its counts, ends.
func (w words) end(i, at int) int {
	if i < 0 {
		return 0
	}
	b := w.table[i*wordSize+at:]
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
}

func (w words) name(i int) string { return between(w.names, w.end(i-1, 0), w.end(i, 0)) }

// counts are those of the i-th name, packed.
func (w words) counts(i int) string { return between(w.held, w.end(i-1, 4), w.end(i, 4)) }

// between is a part of a text; nothing where there is no such part.
func between(text string, from, to int) string {
	if from > to || to > len(text) {
		return ""
	}
	return text[from:to]
}

// of are the packed counts of a name.
func (w words) of(name string) string {
	from, to := 0, w.len()
	for from < to {
		switch middle := (from + to) / 2; strings.Compare(w.name(middle), name) {
		case 0:
			return w.counts(middle)
		case -1:
			from = middle + 1
		default:
			to = middle
		}
	}
	return ""
}

// appendCounts reads packed counts, of the chunks that have a number.
func appendCounts(to []Count, held string, numbers []int32) []Count {
	r := reader{rest: held}
	for last := -1; r.rest != ""; {
		last += r.number()
		times := r.number()
		if r.bad || last < 0 || last >= len(numbers) {
			break
		}
		if n := numbers[last]; n >= 0 {
			to = append(to, Count{n, uint16(min(times, mostTimes))})
		}
	}
	return to
}

// wordsWriter puts words together, by name.
type wordsWriter struct {
	table       []byte
	names, held writer
}

func (w *wordsWriter) add(name string, counts []Count) {
	w.names.out = append(w.names.out, name...)
	last := int32(-1)
	for _, c := range counts {
		w.held.number(int(c.Chunk - last))
		w.held.number(int(c.Times))
		last = c.Chunk
	}
	for _, end := range []int{len(w.names.out), len(w.held.out)} {
		w.table = append(w.table, byte(end), byte(end>>8), byte(end>>16), byte(end>>24))
	}
}

// layerWriter puts a layer together, file by file and chunk by chunk.
type layerWriter struct {
	made          string
	files         []file
	sizes, ends   []int
	records       []byte
	tokens, names wordsWriter
}

// file begins a file; its chunks follow.
func (w *layerWriter) file(f file) {
	f.first, f.next = len(w.sizes), len(w.sizes)
	w.files = append(w.files, f)
}

// chunk adds the record that was appended to records since the last one.
func (w *layerWriter) chunk(size int) {
	w.files[len(w.files)-1].next++
	w.sizes, w.ends = append(w.sizes, size), append(w.ends, len(w.records))
}

// layer is what was put together.
func (w *layerWriter) layer() *layer {
	b := writer{make([]byte, 0, len(w.records)+len(w.tokens.held.out)+2*len(w.tokens.names.out)+16*len(w.sizes)+
		200*len(w.files))}
	b.text(w.made)
	b.number(len(w.files))
	for _, f := range w.files {
		b.texts(f.path, f.blob, f.note)
		b.list(f.imports)
		b.number(f.next - f.first)
	}
	b.number(len(w.sizes))
	end := 0
	for n, size := range w.sizes {
		b.number(size)
		b.number(w.ends[n] - end)
		end = w.ends[n]
	}
	b.bytes(w.records)
	for _, some := range []*wordsWriter{&w.tokens, &w.names} {
		b.bytes(some.table)
		b.bytes(some.names.out)
		b.bytes(some.held.out)
	}
	*w = layerWriter{}
	r := reader{rest: string(b.out)}
	l := r.layer()
	return &l
}

// layer reads what a layerWriter put together, and goes on behind it.
func (r *reader) layer() layer {
	whole := r.rest
	l := layer{made: r.text()}
	chunks := 0
	for range r.count(5) {
		f := file{path: r.text(), blob: r.text(), note: r.text(), imports: r.list(), first: chunks}
		chunks += r.count(1)
		f.next = chunks
		if n := len(l.files); n > 0 && l.files[n-1].path >= f.path || f.removed() && f.next > f.first {
			r.fail()
		}
		l.files = append(l.files, f)
	}
	if r.count(2) != chunks {
		r.fail()
		chunks = 0
	}
	l.sizes, l.ends = make([]uint32, 0, chunks), make([]int, 0, chunks)
	end := 0
	for range chunks {
		l.sizes = append(l.sizes, uint32(r.number()))
		end += r.count(1)
		l.ends = append(l.ends, end)
	}
	if l.records = r.text(); len(l.records) != end {
		r.fail()
	}
	l.tokens, l.names = words{r.text(), r.text(), r.text()}, words{r.text(), r.text(), r.text()}
	if len(l.tokens.table)%wordSize+len(l.names.table)%wordSize != 0 {
		r.fail()
	}
	l.body = whole[:len(whole)-len(r.rest)]
	return l
}
