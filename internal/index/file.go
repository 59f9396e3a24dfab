package index

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"iter"
	"math"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// ErrDamaged reports that a stored index is damaged, cut short or of another version, and
// has to be built again.
var ErrDamaged = errors.New("the stored index is damaged, cut short or of another version")

// The form of a stored index: this line, the SHA-256 of the rest, then the rest: the version
// of the cutting code, the head, all rows, and the vector of each chunk.
const magic = Format + "\n"

// Format is the version of the form of rows and head. Other versions cannot be read.
const Format = "pr-review index 4"

const header = len(magic) + sha256.Size

func headerOf(rest []byte) string {
	sum := sha256.Sum256(rest)
	return magic + string(sum[:])
}

// Encode returns the stored form of an index. It is the same for the same files, however
// the index was built.
func (x *Index) Encode() []byte {
	size := header + 64*len(x.files) + (x.vectors.Dimensions+16)*len(x.sizes)
	for _, row := range x.rows {
		size += len(row.key) + len(row.value) + 8
	}
	c := codec{out: make([]byte, header, size)}
	c.index(x)
	copy(c.out, headerOf(c.out[header:]))
	return c.out
}

// Decode reads the output of Encode. It returns ErrDamaged for anything else.
func Decode(stored []byte) (*Index, error) {
	if len(stored) < header || string(stored[:header]) != headerOf(stored[header:]) {
		return nil, ErrDamaged
	}
	c, x := codec{reads: true, rest: string(stored[header:])}, Index{Source: &Source{}}
	c.index(&x)
	for i, r := range x.rows {
		c.bad = c.bad || i > 0 && x.rows[i-1].key >= r.key ||
			i < len(x.sizes) && (r.key != recordKey(i) || r.value == "")
	}
	for _, v := range x.packed {
		c.bad = c.bad || v != "" && !vector.IsPacked(v, x.vectors.Dimensions)
	}
	if c.bad || c.rest != "" || len(x.rows) < len(x.sizes) {
		return nil, ErrDamaged
	}
	return newIndex(x.made, x.files, x.sizes, x.rows, x.vectors, x.packed), nil
}

// Head returns what Open needs in addition to the rows.
func (x *Index) Head() []byte {
	var c codec
	c.head(x.Source)
	return c.out
}

// Open returns the source of an index whose rows are stored elsewhere. It returns
// ErrDamaged if head is not the output of Head.
func Open(head []byte, rows Rows) (*Source, error) {
	c, x := codec{reads: true, rest: string(head)}, Source{}
	c.head(&x)
	if c.bad || c.rest != "" {
		return nil, ErrDamaged
	}
	return newSource(x.files, x.sizes, x.vectors, rows), nil
}

// recordOf returns the stored form of a chunk, without its path.
func recordOf(x chunk.Chunk) string {
	var c codec
	c.record(&x)
	return string(c.out)
}

// readRecord decodes a record. In a damaged one, the fields from the damage on are empty.
func readRecord(path, record string) chunk.Chunk {
	c, x := codec{reads: true, rest: record}, chunk.Chunk{Path: path}
	c.record(&x)
	return x
}

// count is the number of times that a word occurs in a chunk.
type count struct{ chunk, times int32 }

// pack returns the stored form of a word's counts, which are in order of chunk.
func pack(counts []count) string {
	out := make([]byte, 0, 2*len(counts)+8)
	next := int32(0)
	for _, c := range counts {
		out = binary.AppendUvarint(out, uint64(c.chunk-next))
		out = binary.AppendUvarint(out, uint64(c.times))
		next = c.chunk + 1
	}
	return string(out)
}

// unpack yields the counts that pack stored, for an index with that many chunks. It stops
// at the first damaged one.
func unpack(held string, chunks int) iter.Seq[count] {
	return func(yield func(count) bool) {
		c := codec{rest: held}
		for next := 0; c.rest != ""; next++ {
			next += c.read()
			one := count{int32(next), int32(min(c.read(), math.MaxInt32))}
			if c.bad || next < 0 || next >= chunks || !yield(one) {
				return
			}
		}
	}
}

// codec describes what is stored once for both ways: it appends what it is given pointers to, or reads it. Reading, it
// checks every length before it uses it. A wrong one sets bad, and everything after it is zero.
type codec struct {
	out   []byte
	reads bool
	rest  string // to be read
	bad   bool
}

func (c *codec) index(x *Index) {
	text(c, &x.made)
	c.head(x.Source)
	list(c, &x.rows, 2, func(r *row) {
		text(c, &r.key)
		text(c, &r.value)
	})
	if c.reads {
		x.packed = make([]string, len(x.sizes))
	}
	for n := range x.packed {
		text(c, &x.packed[n])
	}
}

func (c *codec) head(x *Source) {
	chunks, last := 0, ""
	list(c, &x.files, 5, func(f *file) {
		text(c, &f.path)
		text(c, &f.blob)
		text(c, &f.note)
		c.texts(&f.imports)
		n := c.count(f.next-f.first, 1)
		if c.reads {
			f.first, f.next = chunks, chunks+n
			c.bad = c.bad || last >= f.path
		}
		chunks, last = chunks+n, f.path
	})
	list(c, &x.sizes, 1, func(n *uint32) { number(c, n) })
	if len(x.sizes) != chunks {
		c.fail()
	}
	text(c, &x.vectors.Model)
	number(c, &x.vectors.Dimensions)
	number(c, &x.vectors.Missing)
}

func (c *codec) record(x *chunk.Chunk) {
	number(c, &x.StartLine)
	number(c, &x.EndLine)
	text(c, &x.Kind)
	for _, field := range []*string{&x.Language, &x.Scope, &x.Name, &x.Signature, &x.Doc, &x.Text} {
		text(c, field)
	}
	c.texts(&x.Defines)
}

func (c *codec) texts(all *[]string) { list(c, all, 1, func(s *string) { text(c, s) }) }

// list has a list's length and its items, each of at least that many bytes.
func list[T any](c *codec, all *[]T, least int, item func(*T)) {
	if n := c.count(len(*all), least); c.reads {
		*all = append(*all, make([]T, n)...)
	}
	for i := range *all {
		item(&(*all)[i])
	}
}

func number[N int | uint32](c *codec, n *N) {
	if c.reads {
		*n = N(c.read())
	} else {
		c.out = binary.AppendUvarint(c.out, uint64(*n))
	}
}

func text[S ~string](c *codec, s *S) {
	n := c.count(len(*s), 1)
	if c.reads {
		*s, c.rest = S(c.rest[:n]), c.rest[n:]
	} else {
		c.out = append(c.out, *s...)
	}
}

// count has the number of items that follow, each of at least that many bytes, and fails if they do not fit.
func (c *codec) count(n, least int) int {
	if number(c, &n); c.reads && n > len(c.rest)/least {
		c.fail()
		return 0
	}
	return n
}

func (c *codec) read() int {
	n, size := binary.Uvarint([]byte(c.rest[:min(len(c.rest), binary.MaxVarintLen64)]))
	if size <= 0 || n > math.MaxInt {
		c.fail()
		return 0
	}
	c.rest = c.rest[size:]
	return int(n)
}

func (c *codec) fail() { c.bad, c.rest = true, "" }
