package secret

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// Lengths in bytes of a token that may hold a credential: shorter ones have no room, and of
// a longer one, only maxBackward bytes on each side are read backwards.
const (
	minEncoded  = 24
	minReadable = 12
	maxBackward = 4096
)

// findEncoded searches everything that may be base64, hex or percent-encoded.
func (s *scan) findEncoded() {
	if s.depth >= maxDepth {
		return
	}
	for at := 0; at < len(s.text); {
		if !isBase64(s.text[at]) {
			at++
			continue
		}
		end := endOf(s.text, at, isBase64)
		if end-at >= minEncoded {
			s.decodeToken(at, end)
		}
		at = end
	}
	for at := strings.IndexByte(s.text, '%'); at >= 0; {
		at = s.decodePercent(at)
		next := strings.IndexByte(s.text[at:], '%')
		if next < 0 {
			return
		}
		at += next
	}
}

// endOf returns the end of the bytes that satisfy is, from an offset on.
func endOf(text string, at int, is func(byte) bool) int {
	for at < len(text) && is(text[at]) {
		at++
	}
	return at
}

func isBase64(c byte) bool { return isWord(c) || c == '-' || c == '+' || c == '/' }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// decodeToken decodes a base64 run at each of its alignments, since a path before a value has the same characters.
func (s *scan) decodeToken(start, end int) {
	padded := endOf(s.text, end, func(c byte) bool { return c == '=' })
	plain, buffer := []byte(urlSafe.Replace(s.text[start:end])), make([]byte, end-start)
	for skip := range min(4, len(plain)) {
		cut := plain[skip:]
		if len(cut)%4 == 1 {
			cut = cut[:len(cut)-1]
		}
		n, err := base64.RawStdEncoding.Decode(buffer, cut)
		if err == nil && isReadable(buffer[:n]) && s.addDecoded(string(buffer[:n]), start, padded) {
			return
		}
	}
	for at := start; at < end; at++ {
		if to := endOf(s.text[:end], at, isHex); to > at {
			s.decodeHex(at, to)
			at = to
		}
	}
}

var urlSafe = strings.NewReplacer("-", "+", "_", "/")

func (s *scan) decodeHex(start, end int) {
	for skip := range 2 {
		from, to := start+skip, end-(end-start-skip)%2
		if to-from < minEncoded {
			return
		}
		decoded, err := hex.DecodeString(s.text[from:to])
		if err == nil && isReadable(decoded) && s.addDecoded(string(decoded), start, end) {
			return
		}
	}
}

// isReadable reports whether decoded bytes contain a stretch of text.
func isReadable(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c > '~' {
			n = 0
			continue
		}
		if n++; n >= minReadable {
			return true
		}
	}
	return false
}

// decodePercent decodes the token around a percent sign, and returns its end.
func (s *scan) decodePercent(at int) int {
	if at+2 >= len(s.text) || !isHex(s.text[at+1]) || !isHex(s.text[at+2]) {
		return at + 1
	}
	start, end := at, endOf(s.text, at+1, isPercent)
	for start > 0 && isPercent(s.text[start-1]) && at-start < maxBackward {
		start--
	}
	if end-start >= minReadable {
		s.addDecoded(unescaped(s.text[start:end]), start, end)
	}
	return end
}

func isPercent(c byte) bool { return isToken(c) || c == '%' || c == '.' || c == '~' || c == '+' }

var percent = lazy(`%[0-9a-fA-F]{2}`)

// unescaped decodes percent-encoding. A percent sign that begins no escape stays.
func unescaped(text string) string {
	return percent().ReplaceAllStringFunc(text, func(escape string) string {
		b, _ := hex.DecodeString(escape[1:]) // the pattern has checked it
		return string(b)
	})
}

// searchBackward searches the token around a keyword that is written backwards.
func (s *scan) searchBackward(at, n int) {
	if s.depth >= maxDepth || at+n <= s.reversedTo {
		return
	}
	start, end := at, at+n
	for start > 0 && at-start < maxBackward && isInk(s.text[start-1]) {
		start--
	}
	for end < len(s.text) && end-at < maxBackward && isInk(s.text[end]) {
		end++
	}
	s.reversedTo = end
	if integrity().MatchString(s.text[start:end]) {
		return
	}
	for _, l := range s.findDecoded(reversed(s.text[start:end])) {
		s.leaks = append(s.leaks, Leak{Kind: l.Kind, Grade: l.Grade, Start: end - l.End, End: end - l.Start})
	}
}

// integrity matches the hash of a file that a page or a lockfile loads: one in thousands
// looks like a credential backwards.
var integrity = lazy(`^sha(?:256-[\w+/]{43}=|384-[\w+/]{64}|512-[\w+/]{86}==),?$`)

func isInk(c byte) bool { return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '`' }

// addDecoded adds a leak for a whole token if what it encodes contains a credential.
func (s *scan) addDecoded(decoded string, start, end int) bool {
	leaks := s.findDecoded(decoded)
	if len(leaks) == 0 {
		return false
	}
	surest := slices.MaxFunc(leaks, func(a, b Leak) int { return int(a.Grade - b.Grade) })
	s.leaks = append(s.leaks, Leak{Kind: surest.Kind, Grade: surest.Grade, Start: start, End: end})
	return true
}

// findDecoded searches decoded text, ignoring guesses.
func (s *scan) findDecoded(decoded string) []Leak {
	inner := newScan(decoded)
	inner.depth = s.depth + 1
	inner.findForms()
	inner.findKeys()
	inner.findEncoded()
	return inner.leaks
}
