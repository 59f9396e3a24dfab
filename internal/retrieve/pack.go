package retrieve

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/trace"
)

// Change is a changed file about which a reviewer is asked.
type Change struct {
	Path   string
	Hunks  []diff.Hunk
	Beside []string // paths that changed together with it
}

// Why says what a piece of a pack is to the change.
type Why string

// What the pieces of a pack are, in the order in which they are chosen.
const (
	Encloses Why = "encloses" // the change stands in it
	Calls    Why = "calls"    // it uses what is changed
	Defines  Why = "defines"  // it defines what the changed lines use
	Tests    Why = "tests"    // it is a test that touches what is changed
	Similar  Why = "similar"  // a search for the change found it
)

// Piece is a whole chunk of the commit that a reviewer is shown beside a diff.
type Piece struct {
	chunk.Chunk
	Why Why
}

// bytesPerToken is how many bytes of code count as a token.
const bytesPerToken = 3

// What is written around a piece and before each line of it, in bytes.
const (
	pieceFrame = 60
	lineFrame  = 9
)

// share is how much of a pack's budget each kind has before any may take what is left.
func share(w Why) float64 {
	switch w {
	case Calls:
		return 0.3
	case Encloses, Defines:
		return 0.25
	}
	return 0.1
}

// Pack chooses what a reviewer of a change is given of the rest of the repository,
// of at most so many tokens. The index has to be of the commit behind the change.
// Equal commits give equal packs (P11). Notes are a search's; the error is the index's.
func (e Engine) Pack(ctx context.Context, c Change, tokens int) (pieces []Piece, notes []string, err error) {
	if tokens <= 0 || len(c.Hunks) == 0 {
		return nil, nil, nil
	}
	ctx, span := trace.Retrieval(ctx)
	s := &search{Engine: e, Request: Request{K: merged}, question: question{
		text: c.Path + "\n" + plain(c.Hunks), path: c.Path, hunks: c.Hunks}}
	candidates, err := s.candidates(ctx, c)
	s.result.tell(span, "pack of "+c.Path)
	span.End(err)
	if err != nil {
		return nil, s.result.Notes, err
	}
	return choose(candidates, tokens*bytesPerToken), s.result.Notes, nil
}

// candidates are the pieces that a pack may have, the most telling of each kind first.
func (s *search) candidates(ctx context.Context, c Change) ([]Piece, error) {
	words, err := s.lexical(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.surroundings(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.follow(ctx, a, words)
	if err != nil {
		return nil, err
	}
	imported, err := s.Index.ImportedBy(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	imports, err := s.Index.Imports(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	tests, err := s.Index.TestsOf(ctx, c.Path, a.names, merged)
	if err != nil {
		return nil, err
	}
	s.hide(a.enclosing)
	near, err := s.similar(ctx, s.embed(ctx))
	if err != nil {
		return nil, err
	}
	users := slices.Concat(f.users, f.rare)
	nearest(users, c, imported)
	defined := slices.Concat(f.named, f.types)
	nearest(defined, c, imports)
	found := fuse([]list{words.best(), near}, merged, s.hidden)
	s.rerank(ctx, found)
	s.result.Hits = found
	p := pieces{shown: shownLines(c.Hunks), seen: map[string]bool{}}
	p.add(c.Path, Encloses, a.enclosing)
	p.add(c.Path, Calls, slices.DeleteFunc(slices.Clone(users), isTest))
	p.add(c.Path, Defines, defined)
	p.add(c.Path, Tests, slices.Concat(tests, slices.DeleteFunc(slices.Clone(users), isCode)))
	for _, h := range found {
		if h.Name != "" || h.Kind == chunk.Window { // imports say little
			p.add(c.Path, Similar, []chunk.Chunk{h.Chunk})
		}
	}
	return p.all, nil
}

func isTest(c chunk.Chunk) bool { return lang.IsTest(c.Path) }
func isCode(c chunk.Chunk) bool { return !lang.IsTest(c.Path) }

// nearest puts chunks first that changed together with the file, then those of its
// folder or that an import joins to it.
func nearest(chunks []chunk.Chunk, c Change, joined []string) {
	far := func(x chunk.Chunk) int {
		switch {
		case x.Path == c.Path, slices.Contains(c.Beside, x.Path):
			return 0
		case path.Dir(x.Path) == path.Dir(c.Path), slices.Contains(joined, x.Path):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(chunks, func(a, b chunk.Chunk) int { return cmp.Compare(far(a), far(b)) })
}

// pieces collects what a pack may have, each chunk once.
type pieces struct {
	shown map[int]bool // lines of the changed file that the diff shows
	seen  map[string]bool
	all   []Piece
}

func (p *pieces) add(changed string, why Why, chunks []chunk.Chunk) {
	for _, c := range chunks {
		if id := c.ID(); !p.seen[id] && !(c.Path == changed && p.shows(c)) {
			p.seen[id] = true
			p.all = append(p.all, Piece{c, why})
		}
	}
}

// shows reports whether the diff has every line of a chunk.
func (p *pieces) shows(c chunk.Chunk) bool {
	for n := c.StartLine; n <= c.EndLine; n++ {
		if !p.shown[n] {
			return false
		}
	}
	return true
}

func shownLines(hunks []diff.Hunk) map[int]bool {
	shown := map[int]bool{}
	for _, h := range hunks {
		for _, l := range h.Lines {
			shown[l.New] = true
		}
	}
	return shown
}

// choose fills a budget of bytes: each kind up to its share, then what is left in the
// order of the candidates. A piece that does not fit is passed over.
func choose(candidates []Piece, budget int) (chosen []Piece) {
	used, of := 0, map[Why]int{}
	taken := make([]bool, len(candidates))
	take := func(within func(p Piece, size int) bool) {
		for i, p := range candidates {
			size := len(p.Text) + (p.EndLine-p.StartLine+1)*lineFrame + len(p.Path) + pieceFrame
			if !taken[i] && used+size <= budget && within(p, size) {
				taken[i] = true
				used += size
				of[p.Why] += size
			}
		}
	}
	take(func(p Piece, size int) bool { return float64(of[p.Why]+size) <= share(p.Why)*float64(budget) })
	take(func(Piece, int) bool { return true })
	for i, p := range candidates {
		if taken[i] {
			chosen = append(chosen, p)
		}
	}
	return chosen
}
