// Package vector compares vectors of length 1: what texts were embedded as.
//
// A Set is searched by looking at every vector, which for the sizes of a repository
// takes milliseconds and is exact. It asks nobody for vectors (embed does). Start
// reading at Set.
package vector

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
)

// ErrInvalid is a vector that has no direction: a number in it is not finite, or all are 0.
var ErrInvalid = errors.New("a vector holds a number that is not finite, or nothing but zeros")

// Normalize scales a vector to length 1, in place.
func Normalize(v []float32) error {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 0) {
		return ErrInvalid
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return nil
}

// Dot is the cosine of two vectors of length 1 and of one dimension.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// Set is vectors of one dimension, one behind the other, in the order in which they
// were added. It may be searched from many goroutines once nothing is added.
type Set struct {
	dimensions int
	data       []float32
}

// NewSet makes an empty set with room for n vectors.
func NewSet(dimensions, n int) *Set {
	return &Set{dimensions: dimensions, data: make([]float32, 0, dimensions*n)}
}

// Add appends a vector, which has to have the set's dimensions.
func (s *Set) Add(v []float32) { s.data = append(s.data, v[:s.dimensions]...) }

// Len is the number of vectors.
func (s *Set) Len() int { return len(s.data) / s.dimensions }

// At is the i-th vector, as part of the set: it is not to be changed.
func (s *Set) At(i int) []float32 { return s.data[i*s.dimensions : (i+1)*s.dimensions] }

// Near is a vector that was found: its place in the set, and its cosine to the query.
type Near struct {
	Index  int
	Cosine float32
}

// Nearest finds the k vectors of the largest cosine to a query of the set's
// dimensions, largest first, equal ones in their order; the same on every machine.
// Where keep is not nil, only those places count that it says yes to.
func (s *Set) Nearest(query []float32, k int, keep func(i int) bool) []Near {
	const worthAThread = 4_096
	parts := max(1, min(runtime.GOMAXPROCS(0), s.Len()/worthAThread))
	found := make([][]Near, parts)
	var group sync.WaitGroup
	for p := range parts {
		group.Go(func() { found[p] = s.scan(query, k, keep, p*s.Len()/parts, (p+1)*s.Len()/parts) })
	}
	group.Wait()
	all := slices.Concat(found...)
	slices.SortFunc(all, before)
	return all[:min(k, len(all))]
}

func before(a, b Near) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Index, b.Index))
}

// scan keeps the best k of a stretch in order: k is small, and most vectors are not among them.
func (s *Set) scan(query []float32, k int, keep func(int) bool, from, to int) []Near {
	var best []Near
	for i := from; i < to; i++ {
		if keep != nil && !keep(i) {
			continue
		}
		n := Near{i, Dot(query, s.At(i))}
		if len(best) == k {
			if k == 0 || before(n, best[k-1]) >= 0 {
				continue
			}
			best = best[:k-1]
		}
		at, _ := slices.BinarySearchFunc(best, n, before)
		best = slices.Insert(best, at, n)
	}
	return best
}

// PackedSize is the bytes of a vector as AppendPacked writes it.
func PackedSize(dimensions int) int { return 4 + dimensions }

// AppendPacked adds a vector to bytes that are stored: one byte for each number and a
// scale for all, a quarter of its size in memory. Of the 40 nearest such vectors find over
// 97 in 100 (a test holds that).
func AppendPacked(to []byte, v []float32) []byte {
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	scale := largest / math.MaxInt8
	to = binary.LittleEndian.AppendUint32(to, math.Float32bits(scale))
	for _, x := range v {
		to = append(to, byte(int8(math.Round(float64(x/scale)))))
	}
	return to
}

// Unpack reads a vector that AppendPacked wrote, of length 1 again: ErrInvalid where it is none.
func Unpack(packed []byte) ([]float32, error) {
	if len(packed) < PackedSize(1) {
		return nil, ErrInvalid
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(packed))
	v := make([]float32, len(packed)-4)
	for i, b := range packed[4:] {
		v[i] = float32(int8(b)) * scale
	}
	return v, Normalize(v)
}
