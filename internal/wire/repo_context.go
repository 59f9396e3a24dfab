package wire

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/wording"
)

// indexTime bounds the indexing of a tree of which no index is kept. Files next to the
// changed ones come first; the files left out are counted.
const indexTime = 20 * time.Second

// RepoOptions describes what a model may look at in addition to a change's diff.
type RepoOptions struct {
	Head, Base *tree.Tree
	Tests      tool.TestSources
	Files      []diff.File // of the change
	Tokens     int         // upper bound for a file's context pack; 0 means no packs
	Index      config.Index
	// Kept loads the base's index, or builds and keeps one; nil if none is kept
	Kept func(context.Context, Endpoints) (*index.Index, error)
	Endpoints
	Note func(string) // reports to a person which sources do not answer, perhaps repeatedly; may be nil
}

// RepoContext holds a model's tools and the context packs that go with a diff.
type RepoContext struct {
	Tools tool.Set
	Head  func(ctx context.Context, path string) ([]byte, error)
	Pack  func(ctx context.Context, path, patch string) []prompt.Piece // nil if there are no packs
}

// NewRepoContext returns what a model may look at for a change. The index is built in memory on first use, the
// head's on top of the base's (T34).
func NewRepoContext(l RepoOptions) RepoContext {
	if l.Note == nil {
		l.Note = func(string) {}
	}
	lib := &library{RepoOptions: l}
	offers := []tool.Tool{tool.ReadFile(l.Head, l.Base), tool.SearchCode(l.Head, lib.open),
		tool.FindReferences(l.Head, l.Files...)}
	if l.Tests.API != nil || l.Tests.Glob != "" {
		offers = append(offers, tool.RunTests(l.Tests))
	}
	s := RepoContext{Tools: tool.NewSet(offers...), Head: l.Head.Read}
	if l.Tokens > 0 {
		s.Pack = lib.pack
	}
	return s
}

// library holds the index of a change's head, built once for all files.
type library struct {
	RepoOptions
	mu     sync.Mutex
	engine *retrieve.Engine
	err    error
}

// open returns the engine over the head. It remembers a failure, unless ctx was cancelled.
func (l *library) open(ctx context.Context) (*retrieve.Engine, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine != nil || l.err != nil {
		return l.engine, l.err
	}
	x, err := l.buildIndex(ctx)
	if err != nil {
		if ctx.Err() == nil {
			l.err = err
			l.Note("the repository is not indexed, so nothing of it is shown beside the diff: " + err.Error())
		}
		return nil, err
	}
	l.engine = &retrieve.Engine{Index: x, Embedder: l.Embedder, Reranker: l.Reranker, Changed: l.changed()}
	return l.engine, nil
}

// buildIndex builds the head's index on top of the base's.
func (l *library) buildIndex(ctx context.Context) (*index.Source, error) {
	ctx = budget.Apart(ctx)
	o := index.Options{First: l.changed()}
	var base *index.Index
	if l.Kept != nil {
		kept, err := l.Kept(ctx, l.Endpoints)
		if err != nil {
			l.Note("the index of the base: " + err.Error())
		}
		base = kept
	}
	if base == nil {
		o.Limit = indexTime
	}
	head := Place{Tree: l.Head, From: base, Unkept: base == nil, Changed: true}
	x, err := head.inMemory(ctx, o, l.RepoOptions.Index, l.Endpoints)
	for _, note := range append(x.Notes, indexTimeNote(x.Report, indexTime)...) {
		l.Note(note)
	}
	return x.Source, err
}

// indexTimeNote says how many files were left out when the time for indexing was up, if any were.
func indexTimeNote(r index.Report, limit time.Duration) []string {
	if n := r.Skipped[index.SkippedTime]; n > 0 {
		return []string{fmt.Sprintf("%d files were not indexed within %s, and are not searched", n,
			wording.Span(limit))}
	}
	return nil
}

func (l *library) changed() (paths []string) {
	for _, f := range l.Files {
		paths = append(paths, f.Path)
	}
	return paths
}

// pack returns the pieces of the repository that a reviewer of the patch gets to see.
func (l *library) pack(ctx context.Context, path, patch string) []prompt.Piece {
	e, err := l.open(ctx)
	if err != nil {
		return nil
	}
	chosen, notes, err := e.Pack(ctx, diff.File{Path: path, Patch: patch}, l.Tokens)
	if err != nil && ctx.Err() == nil {
		notes = append(notes, "nothing of the repository is shown beside "+path+": "+err.Error())
	}
	for _, note := range notes {
		l.Note(note)
	}
	var pieces []prompt.Piece
	for _, p := range chosen {
		pieces = append(pieces, prompt.Piece{Path: p.Path, StartLine: p.StartLine, Why: string(p.Why), Text: p.Text,
			Changed: p.Path != path && slices.Contains(e.Changed, p.Path)})
	}
	return pieces
}
