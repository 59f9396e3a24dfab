package retrieve

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/trace"
)

// Why is how a piece of a pack relates to the change.
type Why string

// The kinds of pieces in a pack, in the order in which they are chosen.
const (
	Encloses Why = "encloses" // it contains the change
	Calls    Why = "calls"    // it uses what is changed
	Defines  Why = "defines"  // it defines what the changed lines use
	Tests    Why = "tests"    // it is a test of what is changed
	Similar  Why = "similar"  // a search for the change, or for another name on its lines, found it
)

// Piece is a chunk of the commit that a reviewer sees in addition to a diff: all of it or,
// if it is long, the lines around those that it is shown for.
type Piece struct {
	chunk.Chunk
	Why    Why
	around chunk.Chunk // all of it, to be shown if there is room
}

// Pack chooses the pieces of the repository that a reviewer of a changed file gets, at most
// that many tokens, and fewer for a small patch. A patch that cannot be read gets none.
// The index must be of the commit after the change. The same commits give the same pack
// (P11). Notes are those of a search; the error is the index's.
func (e *Engine) Pack(ctx context.Context, f diff.File, tokens int) (pieces []Piece, notes []string, err error) {
	hunks, unreadable := f.Hunks()
	if tokens <= 0 || len(hunks) == 0 || unreadable != nil {
		return nil, nil, nil
	}
	ctx, span := trace.Retrieval(ctx)
	ctx, s := e.begin(ctx, Request{K: merged},
		question{text: f.Path + "\n" + plain(hunks), path: f.Path, hunks: hunks, after: true})
	defer s.stop()
	candidates := s.candidates(ctx)
	s.result.recordOn(span, "pack of "+f.Path)
	span.End(s.err)
	if s.err != nil {
		return nil, s.result.Notes, s.err
	}
	return choose(candidates, min(tokens, packTokensFor(len(s.question.text)))*bytesPerToken), s.result.Notes, nil
}

// packTokensFor returns how many tokens a pack may have for a patch of that many bytes: three tenths
// of the patch and the instructions that go with it, so that the input for a file costs at
// most 1.3 times as much.
func packTokensFor(patch int) int {
	const instructions = 4_000
	return (instructions + patch/bytesPerToken) * 3 / 10
}

// The most candidates of each kind. Hits of a search are added until there are fewPieces
// candidates.
const (
	mostEnclosing = 2
	mostUsers     = 8
	fewUsers      = 4 // before what the change uses
	mostLost      = 3
	mostNamed     = 5
	mostTests     = 3
	mostConstants = 1 // of a piece
	mostJoined    = 1
	fewPieces     = 1
)

