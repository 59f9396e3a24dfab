// Package chunk is a piece of source text that is found as one: a function, a
// method, a type, or what lies between them; and the tokens that words of a
// question and of code are compared by.
//
// It cuts nothing (chunker does) and stores nothing (index does). Start reading at
// Chunk, then Tokens.
package chunk

import (
	"crypto/sha256"
	"encoding/hex"
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
	Constants Kind = "constants" // what lies between definitions: imports, fields, variables, comments
	Window    Kind = "window"    // lines of a text that was not cut by its definitions
)

// Chunk is some whole lines of one file. The chunks of a file do not overlap.
// Text, names, signature and comment are untrusted.
type Chunk struct {
	Path      string
	StartLine int // from 1; the first line of the comment above a definition
	EndLine   int // the last line, in it
	Kind      Kind
	Language  string // as lang names it, such as go; empty where it is not known
	Scope     string // what encloses it, joined by dots, such as Server.handler; empty at the top
	Name      string // what it defines first; empty for a window
	Signature string // the definition's first line or lines up to its body, in one line of at most 300 bytes
	Doc       string // the first paragraph of the comment above it, in one line of at most 300 bytes
	Text      string
	Defines   []string // every name that it defines, Name among them, without scopes
}

// Define adds a name to those that it defines, once; none that is empty.
func (c *Chunk) Define(name string) {
	if name != "" && !slices.Contains(c.Defines, name) {
		c.Defines = append(c.Defines, name)
	}
}

// ID names a chunk within one commit, such as internal/pull/pull.go:10-42.
func (c Chunk) ID() string {
	return c.Path + ":" + strconv.Itoa(c.StartLine) + "-" + strconv.Itoa(c.EndLine)
}

// Symbol is scope and name, joined by a dot; empty for a window.
func (c Chunk) Symbol() string {
	return strings.Trim(c.Scope+"."+c.Name, ".")
}

// Prefix tells where a chunk stands, in lines that go before its text wherever it is
// searched or embedded: path, language, symbol, signature and the comment's first
// paragraph.
func (c Chunk) Prefix() string {
	var b strings.Builder
	b.WriteString(c.Path)
	for _, part := range []string{c.Language, string(c.Kind), c.Symbol()} {
		if part != "" {
			b.WriteString(" " + part)
		}
	}
	b.WriteString("\n")
	for _, part := range []string{c.Signature, c.Doc} {
		if part != "" {
			b.WriteString(part + "\n")
		}
	}
	return b.String()
}

// Key addresses what is embedded of a chunk, prefix and text, by content: 64 hex
// digits. It does not change while the chunk moves within its file.
func (c Chunk) Key() string {
	sum := sha256.Sum256([]byte(c.Prefix() + c.Text))
	return hex.EncodeToString(sum[:])
}
