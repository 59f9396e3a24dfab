// Package vector compares and packs unit vectors, the embeddings of texts.
//
// It does not request embeddings (embed does). Start reading at Dot, then Pack.
package vector

import (
	"encoding/binary"
	"math"
)

// Normalize scales a vector to length 1 in place. It returns false, and leaves the vector
// unchanged, if the vector has no direction: a component is not finite, or all are 0.
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

// Dot returns the cosine of two unit vectors of the same dimension.
func Dot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// Query is a unit vector in the form that is compared with packed vectors.
type Query []int32

const queryScale = 1 << 15

// NewQuery converts a unit vector to a Query, rounding in finer steps than Pack does.
func NewQuery(v []float32) Query {
	q := make(Query, len(v))
	for i, x := range v {
		q[i] = int32(math.Round(float64(x) * queryScale))
	}
	return q
}

// Cosine returns the cosine of the query and a vector of the same dimension that Pack
// wrote. Multiplying integers takes half the time of converting them to floats. Their sums
// fit into an int32 because the lengths of both vectors are bounded.
func (q Query) Cosine(packed string) float32 {
	var sum int32
	numbers := packed[scaleSize:][:len(q)]
	for i, x := range q {
		sum += x * int32(int8(numbers[i]))
	}
	return float32(sum) * scaleOf(packed) / queryScale
}

// scaleSize is the size in bytes of a packed vector's scale, the factor that precedes its numbers.
const scaleSize = 4

// Pack returns a vector's stored form: one byte per number, and a scale that restores
// length 1. It returns an empty string if the vector has no direction. The packed form takes
// a quarter of the memory and finds over 97 % of the 40 nearest vectors (a test checks it).
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

// IsPacked reports whether the bytes may be what Pack wrote for a vector of that many
// dimensions: they have its size, and a scale that keeps every number finite.
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

// Unpack returns the vector that Pack packed, as rounded there.
func Unpack(packed string) []float32 {
	scale, v := scaleOf(packed), make([]float32, len(packed)-scaleSize)
	for i := range v {
		v[i] = float32(int8(packed[scaleSize+i])) * scale
	}
	return v
}
