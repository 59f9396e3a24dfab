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
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	ts "github.com/odvcencio/gotreesitter"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
)

// Bounds of what is parsed. The time is a processor's: on a machine that does much else
// a parse may take up to patience times as long, so that what is cut depends little on
// that.
const (
	MaxBytes  = 256 << 10              // of a text
	ParseTime = 500 * time.Millisecond // of a parse
	patience  = 20
	maxNested = 300    // brackets of any kind in each other
	maxLine   = 20_000 // bytes of a line
	maxLines  = 200    // of a chunk; a longer definition is cut
	window    = 80     // lines of a piece of what is longer
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
	turns   chan struct{}
	stalled atomic.Int32 // parses that were given up and have not ended
}

// New returns a chunker.
func New() *Chunker {
	return &Chunker{turns: make(chan struct{}, min(runtime.GOMAXPROCS(0), 8))}
}

// Cut cuts a text into chunks that do not overlap, in order of lines. Fallback says
// why it was not cut by its definitions; empty where it was.
func (c *Chunker) Cut(ctx context.Context, path, text string) (chunks []chunk.Chunk, fallback string) {
	text = strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), string(utf8.RuneError))
	u := newCutter(path, lang.Of(path).Name, text)
	l := grammarOf(path, text)
	switch {
	case l == nil && u.language != "go":
		fallback = NoGrammar
	case len(text) > MaxBytes:
		fallback = TooLarge
	case l == nil:
		fallback = u.golang()
	default:
		fallback = c.parsed(ctx, l, text, func(tree *ts.Tree) {
			u.rules, u.grammar = l.rules, tree.Language()
			u.members(tree.RootNode(), owner{}, u.count())
		})
	}
	if fallback != "" {
		u.windows()
	}
	return u.out, fallback
}

// Broken reports whether a text is not one of its path's language: the parser found errors
// in it. Where there is no grammar, or no answer in time, nothing is known against it.
func (c *Chunker) Broken(ctx context.Context, path, text string) (broken bool) {
	if l := grammarOf(path, text); l != nil && len(text) <= MaxBytes {
		c.parsed(ctx, l, text, func(tree *ts.Tree) { broken = tree.RootNode().HasError() })
	}
	return broken
}

// hopeless reports whether a text is such that nobody wrote it and a parser would only
// run out of time with it: brackets nested without end, or lines of many pages.
func hopeless(text string) bool {
	open, line := 0, 0
	for i := range len(text) {
		line++
		switch text[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(0, open-1)
		case '\n':
			line = 0
		}
		if open > maxNested || line > maxLine {
			return true
		}
	}
	return false
}

// parsed parses a text and shows the tree, which is released behind it. Fallback says why
// there was none, or that it broke while it was looked at.
func (c *Chunker) parsed(ctx context.Context, l *language, text string, show func(*ts.Tree)) (fallback string) {
	if hopeless(text) {
		return Unparsable
	}
	select {
	case c.turns <- struct{}{}:
	case <-ctx.Done():
		return TooSlow
	}
	defer func() { <-c.turns }()
	if c.stalled.Load() >= mostStalled {
		return TooSlow
	}
	r := c.parse(l, text)
	if r.fallback != "" {
		return r.fallback
	}
	defer r.tree.Release()
	defer func() {
		if recover() != nil { // T35: a tree that breaks is one file's trouble
			fallback = Unparsable
		}
	}()
	show(r.tree)
	return ""
}

// mostStalled is how many parses may run on after they were given up. Behind them
// nothing more is parsed, so that what they take of the machine is bounded.
const mostStalled = 2

// result is a tree, or why there is none.
type result struct {
	tree     *ts.Tree
	fallback string
}

// parse parses a text, and gives up where the parser does not end by itself, since not
// all that it does looks at its time.
func (c *Chunker) parse(l *language, text string) result {
	done := make(chan result, 1)
	go func() {
		r := result{fallback: Unparsable}
		defer func() {
			_ = recover() // T35: a parser that breaks is one file's trouble
			done <- r
		}()
		r = l.parse(text)
	}()
	late := time.NewTimer(3 * patience * ParseTime / 2)
	defer late.Stop()
	select {
	case r := <-done:
		return r
	case <-late.C:
	}
	c.stalled.Add(1)
	go func() {
		(<-done).tree.Release() // of none, too
		c.stalled.Add(-1)
	}()
	return result{fallback: TooSlow}
}

// parse parses a text, again with more patience where others had the processor.
func (l *language) parse(text string) (r result) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, pool := range l.pools() { // the first time a grammar is unpacked, which is not the text's time
		before := threadTime()
		r = l.within(pool, text)
		if r.fallback != TooSlow || threadTime()-before >= ParseTime*3/4 {
			break
		}
	}
	return r
}

// within parses a text in the time that a pool gives.
func (l *language) within(pool *ts.ParserPool, text string) result {
	defer alone()()
	source := []byte(text)
	parse := pool.Parse
	if tokens := l.entry.TokenSourceFactory; tokens != nil {
		parse = func(source []byte) (*ts.Tree, error) {
			return pool.ParseWithTokenSource(source, tokens(source, pool.Language()))
		}
	}
	switch tree, err := parse(source); {
	case err != nil || tree == nil || tree.RootNode() == nil:
		return result{fallback: Unparsable}
	case tree.ParseStoppedEarly():
		tree.Release()
		return result{fallback: TooSlow}
	default:
		return result{tree: tree}
	}
}
