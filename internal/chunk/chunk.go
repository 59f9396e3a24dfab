// Package chunk defines the unit of code search: a function, a method, a type, or the
// lines between them. It also defines the tokens by which questions and code are
// compared.
//
// It does not cut text (chunker does) or store chunks (index does). Start reading at
// Chunk, then Tokens.
package chunk

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind says what a chunk is.
type Kind string

// The kinds of chunks.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Type      Kind = "type"
	Constants Kind = "constants" // lines between definitions: imports, fields, variables, comments
	Window    Kind = "window"    // lines of a text that was not cut at definitions
)

// Chunk is a run of whole lines of one file. The chunks of a file do not overlap.
// Text, names, signature and comment are untrusted.
type Chunk struct {
	Path      string
	StartLine int // 1-based; includes the comment above a definition
	EndLine   int // inclusive
	Kind      Kind
	Language  string // lang's name for it, such as go; empty if unknown
	Scope     string // the enclosing names, joined by dots, such as Server.handler; empty at the top level
	Name      string // the definition's name, otherwise the first in Defines; empty for a window
	Signature string // the definition up to its body, as one line of at most 300 bytes
	Doc       string // the first paragraph of its docstring or comment, as one line of at most 300 bytes
	Text      string
	Defines   []string // names defined in it, without scopes; not Name in a call or a later piece of a definition
}

// Define adds a name to Defines, unless it is empty or already there.
func (c *Chunk) Define(name string) {
	if name != "" && !slices.Contains(c.Defines, name) {
		c.Defines = append(c.Defines, name)
	}
}

// ID returns an identifier that is unique within one commit, such as internal/pull/pull.go:10-42.
func (c Chunk) ID() string {
	return c.Path + ":" + strconv.Itoa(c.StartLine) + "-" + strconv.Itoa(c.EndLine)
}

// Symbol returns scope and name, joined by a dot; empty for a window.
func (c Chunk) Symbol() string {
	return strings.Trim(c.Scope+"."+c.Name, ".")
}

// Prefix returns the lines that are put before a chunk's text wherever it is searched or
// embedded. They give its context: path, language, kind, symbol, signature and the
// first paragraph of its comment.
func (c Chunk) Prefix() string {
	known := func(parts ...string) []string {
		return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	}
	first := strings.Join(known(c.Path, c.Language, string(c.Kind), c.Symbol()), " ")
	return strings.Join(known(first, c.Signature, c.Doc), "\n") + "\n"
}

// Key returns the SHA-256 of what is embedded for a chunk, prefix and text, as 64 hex
// digits. It does not change when the chunk moves within its file.
func (c Chunk) Key() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(c.Prefix()+c.Text)))
}
