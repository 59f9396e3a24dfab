package retrieve

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/lang"
)

// around is what a change is about, by the chunks of its file.
type around struct {
	enclosing []chunk.Chunk // that hold a changed line
	names     []string      // that the change defines, or used to define
	touched   []string      // other names on its changed lines, in their order
	types     []string      // in the signatures of what encloses it
}

// changed are the lists of a change: who uses what it changes, the definitions of
// what its lines name and the types in the signatures around it. The chunks that hold the
// change are no hits: who asks has them before him.
func (s *search) changed(ctx context.Context, words ranked) ([]list, error) {
	var f following
	_, err := s.stage("structure", func() ([]chunk.Chunk, error) {
		var err error
		_, f, err = s.follow(ctx, words)
		return index.First(slices.Concat(f.users, f.named, f.types), merged), err
	})
	return []list{
		{name: "structure", weight: 2, chunks: f.users},
		{name: "symbol", weight: 1, chunks: slices.Concat(f.named, f.types)},
	}, err
}

// following is where the names of a change lead.
type following struct{ users, named, types []chunk.Chunk }

func (s *search) follow(ctx context.Context, words ranked) (a around, f following, err error) {
	if a, err = s.surroundings(ctx); err != nil {
		return a, f, err
	}
	for _, name := range a.names {
		found, err := s.mentions(ctx, name, words)
		if err != nil {
			return a, f, err
		}
		f.users = append(f.users, found...)
	}
	by, err := s.definitions(ctx, slices.Concat(a.touched, a.types)...)
	defined := func(names []string) (all []chunk.Chunk) {
		for _, name := range names {
			if found := by[name]; len(found) <= ambiguous {
				all = append(all, found...)
			}
		}
		return all
	}
	f.named = defined(a.touched)
	f.types = without(defined(a.types), func(c chunk.Chunk) bool { return c.Kind != chunk.Type })
	return a, f, err
}

// surroundings reads a change by the chunks of its file. Those that it stands in are hidden.
func (s *search) surroundings(ctx context.Context) (a around, err error) {
	file, err := s.Index.In(ctx, s.question.path)
	if err != nil {
		return a, err
	}
	lines := changedLines(s.question.hunks, newSide(file, s.question.hunks))
	s.hidden = map[string]bool{}
	for _, c := range file {
		if slices.ContainsFunc(lines, func(l changedLine) bool { return c.StartLine <= l.at && l.at <= c.EndLine }) {
			a.enclosing = append(a.enclosing, c)
			s.hidden[c.ID()] = true
		}
	}
	a.read(s.question.path, lines)
	return a, nil
}

// read takes the names out of a change.
func (a *around) read(path string, changed []changedLine) {
	text, signatures, defines := "", "", lang.Of(path).Defines
	var lines []string // that may define what is known elsewhere
	for _, l := range changed {
		text += l.text + "\n"
		if !slices.ContainsFunc(a.enclosing, l.inBody) {
			lines = append(lines, l.text)
		}
	}
	on := chunk.Identifiers(text)
	for _, c := range a.enclosing {
		if c.Kind == chunk.Function || c.Kind == chunk.Method {
			a.names = append(a.names, c.Name)
		}
		for _, name := range c.Defines {
			if c.Kind != chunk.Function && c.Kind != chunk.Method && slices.Contains(on, name) || name == c.Name {
				a.names = append(a.names, name)
			}
		}
		signatures += c.Signature + "\n"
	}
	for _, name := range on { // a definition that was removed is none in the new file
		if slices.ContainsFunc(lines, defines(name)) {
			a.names = append(a.names, name)
		}
	}
	a.names = once(slices.DeleteFunc(a.names, func(name string) bool { return name == "" }))
	known := func(name string) bool { return slices.Contains(a.names, name) }
	a.touched = slices.DeleteFunc(on, known)
	a.types = slices.DeleteFunc(chunk.Identifiers(signatures), known)
}

func once(names []string) (kept []string) {
	for _, name := range names {
		if !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// newSide reports whether a file is as it is behind the change, rather than before.
func newSide(file []chunk.Chunk, hunks []diff.Hunk) bool {
	text := map[int]string{}
	for _, c := range file {
		n := c.StartLine
		for line := range strings.SplitSeq(c.Text, "\n") {
			text[n] = strings.TrimRight(line, "\r")
			n++
		}
	}
	fits := 0
	for _, h := range hunks {
		for _, l := range h.Lines { // none has a line 0, which stands for none of a side
			if line, ok := text[l.New]; ok && line == l.Text {
				fits++
			}
			if line, ok := text[l.Old]; ok && line == l.Text {
				fits--
			}
		}
	}
	return fits > 0
}

// changedLine is a line that a change adds or removes.
type changedLine struct {
	text string
	at   int  // its number on the side that is looked at, or of the line above where it is none of it
	gone bool // it is no line of that side
}

// inBody reports whether a line is, or was, one of a function behind its first: what it
// defines nobody else knows.
func (l changedLine) inBody(c chunk.Chunk) bool {
	if c.Kind != chunk.Function && c.Kind != chunk.Method {
		return false
	}
	n := c.StartLine
	for line := range strings.SplitSeq(c.Text, "\n") {
		if opens(c, line) {
			return l.gone && n <= l.at && l.at < c.EndLine || !l.gone && n < l.at && l.at <= c.EndLine
		}
		n++
	}
	return false
}

// changedLines are the lines of hunks as they stand on one side.
func changedLines(hunks []diff.Hunk, newSide bool) (lines []changedLine) {
	for _, h := range hunks {
		last := cmp.Or(h.OldStart, 1)
		if newSide {
			last = cmp.Or(h.NewStart, 1)
		}
		for _, l := range h.Lines {
			n, gone := l.Old, diff.Add
			if newSide {
				n, gone = l.New, diff.Delete
			}
			if l.Op != gone {
				last = n
			}
			if l.Op != diff.Context {
				lines = append(lines, changedLine{l.Text, last, l.Op == gone})
			}
		}
	}
	return lines
}
