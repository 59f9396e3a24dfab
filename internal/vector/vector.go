// Package vector compares and packs vectors of length 1: what texts were embedded as.
//
// It asks nobody for vectors (embed does). Start reading at Dot, then Pack.
package vector

import (
	"encoding/binary"
	"math"
)

// Normalize scales a vector to length 1, in place. One without a direction stays as it is
// and is reported: a number in it is not finite, or all are 0.
func Normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 0) {
		return false
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return true
}

// Dot is the cosine of two vectors of length 1 and of one dimension.
func Dot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// Query is a vector of length 1 as packed ones are compared with it.
type Query []int32

const queryScale = 1 << 15

// NewQuery rounds a vector, in finer steps than Pack does.
func NewQuery(v []float32) Query {
	q := make(Query, len(v))
	for i, x := range v {
		q[i] = int32(math.Round(float64(x) * queryScale))
	}
	return q
}

// Cosine is that of the query and a vector that Pack wrote, of the same dimension. Whole
// numbers are multiplied in half the time that it takes to make floats of them; no sum of
// them is beyond an int32, for the lengths of both are bounded.
func (q Query) Cosine(packed string) float32 {
	var s0, s1 int32
	rest, numbers := q, packed[scaleSize:][:len(q)]
	for len(rest) >= 4 && len(numbers) >= 4 {
		s0 += rest[0] * int32(int8(numbers[0]))
		s1 += rest[1] * int32(int8(numbers[1]))
		s0 += rest[2] * int32(int8(numbers[2]))
		s1 += rest[3] * int32(int8(numbers[3]))
		rest, numbers = rest[4:], numbers[4:]
	}
	for i := range rest {
		s0 += rest[i] * int32(int8(numbers[i]))
	}
	return float32(s0+s1) * scaleOf(packed) / queryScale
}

// scaleSize is the bytes before the numbers of a packed vector: what each is to be multiplied with.
const scaleSize = 4

// Pack writes a vector as it is stored: one byte for each number and a scale for all, by
// which its length is 1 again; empty where it has no direction. It takes a quarter of its
// size in memory. Of the 40 nearest such vectors find over 97 in 100 (a test holds that).
func Pack(v []float32) string {
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	if !(largest > 0 && largest <= math.MaxFloat32) {
		return ""
	}
	sum := 0.0
	packed := make([]byte, scaleSize, scaleSize+len(v))
	for _, x := range v {
		n := int8(math.Round(float64(x / largest * math.MaxInt8)))
		packed = append(packed, byte(n))
		sum += float64(n) * float64(n)
	}
	binary.LittleEndian.PutUint32(packed, math.Float32bits(float32(1/math.Sqrt(sum))))
	return string(packed)
}

// IsPacked reports whether Pack may have written these bytes, of a vector of so many
// dimensions: what they give is finite.
func IsPacked(packed string, dimensions int) bool {
	if len(packed) != scaleSize+dimensions || dimensions <= 0 {
		return false
	}
	scale := scaleOf(packed)
	return scale > 0 && scale <= 1
}

func scaleOf(packed string) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32([]byte(packed[:scaleSize])))
}

// Unpack is the vector that Pack wrote.
func Unpack(packed string) []float32 {
	scale, v := scaleOf(packed), make([]float32, len(packed)-scaleSize)
	for i := range v {
		v[i] = float32(int8(packed[scaleSize+i])) * scale
	}
	return v
}
