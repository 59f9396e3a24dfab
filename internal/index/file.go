package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// ErrDamaged reports that bytes are not an index of this version, whole and unchanged
// since they were written: it is to be built again.
var ErrDamaged = errors.New("the stored index is damaged, cut short or of another version")

// The form of a stored index: this line, the SHA-256 of the rest, and the rest.
const (
	magic   = "pr-review index 1\n"
	maxFile = 1 << 30 // bytes of an index that is read

	unfinished = ".writing-" // begins the names of files that are being written
)

// Open reads a stored index: ErrDamaged, fs.ErrNotExist, or what reading answered.
func Open(path string) (*Index, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, ErrDamaged
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(stored)
}

// Save writes an index for Open. A file that is there is replaced at once, or stays
// as it was.
func (x *Index) Save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it is gone where all went well
	_, err = f.Write(x.Encode())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	return os.Rename(f.Name(), path)
}

// Encode is the stored form of an index; the same for the same files, however it was
// built.
func (x *Index) Encode() []byte {
	size := 0
	for _, c := range x.chunks {
		size += len(c.Text) + 1_000 // and what is told of it
	}
	w := writer{append(make([]byte, 0, size), magic...)}
	w.out = append(w.out, make([]byte, sha256.Size)...)
	w.text(x.made)
	w.number(len(x.tokens.names))
	for _, name := range x.tokens.names {
		w.text(name)
	}
	w.number(len(x.files))
	for _, f := range x.files {
		w.texts(f.path, f.blob, f.note)
		w.list(f.imports)
		w.number(f.next - f.first)
		for i := f.first; i < f.next; i++ {
			x.encodeChunk(&w, i)
		}
	}
	x.encodeVectors(&w)
	sum := sha256.Sum256(w.out[len(magic)+sha256.Size:])
	copy(w.out[len(magic):], sum[:])
	return w.out
}

func (x *Index) encodeChunk(w *writer, i int) {
	c := x.chunks[i]
	w.number(c.StartLine)
	w.number(c.EndLine)
	w.texts(string(c.Kind), c.Language, c.Scope, c.Name, c.Signature, c.Doc, c.Text)
	w.list(c.Defines)
	from, to := x.tokens.from[i], x.tokens.from[i+1]
	w.number(int(to - from))
	for j := from; j < to; j++ {
		w.number(int(x.tokens.held[j]))
		w.number(int(x.tokens.times[j]))
	}
}

func (x *Index) encodeVectors(w *writer) {
	v := &x.vectors
	w.text(v.model)
	w.number(v.dimensions)
	w.number(len(v.chunks))
	for i, c := range v.chunks {
		w.number(int(c))
		w.out = vector.AppendPacked(w.out, v.set.At(i))
	}
}

// Decode reads what Encode gives: ErrDamaged for anything else.
func Decode(stored []byte) (*Index, error) {
	rest, ok := bytes.CutPrefix(stored, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, ErrDamaged
	}
	if sum := sha256.Sum256(rest[sha256.Size:]); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil, ErrDamaged
	}
	r := reader{rest: string(rest[sha256.Size:])}
	x := r.index()
	if r.bad || r.rest != "" {
		return nil, ErrDamaged
	}
	return x, nil
}

// writer puts numbers and texts one behind the other.
type writer struct{ out []byte }

func (w *writer) number(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *writer) text(s string) {
	w.number(len(s))
	w.out = append(w.out, s...)
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

// reader takes them apart. Nothing that it reads is believed before it is known to be
// in bounds; what is not is bad, and all that follows is zero.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) fail() {
	r.bad, r.rest = true, ""
}

func (r *reader) number() int {
	var n uint64
	for shift := 0; shift < 63 && r.rest != ""; shift += 7 {
		c := r.rest[0]
		r.rest = r.rest[1:]
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int(n)
		}
	}
	r.fail()
	return 0
}

// count is how many things of at least some bytes follow: no more than there is room for.
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

// index reads all, and puts it together as Build does.
func (r *reader) index() *Index {
	made := r.text()
	names := r.list()
	from := &Index{tokens: tokens{names: names, from: []uint32{0}}}
	var parts []part
	for range r.count(5) {
		p := part{file: file{path: r.text(), blob: r.text(), note: r.text(), imports: r.list()}, from: from,
			fromFirst: len(from.tokens.from) - 1}
		for range r.count(10) {
			p.chunks = append(p.chunks, r.chunk(p.path, &from.tokens))
		}
		if len(parts) > 0 && parts[len(parts)-1].path >= p.path {
			r.fail()
		}
		parts = append(parts, p)
	}
	if r.bad {
		return nil
	}
	x := assemble(made, parts)
	x.vectors = r.vectors(len(x.chunks))
	return x
}

func (r *reader) chunk(path string, to *tokens) chunk.Chunk {
	c := chunk.Chunk{Path: path, StartLine: r.number(), EndLine: r.number(), Kind: chunk.Kind(r.text()),
		Language: r.text(), Scope: r.text(), Name: r.text(), Signature: r.text(), Doc: r.text(), Text: r.text(),
		Defines: r.list()}
	for range r.count(2) {
		id, times := r.number(), r.number()
		if id >= len(to.names) || times > mostTimes {
			r.fail()
			break
		}
		to.held, to.times = append(to.held, uint32(id)), append(to.times, uint16(times))
	}
	to.from = append(to.from, uint32(len(to.held)))
	return c
}

func (r *reader) vectors(chunks int) vectors {
	model, dimensions := r.text(), r.number()
	n := r.number()
	if r.bad || n > 0 && (dimensions <= 0 || dimensions > len(r.rest) ||
		n > len(r.rest)/vector.PackedSize(dimensions)) {
		r.fail()
		return vectors{}
	}
	if model == "" && n == 0 {
		return vectors{}
	}
	v := newVectors(model, dimensions)
	for last := -1; n > 0; n-- {
		chunk := r.number()
		if r.bad || chunk <= last || chunk >= chunks || len(r.rest) < vector.PackedSize(dimensions) {
			r.fail()
			return vectors{}
		}
		one, err := vector.Unpack([]byte(r.rest[:vector.PackedSize(dimensions)]))
		if err != nil {
			r.fail()
			return vectors{}
		}
		r.rest = r.rest[vector.PackedSize(dimensions):]
		v.add(chunk, one)
		last = chunk
	}
	return v
}
