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

// Bounds of what is parsed. The time is a processor's, and far above what source takes that
// people wrote, so that what is cut does not depend on what else the machine does; by the
// clock a parse may take patience times as long.
const (
	MaxBytes  = 256 << 10       // of a text
	ParseTime = 5 * time.Second // of a parse
	patience  = 6
	mostSlow  = 20     // parses that take that long; later ones have a tenth of it
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
	slow    atomic.Int32 // parses that were given up
	stalled atomic.Int32 // of these, those that have not ended
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
	if r.fallback == TooSlow {
		c.slow.Add(1)
	}
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

// parse parses a text, and stops the parser when its time is up. It leaves behind what goes
// on then, since not all that the parser does looks whether it is to stop.
func (c *Chunker) parse(l *language, text string) result {
	p := l.parsers.Get().(*ts.Parser) // the first time a grammar is unpacked, which is not the text's time
	stop, begun, done := new(uint32), make(chan func() time.Duration, 1), make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer alone()()
		begun <- clock()
		done <- l.parse(p, text, stop)
	}()
	used, began, most := <-begun, time.Now(), ParseTime
	if c.slow.Load() >= mostSlow {
		most /= 10
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for used() < 2*most && time.Since(began) < 2*patience*most {
		select {
		case r := <-done:
			return r
		case <-look.C:
		}
		if used() >= most || time.Since(began) >= patience*most {
			atomic.StoreUint32(stop, 1)
		}
	}
	c.stalled.Add(1)
	go func() {
		(<-done).tree.Release() // of none, too
		c.stalled.Add(-1)
	}()
	return result{fallback: TooSlow}
}

// parse parses a text until it is told to stop.
func (l *language) parse(p *ts.Parser, text string, stop *uint32) (r result) {
	defer func() {
		if recover() != nil { // T35: a parser that breaks is one file's trouble
			r = result{fallback: Unparsable}
		}
	}()
	source := []byte(text)
	if l.smooth {
		smooth(source)
	}
	p.SetCancellationFlag(stop)
	parse := p.Parse
	if tokens := l.entry.TokenSourceFactory; tokens != nil {
		parse = func(source []byte) (*ts.Tree, error) {
			return p.ParseWithTokenSource(source, tokens(source, p.Language()))
		}
	}
	tree, err := parse(source)
	l.parsers.Put(p)
	switch {
	case err != nil || tree == nil || tree.RootNode() == nil:
		return result{fallback: Unparsable}
	case atomic.LoadUint32(stop) != 0 || tree.ParseStoppedEarly():
		tree.Release()
		return result{fallback: TooSlow}
	}
	return result{tree: tree}
}
