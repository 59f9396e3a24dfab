package guard

import (
	"errors"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// Charset converts XML of a declared one-byte encoding, such as ISO-8859-1, to UTF-8. Give it to an
// xml.Decoder as its CharsetReader.
func Charset(declared string, content io.Reader) (io.Reader, error) {
	name := strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(declared))
	for _, known := range charmap.All {
		m, ok := known.(*charmap.Charmap)
		if ok && strings.ReplaceAll(strings.ToLower(m.String()), "-", " ") == name {
			return m.NewDecoder().Reader(content), nil
		}
	}
	if strings.HasSuffix(name, "ascii") {
		return content, nil
	}
	return nil, errors.New("only UTF-8 and encodings of one byte a character are read")
}
