// Package chunker cuts source text into chunks: at functions, methods and types, by
// what a parser says of them, and in windows where there is none.
//
// It wraps the parser (github.com/odvcencio/gotreesitter) and is the only room that
// links it. What it reads is untrusted: a parse is bounded in bytes and time, and a
// parser that gives up or breaks costs that file its definitions, nothing else.
//
// Start reading at Chunker.Cut; what is a definition in a language is a file of rules.
package chunker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	ts "github.com/odvcencio/gotreesitter"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
)

// Bounds of what is parsed.
const (
	MaxBytes  = 256 << 10              // of a text
	ParseTime = 500 * time.Millisecond // of a parse
	maxLines  = 200                    // of a chunk; a longer definition is cut
	window    = 80                     // lines of a piece of what is longer
)

// Why a text was cut into windows and not by its definitions.
const (
	NoGrammar  = "no grammar"
	TooLarge   = "too large to parse"
	TooSlow    = "too slow to parse"
	Unparsable = "not parsable"
)

// Chunker cuts texts, from many goroutines at once. As many parse at a time as there
// are processors, so that the trees of few are in memory.
type Chunker struct {
	limit time.Duration
	turns chan struct{}
}

// New returns a chunker whose parses end after limit; 0: ParseTime.
func New(limit time.Duration) *Chunker {
	if limit <= 0 {
		limit = ParseTime
	}
	return &Chunker{limit: limit, turns: make(chan struct{}, min(runtime.GOMAXPROCS(0), 8))}
}

// Cut cuts a text into chunks that do not overlap, in order of lines. Fallback says
// why it was not cut by its definitions; empty where it was.
func (c *Chunker) Cut(ctx context.Context, path, text string) (chunks []chunk.Chunk, fallback string) {
	text = strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), string(utf8.RuneError))
	u := newCutter(path, lang.Of(path).Name, text)
	l := grammarOf(path, text)
	switch {
	case l == nil:
		fallback = NoGrammar
	case len(text) > MaxBytes:
		fallback = TooLarge
	default:
		fallback = c.definitions(ctx, l, u)
	}
	if fallback != "" {
		u.windows()
	}
	return u.out, fallback
}

// definitions cuts by what the parser says.
func (c *Chunker) definitions(ctx context.Context, l *language, u *cutter) (fallback string) {
	select {
	case c.turns <- struct{}{}:
	case <-ctx.Done():
		return TooSlow
	}
	defer func() { <-c.turns }()
	defer func() {
		if recover() != nil { // T35: a parser that breaks is one file's trouble
			fallback = Unparsable
		}
	}()
	tree, err := l.parse(u.text, c.limit)
	if err != nil {
		if errors.Is(err, errStopped) {
			return TooSlow
		}
		return Unparsable
	}
	defer tree.Release()
	u.rules, u.grammar = l.rules, tree.Language()
	u.members(tree.RootNode(), owner{}, u.count())
	return ""
}

var errStopped = errors.New("the parser stopped early")

// parse parses a text within a time.
func (l *language) parse(text string, limit time.Duration) (*ts.Tree, error) {
	source := []byte(text)
	pool := l.pool(limit)
	var tree *ts.Tree
	var err error
	if l.entry.TokenSourceFactory != nil {
		tree, err = pool.ParseWithTokenSource(source, l.entry.TokenSourceFactory(source, pool.Language()))
	} else {
		tree, err = pool.Parse(source)
	}
	switch {
	case err != nil:
		return nil, err
	case tree == nil || tree.RootNode() == nil:
		return nil, fmt.Errorf("no tree of %s", l.entry.Name)
	case tree.ParseStoppedEarly():
		tree.Release()
		return nil, errStopped
	}
	return tree, nil
}
