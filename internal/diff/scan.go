package diff

import (
	"fmt"
	"strings"
)

// scanner walks the lines of a text without copying them. A line is given
// without its line feed; a carriage return stays part of it.
type scanner struct {
	text string
	pos  int // offset of the line that peek gives
	n    int // number of that line, 1-based
}

func newScanner(text string) *scanner { return &scanner{text: text, n: 1} }

func (s *scanner) peek() (string, bool) {
	if s.pos >= len(s.text) {
		return "", false
	}
	line, _, _ := strings.Cut(s.text[s.pos:], "\n")
	return line, true
}

func (s *scanner) next() {
	if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
		s.pos += i + 1
	} else {
		s.pos = len(s.text)
	}
	s.n++
}

// header gives the current line as one that the diff tool wrote: a carriage
// return at its end comes from a converted file and is no part of a name.
func (s *scanner) header() string {
	line, _ := s.peek()
	return strings.TrimSuffix(line, "\r")
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", s.n, fmt.Errorf(format, args...))
}
