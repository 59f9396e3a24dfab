package embed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
)

// numbers is a vector as a list of numbers, or as the base64 of 4-byte ones, little endian.
type numbers []float32

var errNumbers = errors.New("a vector is neither a list of numbers nor base64 of them")

// UnmarshalJSON takes either form.
func (n *numbers) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		return n.fromBase64(raw)
	}
	var list []float32
	if err := json.Unmarshal(raw, &list); err != nil || bytes.Contains(raw, []byte("null")) {
		return errNumbers
	}
	*n = list
	return nil
}

func (n *numbers) fromBase64(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(packed)%4 != 0 {
		return errNumbers
	}
	*n = make(numbers, len(packed)/4)
	for i := range *n {
		(*n)[i] = math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
	}
	return nil
}