// candidates returns the pieces that a pack may have in addition to the diff, the most
// useful of each kind first.
func (s *search) candidates(ctx context.Context) []Piece {
	words := s.lexical(ctx)
	a := s.follow(ctx, words)
	lostNames, lost := s.removedNames(ctx)
	hits := s.searchResults(ctx, words)
	q := s.question
	p := pieces{change: q, seen: map[string]bool{}}
	p.add(Encloses, a.enclosing, mostEnclosing, linesNumbered(changedLines(q.hunks, true)))
	users, mentions := q.splitUsers(a)
	p.add(Calls, users, fewUsers, linesNaming(a.names))
	p.add(Similar, mentions, mostUsers, linesNaming(a.names))
	// a test that the file, which is none, does not see, or only the head of a type, whose members are other chunks
	unseen := func(c chunk.Chunk) bool {
		head := strings.TrimRight(code(c.Path, c.Text), " \t\r\n}")
		return isTest(c) && !lang.IsTest(q.path) || s.distance(c.Path) == far && !s.isInChange(c) && !a.mayMean(c) ||
			c.Kind == chunk.Type && (strings.HasSuffix(head, "{") || strings.HasSuffix(head, ":"))
	}
	p.add(Defines, order.Ahead(removeMatching(a.named, unseen), s.isInChange), mostNamed, linesNaming(a.touched))
	p.add(Calls, users, mostUsers-fewUsers, linesNaming(a.names))
	p.add(Similar, removeMatching(lost, isTest), mostLost, linesNaming(lostNames))
	coded := linesNaming(slices.DeleteFunc(chunk.Identifiers(a.code), func(name string) bool {
		return !looksCoded(name)
	}))
	p.add(Tests, removeMatching(q.sameLanguage(a.users), func(c chunk.Chunk) bool {
		return !isTest(c) || c.Kind == chunk.Type || c.Kind == chunk.Constants || prepares().MatchString(c.Name) ||
			lang.IsTest(q.path) && s.distance(c.Path) == far
	}), mostTests, linesNaming(a.names))
	p.add(Defines, removeMatching(a.typed, unseen), mostNamed, linesNaming(a.types))
	s.constants(ctx, &p)
	prose := func(path string) bool { return lang.Of(path).Kind == lang.Prose }
	p.add(Similar, removeMatching(hits, func(h chunk.Chunk) bool {
		return isTest(h) || prose(q.path) && !prose(h.Path) ||
			path.Dir(h.Path) != path.Dir(q.path) && !slices.Contains(s.linked, h.Path)
	}), mostJoined, coded)
	if l := lang.Of(q.path); l.Name != "" && l.Kind == lang.Code {
		p.add(Similar, hits, fewPieces-len(p.all), coded)
	}
	return p.all
}

// prepares matches the names of functions that run before or after tests.
var prepares = pattern.Lazy(`(?i)^(before|after)(each|all)?$|^(setup|teardown)`)

var word = pattern.Lazy(`^[a-z]+$`)

// splitUsers returns the users of a change, code before others, and what of its own file only mentions its names, as a
// comment does.
func (q question) splitUsers(a around) (users, mentions []chunk.Chunk) {
	named := func(c chunk.Chunk) bool {
		names := a.names
		// "jobs" there is not what code calls so
		if lang.Of(c.Path).Kind == lang.Settings && lang.Of(q.path).Kind == lang.Code {
			names = slices.DeleteFunc(slices.Clone(names), word().MatchString)
		}
		return linesNaming(names)(0, code(c.Path, c.Text))
	}
	all := order.Unique(slices.Clone(a.users), chunk.Chunk.ID)
	users = removeMatching(q.sameLanguage(all), func(c chunk.Chunk) bool {
		return !named(c) || isTest(c) || lang.IsTest(q.path) // whose names nothing else uses
	})
	users = order.Ahead(users, func(c chunk.Chunk) bool { return lang.Of(c.Path).Kind == lang.Code })
	return users, removeMatching(all, func(c chunk.Chunk) bool { return c.Path != q.path || named(c) })
}

// constants adds the constants that users of the change and definitions name, from the same files.
func (s *search) constants(ctx context.Context, p *pieces) {
	for _, piece := range p.all {
		if piece.Why != Calls && piece.Why != Defines {
			continue
		}
		file, err := s.Index.In(ctx, piece.Path)
		s.check(err)
		text, named := code(piece.Path, piece.Text), []string(nil)
		p.add(Defines, removeMatching(file, func(c chunk.Chunk) bool {
			if c.Kind != chunk.Constants || c.Scope != "" && c.Scope != piece.Scope && c.Scope != piece.Symbol() {
				return true // a field of a class that does not contain the piece is not one of these
			}
			before := len(named)
			for _, name := range c.Defines {
				if lang.WordAt(text, name) >= 0 {
					named = append(named, name)
				}
			}
			return len(named) == before
		}), mostConstants, linesNaming(named))
	}
}

