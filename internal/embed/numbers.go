package embed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// numbers is a vector as a list of numbers, or as the base64 of 4-byte ones, little endian.
type numbers []float32

var errNumbers = errors.New("a vector is neither a list of numbers nor base64 of them")

// UnmarshalJSON takes either form.
func (n *numbers) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(raw, []byte(`"`)) {
		if json.Unmarshal(raw, (*[]float32)(n)) != nil || bytes.Contains(raw, []byte("null")) {
			return errNumbers
		}
		return nil
	}
	var packed []byte
	if json.Unmarshal(raw, &packed) != nil || len(packed)%4 != 0 {
		return errNumbers
	}
	*n = make(numbers, len(packed)/4)
	_, err := binary.Decode(packed, binary.LittleEndian, []float32(*n))
	return err
}
