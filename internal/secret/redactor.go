package secret

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxCopies is the number of credentials of one text that are searched for in other encodings.
// Beyond it, each is still found in its own place.
const maxCopies = 64

// Redactor redacts credentials and also known values, however they are encoded. The zero
// value and nil know none. It is safe for concurrent use.
type Redactor struct{ spellings []spelling }

// New returns a Redactor that knows values: our own keys and tokens. Values under 8 bytes are
// ignored. It finds them as they are, in base64, hex, URL and JSON escapes, and backwards.
func New(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		r.spellings = append(r.spellings, spellings(v, knownKind)...)
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); line != v {
				r.spellings = append(r.spellings, spellings(line, knownKind)...)
			}
		}
	}
	return r
}

// Redact is like the function Redact, and also replaces the known values.
func (r *Redactor) Redact(text string) string {
	if r == nil {
		return Redact(text)
	}
	return redact(text, r.spellings)
}

func spellings(value, kind string) []spelling {
	if len(value) < minKnown {
		return nil
	}
	quoted, _ := jsontext.AppendQuote(nil, value) // invalid UTF-8 is replaced
	escaped := strings.Trim(string(quoted), `"`)
	each := "%" + strings.ReplaceAll(fmt.Sprintf("% x", value), " ", "%")
	texts := []string{
		value, reversed(value), hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
		url.QueryEscape(value), url.PathEscape(value), each, strings.ToUpper(each),
		escaped, strings.ReplaceAll(escaped, "/", `\/`),
		strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(escaped),
	}
	var out []spelling
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			out = append(out, spelling{text: text, kind: kind})
		}
	}
	return append(out, base64Spellings(value, kind)...)
}

// base64Spellings returns the base64 characters that depend only on the value, for each of
// the three positions in a byte group where it can begin.
func base64Spellings(value, kind string) []spelling {
	var out []spelling
	for shift, lost := range []int{0, 2, 3} {
		padded := []byte(strings.Repeat("\x00", shift) + value)
		for i, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString(padded)[lost:]
			if len(padded)%3 != 0 {
				text = text[:len(text)-1]
			}
			if i == 0 || text != out[len(out)-1].text {
				out = append(out, spelling{text: text, kind: kind, spread: true})
			}
		}
	}
	return out
}

// findSpellings finds values in the given spellings.
func (s *scan) findSpellings(all []spelling) {
	for _, sp := range all {
		for at := 0; ; {
			i := strings.Index(s.text[at:], sp.text)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(sp.text)
			at = end
			if sp.spread {
				for start > 0 && isBase64(s.text[start-1]) {
					start--
				}
				end = endOf(s.text, end, func(c byte) bool { return isBase64(c) || c == '=' })
				at = end
			}
			s.leaks = append(s.leaks, Leak{Kind: sp.kind, Grade: Issued, Start: start, End: end})
		}
	}
}

// findCopies searches for the values found so far in their other spellings.
func (s *scan) findCopies() {
	var seen []string
	for _, l := range s.raw {
		value := s.text[l.Start:l.End]
		if l.Grade == Guess || len(seen) >= maxCopies || slices.Contains(seen, value) {
			continue
		}
		seen = append(seen, value)
		at := len(s.leaks)
		s.findSpellings(spellings(value, l.Kind))
		for i := range s.leaks[at:] {
			s.leaks[at+i].Grade = l.Grade
		}
	}
}
