package index

import (
	"bytes"
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

// Encode returns the stored form of an index. It is the same for the same files, however
// the index was built.
func (x *Index) Encode() []byte {
	size := header + 64*len(x.files) + (x.vectors.Dimensions+16)*len(x.sizes)
	for _, row := range x.rows {
		size += len(row.key) + len(row.value) + 8
	}
	w := writer(append(make([]byte, 0, size), magic...))
	w = append(w, make([]byte, sha256.Size)...)
	w.text(x.made)
	w.head(x.Source)
	w.number(len(x.rows))
	for _, row := range x.rows {
		w.texts(row.key, row.value)
	}
	w.texts(x.packed...)
	sum := sha256.Sum256(w[header:])
	copy(w[len(magic):], sum[:])
	return w
}

// Decode reads the output of Encode. It returns ErrDamaged for anything else.
func Decode(stored []byte) (*Index, error) {
	if len(stored) < header || string(stored[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	if sum := sha256.Sum256(stored[header:]); !bytes.Equal(sum[:], stored[len(magic):header]) {
		return nil, ErrDamaged
	}
	r := reader{rest: string(stored[header:])}
	made := r.text()
	files, sizes, info := r.head()
	rows := make([]row, r.count(2))
	for i := range rows {
		rows[i] = row{r.text(), r.text()}
		r.bad = r.bad || i > 0 && rows[i-1].key >= rows[i].key ||
			i < len(sizes) && (rows[i].key != recordKey(i) || rows[i].value == "")
	}
	packed := make([]string, len(sizes))
	for n := range packed {
		packed[n] = r.text()
		r.bad = r.bad || packed[n] != "" && !vector.IsPacked(packed[n], info.Dimensions)
	}
	if r.bad || r.rest != "" || len(rows) < len(sizes) {
		return nil, ErrDamaged
	}
	return newIndex(made, files, sizes, rows, info, packed), nil
}

// Head returns what Open needs in addition to the rows.
func (x *Index) Head() []byte {
	var w writer
	w.head(x.Source)
	return w
}

// Open returns the source of an index whose rows are stored elsewhere. It returns
// ErrDamaged if head is not the output of Head.
func Open(head []byte, rows Rows) (*Source, error) {
	r := reader{rest: string(head)}
	files, sizes, info := r.head()
	if r.bad || r.rest != "" {
		return nil, ErrDamaged
	}
	return newSource(files, sizes, info, rows), nil
}

func (w *writer) head(x *Source) {
	w.number(len(x.files))
	for _, f := range x.files {
		w.texts(f.path, f.blob, f.note)
		w.list(f.imports)
		w.number(f.next - f.first)
	}
	w.number(len(x.sizes))
	for _, n := range x.sizes {
		w.number(int(n))
	}
	w.text(x.vectors.Model)
	w.number(x.vectors.Dimensions)
	w.number(x.vectors.Missing)
}

func (r *reader) head() (files []file, sizes []uint32, info VectorsInfo) {
	chunks := 0
	for range r.count(5) {
		f := file{path: r.text(), blob: r.text(), note: r.text(), imports: r.list(), first: chunks}
		chunks += r.count(1)
		f.next = chunks
		r.bad = r.bad || len(files) > 0 && files[len(files)-1].path >= f.path
		files = append(files, f)
	}
	if r.count(1) != chunks {
		r.fail()
		chunks = 0
	}
	sizes = make([]uint32, chunks)
	for n := range sizes {
		sizes[n] = uint32(r.number())
	}
	info = VectorsInfo{r.text(), r.number(), r.number()}
	return files, sizes, info
}

// recordOf returns the stored form of a chunk, without its path.
func recordOf(c chunk.Chunk) string {
	var w writer
	w.number(c.StartLine)
	w.number(c.EndLine)
	w.texts(string(c.Kind), c.Language, c.Scope, c.Name, c.Signature, c.Doc, c.Text)
	w.list(c.Defines)
	return string(w)
}

// readRecord decodes a record. In a damaged one, the fields from the damage on are empty.
func readRecord(path, record string) chunk.Chunk {
	r := reader{rest: record}
	return chunk.Chunk{Path: path, StartLine: r.number(), EndLine: r.number(), Kind: chunk.Kind(r.text()),
		Language: r.text(), Scope: r.text(), Name: r.text(), Signature: r.text(), Doc: r.text(), Text: r.text(),
		Defines: r.list()}
}

// count is how many times a chunk holds a word.
type count struct{ chunk, times int32 }

// pack returns the stored form of a word's counts, which are in order of chunk.
func pack(counts []count) string {
	w := make(writer, 0, 2*len(counts)+8)
	next := int32(0)
	for _, c := range counts {
		w.number(int(c.chunk - next))
		w.number(int(c.times))
		next = c.chunk + 1
	}
	return string(w)
}

// unpack yields the counts that pack stored, for an index with that many chunks. It stops
// at the first damaged one.
func unpack(held string, chunks int) iter.Seq[count] {
	return func(yield func(count) bool) {
		r := reader{rest: held}
		for next := 0; r.rest != ""; next++ {
			next += r.number()
			c := count{int32(next), int32(min(r.number(), math.MaxInt32))}
			if r.bad || next < 0 || next >= chunks || !yield(c) {
				return
			}
		}
	}
}

// writer appends numbers and texts to its bytes.
type writer []byte

func (w *writer) number(n int) { *w = binary.AppendUvarint(*w, uint64(n)) }

func (w *writer) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}

func (w *writer) texts(all ...string) {
	for _, s := range all {
		w.text(s)
	}
}

func (w *writer) list(all []string) {
	w.number(len(all))
	w.texts(all...)
}

// reader reads what writer wrote. It checks every length before it uses it. A wrong one
// sets bad, and everything read after it is zero.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) fail() {
	r.bad, r.rest = true, ""
}

func (r *reader) number() int {
	n, size := binary.Uvarint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	if size <= 0 || n > math.MaxInt {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// count reads the number of items that follow, each of at least that many bytes, and fails if they do not fit.
func (r *reader) count(bytes int) int {
	n := r.number()
	if n > len(r.rest)/bytes {
		r.fail()
		return 0
	}
	return n
}

func (r *reader) text() string {
	n := r.count(1)
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) list() []string {
	var all []string
	for range r.count(1) {
		all = append(all, r.text())
	}
	return all
}
