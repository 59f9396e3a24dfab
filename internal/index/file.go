package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strings"
)

// ErrDamaged reports that bytes are not an index of this version, whole and unchanged
// since they were written: it is to be built again.
var ErrDamaged = errors.New("the stored index is damaged, cut short or of another version")

// The form of a stored layer: this line, the SHA-256 of the rest, and the rest.
const magic = "pr-review index 2\n"

// stored is the stored form in parts, and its sum in hex.
func (l *layer) stored() (sum string, parts []string) {
	var vectors writer
	vectors.packed(l.packed)
	parts = []string{"", l.body, string(vectors.out)}
	h := sha256.New()
	for _, part := range parts {
		_, _ = io.Copy(h, struct{ io.Reader }{strings.NewReader(part)}) // by parts: it would be copied whole
	}
	parts[0] = magic + string(h.Sum(nil))
	return hex.EncodeToString(h.Sum(nil)), parts
}

// Encode is the stored form of an index; the same for the same files, however it was
// built.
func (x *Index) Encode() []byte {
	_, parts := x.flat().stored()
	return []byte(strings.Join(parts, ""))
}

// Decode reads what Encode gives: ErrDamaged for anything else.
func Decode(stored []byte) (*Index, error) {
	l, err := readLayer(bytes.NewReader(stored), len(stored))
	if err != nil {
		return nil, err
	}
	return newIndex(l.made, l), nil
}

// readLayer reads a stored layer of a size, checks its sum and where its parts lie.
func readLayer(from io.Reader, size int) (*layer, error) {
	head := make([]byte, len(magic)+sha256.Size)
	if _, err := io.ReadFull(from, head); err != nil || string(head[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	var rest strings.Builder
	rest.Grow(max(size-len(head), 0))
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(&rest, sum), from); err != nil {
		return nil, err
	}
	if !bytes.Equal(sum.Sum(nil), head[len(magic):]) {
		return nil, ErrDamaged
	}
	r := reader{rest: rest.String()}
	l := r.layer()
	l.packed = r.packed(len(l.sizes))
	if r.bad || r.rest != "" {
		return nil, ErrDamaged
	}
	l.sum = hex.EncodeToString(head[len(magic):])
	return &l, nil
}

// writer puts numbers and texts one behind the other.
type writer struct{ out []byte }

func (w *writer) number(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *writer) text(s string) {
	w.number(len(s))
	w.out = append(w.out, s...)
}

func (w *writer) bytes(b []byte) {
	w.number(len(b))
	w.out = append(w.out, b...)
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
