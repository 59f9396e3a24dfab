package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"github.com/org/pr-review-action/internal/problem"
)

// Error is one thing wrong with a settings file, and where.
type Error struct {
	File         string
	Line, Column int
	What         string
	Hint         string // the nearest known name, or empty
}

// Error gives file:line:column and what is wrong, and the hint on a line of its own.
func (e *Error) Error() string { return e.Problem().Error() }

// Problem says so, as a mistake of whoever wrote the file.
func (e *Error) Problem() *problem.Error {
	p := &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)}
	if e.Hint != "" {
		p.Rows = [][2]string{{"", fmt.Sprintf("did you mean %q?", e.Hint)}}
	}
	return p
}

// MaxSize is the largest settings file that is read, in bytes.
const MaxSize = 64 << 10

// maxNesting is how deep brackets stand in brackets at most. The parser's time
// grows with the square of it.
const maxNesting = 20

// readable refuses what the parser should not see, and takes off the mark that
// some editors put before UTF-8.
func readable(name string, text []byte) ([]byte, error) {
	e := &Error{File: name, Line: 1, Column: 1}
	if len(text) > MaxSize {
		e.What = fmt.Sprintf("the file has %d bytes; %d are the most that is read", len(text), MaxSize)
		return nil, e
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case !utf8.Valid(text):
		e.What = "this is not UTF-8"
		e.Line, e.Column = place(text, invalid(text))
	case bytes.IndexByte(text, 0) >= 0:
		e.What = "a NUL byte, which no text has"
		e.Line, e.Column = place(text, bytes.IndexByte(text, 0))
	default:
		return text, nested(e, text)
	}
	return nil, e
}

// nested fails where brackets stand too deep in others.
func nested(e *Error, text []byte) error {
	depth := 0
	for _, t := range lexer.Tokenize(string(text)) {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxNesting {
			e.What = fmt.Sprintf("this is nested too deep; brackets stand in brackets %d times at most", maxNesting)
			e.Line, e.Column = t.Position.Line, t.Position.Column
			return e
		}
	}
	return nil
}

// invalid is the index of the first byte that is not UTF-8.
func invalid(text []byte) int {
	for i := range string(text) {
		if r, n := utf8.DecodeRune(text[i:]); r == utf8.RuneError && n == 1 {
			return i
		}
	}
	return 0
}

// place is the line and the column, in characters, of a byte.
func place(text []byte, at int) (line, column int) {
	before := text[:at]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// syntaxError turns the parser's error into ours, with its place.
func syntaxError(name string, err error) error {
	e := &Error{File: name, Line: 1, Column: 1, What: "this is not valid YAML"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		e.What += ": " + strings.Replace(syntax.Message, "character '\t' that cannot start any token",
			"a tab, and only spaces indent", 1)
		if syntax.Token != nil && syntax.Token.Position != nil {
			e.Line, e.Column = syntax.Token.Position.Line, syntax.Token.Position.Column
		}
	}
	return e
}
