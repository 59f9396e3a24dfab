// Package chunker cuts source text into chunks: at the functions, methods and types
// that a parser finds, or into windows of lines if it cannot be parsed.
//
// It wraps the parser (github.com/odvcencio/gotreesitter) and is the only package that
// links it. Its input is untrusted: a parse is bounded in bytes and time, and a parser
// that gives up or panics costs that file its definitions, nothing else.
//
// Start reading at Chunker.Cut. A file of rules per language says what a definition is.
package chunker

import (
	"context"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	ts "github.com/odvcencio/gotreesitter"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
)

// Bounds on parsing. ParseTime is CPU time, and far above what hand-written source needs, so
// that the result does not depend on the machine's load. In wall-clock time a parse may take
// patience times as long.
const (
	MaxBytes  = 256 << 10       // of a text
	ParseTime = 5 * time.Second // of a parse
	patience  = 6
	mostHeap  = 512 << 20 // bytes by which the heap may grow for each parse that runs
	mostSlow  = 20        // parses that may run out of time; later ones get a tenth of it
	maxNested = 300       // depth of nested brackets of any kind
	maxLine   = 20_000    // bytes of a line
	maxLines  = 200       // of a chunk; longer definitions are cut
	window    = 80        // lines of a piece of longer text
)

// Why a text was cut into windows and not at its definitions.
const (
	NoGrammar  = "no grammar"
	TooLarge   = "too large to parse"
	TooSlow    = "too slow to parse"
	Unparsable = "not parsable"
)

// Chunker cuts texts and is safe for concurrent use. To keep few trees in memory, at most
// min(GOMAXPROCS, 8) parses run at a time, not counting abandoned ones.
type Chunker struct {
	turns   chan struct{}
	heap    uint64       // mostHeap
	slow    atomic.Int32 // parses that ran out of time
	stalled atomic.Int32 // abandoned parses that are still running
}

// New returns a chunker.
func New() *Chunker {
	return &Chunker{turns: make(chan struct{}, min(runtime.GOMAXPROCS(0), 8)), heap: mostHeap}
}

// Cut cuts a text into chunks that do not overlap, in order of lines. Fallback says
// why it was cut into windows; it is empty if it was cut at its definitions.
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
		fallback = c.parsed(ctx, l, text, l.outline, func(tree *ts.Tree) {
			u.rules, u.grammar = l.rules, tree.Language()
			u.addMembers(tree.RootNode(), owner{}, u.count())
		})
	}
	if fallback != "" { // what a failed parse left is discarded
		u.out, u.found, u.next = nil, nil, 1
		u.addGap(u.count(), owner{piece: &chunk.Chunk{Kind: chunk.Window}})
	}
	return u.out, fallback
}

// Broken reports whether the parser finds syntax errors in a text of its path's language, and
// whether its brackets do not match. Each can be wrong: the parser takes some of TypeScript and
// PHP for errors and overlooks most of Python's, and a regular expression may have any brackets.
// Both are false if there is no grammar (as for Go), or no tree within the bounds.
func (c *Chunker) Broken(ctx context.Context, path, text string) (errors, unmatched bool) {
	if l := grammarOf(path, text); l != nil && len(text) <= MaxBytes {
		c.parsed(ctx, l, text, l.smooth, func(tree *ts.Tree) {
			errors, unmatched = tree.RootNode().HasError(), !bracketsMatch(lang.Of(path), text)
		})
	}
	return errors, unmatched
}

// bracketsMatch reports whether all brackets outside of comments and strings match. A shell's need not.
func bracketsMatch(l lang.Language, text string) bool {
	var open []byte
	for at := 0; at < len(text) && l.Name != "shell"; {
		from, to := l.NotCode(text, at)
		if to == 0 {
			from, to = len(text), len(text)
		}
		for _, c := range []byte(text[at:from]) {
			if i := strings.IndexByte("([{", c); i >= 0 {
				open = append(open, ")]}"[i])
			} else if strings.IndexByte(")]}", c) >= 0 {
				if len(open) == 0 || open[len(open)-1] != c {
					return false
				}
				open = open[:len(open)-1]
			}
		}
		at = to
	}
	return len(open) == 0
}

// isMachineWritten reports whether nobody wrote a text by hand and a parser would only run out of
// time on it: it has deeply nested brackets or very long lines.
func isMachineWritten(text string) bool {
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

// parsed parses a text after smooth, calls show with the tree, and releases the tree. Fallback
// says why there is no tree, or that show panicked; otherwise it is empty.
func (c *Chunker) parsed(ctx context.Context, l *language, text string, smooth func([]byte),
	show func(*ts.Tree)) (fallback string) {
	if isMachineWritten(text) {
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
	r := c.parse(l, text, smooth)
	if r.fallback == TooSlow {
		c.slow.Add(1)
	}
	if r.fallback != "" {
		return r.fallback
	}
	defer r.tree.Release()
	defer func() {
		if recover() != nil { // T35: a broken tree affects only its file
			fallback = Unparsable
		}
	}()
	show(r.tree)
	return ""
}

// mostStalled is the number of abandoned parses that may keep running. Once there are that many,
// nothing else is parsed, so that the resources they use are bounded.
const mostStalled = 2

type result struct {
	tree     *ts.Tree
	fallback string
}

// parse parses a text, and tells the parser to stop when its time is up or the heap has grown too
// much. At twice that time it abandons the parse, since parts of the parser never check whether
// they should stop.
func (c *Chunker) parse(l *language, text string, smooth func([]byte)) result {
	p := l.parsers.Get().(*ts.Parser) // may unpack the grammar, which is not part of ParseTime
	stop, begun, done := new(uint32), make(chan func() time.Duration, 1), make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer alone()()
		begun <- clock()
		done <- l.parse(p, text, smooth, stop)
	}()
	used, began, heap, most := <-begun, time.Now(), heapSize(), ParseTime
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
		if used() >= most || time.Since(began) >= patience*most || heapSize() > heap+c.heap*uint64(len(c.turns)) {
			atomic.StoreUint32(stop, 1)
		}
	}
	c.stalled.Add(1)
	go func() {
		(<-done).tree.Release() // Release accepts nil
		c.stalled.Add(-1)
	}()
	return result{fallback: TooSlow}
}

func heapSize() uint64 {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	return heap[0].Value.Uint64()
}

// parse parses a text after smooth, which may be nil, until it is done or stop is set.
func (l *language) parse(p *ts.Parser, text string, smooth func([]byte), stop *uint32) (r result) {
	defer func() {
		if recover() != nil { // T35: a parser that panics affects only its file
			r = result{fallback: Unparsable}
		}
	}()
	source := []byte(text)
	if smooth != nil {
		smooth(source)
	}
	p.SetCancellationFlag(stop)
	parse := p.Parse
	// For C++ this scanner is slower than the grammar's own, and ends some parses early.
	if tokens := l.entry.TokenSourceFactory; tokens != nil && l.entry.Name != "cpp" {
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