// mayMean reports whether the changed code may mean a chunk of which it is not known that the file can see it: a type
// that the file names, a method of one, a function that is called, but not a field or a word of the language.
func (a around) mayMean(c chunk.Chunk) bool {
	switch c.Kind {
	case chunk.Constants:
		return false
	case chunk.Type:
		return lang.WordAt(a.text, c.Name) >= 0 && (c.Scope == "" || lang.WordAt(a.text, owner(c)) >= 0)
	case chunk.Method:
		return lang.WordAt(a.text, owner(c)) >= 0
	case chunk.Function:
		at := lang.WordAt(a.code, c.Name)
		return at >= 0 && strings.HasPrefix(a.code[at+len(c.Name):], "(") && !strings.HasSuffix(a.code[:at], ".")
	}
	return true
}

// isInChange reports whether a chunk is in a file of the change.
func (s *search) isInChange(c chunk.Chunk) bool { return slices.Contains(s.Changed, c.Path) }

// searchResults returns what a search for the change finds, without unnamed chunks such as imports, which say little.
func (s *search) searchResults(ctx context.Context, words ranked) []chunk.Chunk {
	s.result.Hits = fuse([]list{words.best(), s.similar(ctx, s.embed(ctx))}, merged, s.hidden)
	s.rerank(ctx, s.result.Hits)
	return removeMatching(hitChunks(s.result.Hits), func(c chunk.Chunk) bool {
		return c.Name == "" && c.Kind != chunk.Window
	})
}

var quoted = pattern.Lazy("\"[^\"\n]{3,80}\"|'[^'\n]{3,80}'|`[^`\n]{3,80}`")

// removedNames returns the names and quoted texts that are only on removed lines, such as a setting,
// a key or a path, and the chunks that mention them. It leaves out what says nothing: a name that
// more than rareWithin chunks mention, and a plain word of prose.
func (s *search) removedNames(ctx context.Context) (names []string, chunks []chunk.Chunk) {
	before, now := plain(s.question.hunks, diff.Delete), plain(s.question.hunks, diff.Add, diff.Context)
	all := chunk.Identifiers(before)
	if lang.Of(s.question.path).Kind == lang.Prose { // most are just words
		all = slices.DeleteFunc(all, func(name string) bool { return !looksCoded(name) })
	}
	var texts []string
	for _, text := range quoted().FindAllString(before, -1) {
		texts = append(texts, text[1:len(text)-1])
	}
	all = append(all, texts...)
	for _, name := range order.Distinct(all) {
		if len(name) < 3 || lang.WordAt(now, name) >= 0 {
			continue
		}
		found, err := s.Index.Mentions(ctx, name, rareWithin+1)
		s.check(err)
		if len(found) > rareWithin {
			continue
		}
		if !slices.Contains(texts, name) { // code that uses what is gone is among the users
			plain := word().MatchString(name)
			found = removeMatching(found, func(c chunk.Chunk) bool {
				return lang.Of(c.Path).Kind == lang.Code && (plain || lang.Of(s.question.path).Kind == lang.Code) ||
					plain && lang.WordAt(code(c.Path, c.Text), name) < 0
			})
		}
		if len(found) > 0 {
			names, chunks = append(names, name), append(chunks, found...)
		}
	}
	return names, chunks
}

func isTest(c chunk.Chunk) bool { return lang.IsTest(c.Path) }

func removeMatching(chunks []chunk.Chunk, which func(chunk.Chunk) bool) []chunk.Chunk {
	return slices.DeleteFunc(slices.Clone(chunks), which)
}

// sameLanguage removes the chunks of code in other languages, which cannot use the change's names, and of the folder in
// which projects in C keep those of others, whose names are all in one space.
func (q question) sameLanguage(chunks []chunk.Chunk) []chunk.Chunk {
	const others = "deps/"
	return removeMatching(chunks, func(c chunk.Chunk) bool {
		return lang.Of(c.Path).Kind == lang.Code && !index.Akin(c.Path, q.path) ||
			strings.HasPrefix(c.Path, others) && !strings.HasPrefix(q.path, others)
	})
}
