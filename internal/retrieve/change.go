package retrieve

import (
	"cmp"
	"context"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
)

// around holds what a change is about, judged by the chunks of its file, and the chunks that its names lead to.
type around struct {
	enclosing []chunk.Chunk // chunks that hold a changed line
	code      string        // the changed lines, without comments and strings
	text      string        // the file
	names     []string      // names whose definitions the change adds, alters or removes
	classes   []string      // the types of the methods among them

	kinds   map[string]chunk.Kind // those of the enclosing definitions among names
	common  []string              // those with many definitions
	touched []string              // other names on the changed lines, in order
	types   []string              // names in the signatures of the enclosing chunks

	users, named, typed []chunk.Chunk // those that use names, define touched, and define types
}

// changeLists returns the lists for a change: the users of what it changes, and the definitions
// of the names on its lines and of the types in the signatures around it. Chunks that hold
// the change are not hits: the caller has them already.
func (s *search) changeLists(ctx context.Context, words ranked) []list {
	a := s.follow(ctx, words)
	s.stage("structure", first(slices.Concat(a.users, a.named, a.typed)))
	return []list{{"structure", 2, a.users}, {"symbol", 1, slices.Concat(a.named, a.typed)}}
}

// follow describes a change, and finds the chunks that its names lead to.
func (s *search) follow(ctx context.Context, words ranked) around {
	a := s.surroundings(ctx)
	by, err := s.Index.Defines(ctx, 0, a.names...)
	s.check(err)
	for _, name := range a.names {
		found, all := s.mentions(ctx, name, words)
		// Most uses are those of another's. Nothing else can call what is new.
		method := a.kinds[name] == chunk.Method
		if a.kinds[name] != "" && len(by[name]) > ambiguous || method && s.question.hunks[0].OldStart == 0 {
			a.common = append(a.common, name)
		}
		found = removeMatching(found, func(c chunk.Chunk) bool { return !s.mayUse(c, name, a, by[name]) })
		if all || !method {
			a.users = append(a.users, found...)
		}
	}
	by = s.definitions(ctx, slices.Concat(a.touched, a.types)...)
	defined := func(names []string) (all []chunk.Chunk) {
		for _, name := range names {
			all = append(all, s.nearest(removeMatching(s.question.sameLanguage(by[name]), func(c chunk.Chunk) bool {
				return a.isLocalName(c, name) || strings.HasPrefix(c.Text, "@overload") ||
					s.isApart(c) && !token.IsExported(name)
			}))...)
		}
		return all
	}
	a.named = defined(a.touched)
	a.typed = removeMatching(defined(a.types), func(c chunk.Chunk) bool {
		return c.Kind != chunk.Type || !slices.Contains(a.types, c.Name)
	})
	return a
}

// mayUse reports whether a chunk that has a name of the change, also defined in others, may mean it. A function or
// type of another Go package follows that package's name. A constructor is called, or its type extended; a
// method is called, and not where the type has one of that name itself. If many define the name, the chunk's file is
// linked, or in the folder of a function, or the chunk names the method's type.
func (s *search) mayUse(c chunk.Chunk, name string, a around, others []chunk.Chunk) bool {
	method := a.kinds[name] == chunk.Method
	plain := a.kinds[name] != "" && !method
	builds := slices.ContainsFunc(a.enclosing, func(e chunk.Chunk) bool {
		return slices.Contains(constructors, e.Name) && owner(e) == name
	})
	own := func(d chunk.Chunk) bool { return d.Path == c.Path && d.Scope == c.Scope && d.ID() != c.ID() }
	apart := s.isApart(c)
	switch {
	case apart && !token.IsExported(name),
		apart && plain && !(strings.Contains(c.Text, s.packageName(a)) && strings.Contains(c.Text, "."+name)),
		builds && !holdsOne(c.Text, name+"(", name+".new", "new "+name, "extends "+name, "("+name+")"),
		method && c.Path != s.question.path && !mayCall(c.Text, name),
		method && !slices.Contains(a.classes, owner(c)) && slices.ContainsFunc(others, own):
		return false
	case slices.Contains(a.common, name):
		return slices.Contains(s.linked, c.Path) || plain && s.distance(c.Path) < far ||
			slices.ContainsFunc(a.classes, func(class string) bool { return lang.WordAt(c.Text, class) >= 0 })
	}
	return true
}

var packageClause = pattern.Lazy(`(?m)^package (\w+)`)

// packageName returns the name of the changed file's package in Go, which its folder need not have.
func (s *search) packageName(a around) string {
	if m := packageClause().FindStringSubmatch(a.text); m != nil {
		return m[1]
	}
	return path.Base(path.Dir(s.question.path))
}

// mayCall reports whether a text may call a method, or read a property, rather than have a variable of that name.
func mayCall(text, name string) bool { return holdsOne(text, "."+name, ":"+name, ">"+name, name+"(") }

func holdsOne(text string, of ...string) bool {
	return slices.ContainsFunc(of, func(s string) bool { return strings.Contains(text, s) })
}

// isApart reports whether a chunk is of another package in Go.
func (s *search) isApart(c chunk.Chunk) bool {
	return lang.Of(c.Path).Name == "go" && path.Dir(c.Path) != path.Dir(s.question.path)
}

// far is the distance of a file of which it is not known that the changed one sees it.
const far = 3

// distance returns how far a file is from the changed one: the same, in its folder, where files of a folder see each
// other, linked with it by imports, or far.
func (s *search) distance(file string) int {
	q := s.question.path
	byFile := slices.Contains([]string{"javascript", "python"}, cmp.Or(lang.Of(q).Like, lang.Of(q).Name))
	sameFolder := path.Dir(file) == path.Dir(q) && !byFile
	return slices.Index([]bool{file == q, sameFolder, slices.Contains(s.linked, file), true}, true)
}

// nearest returns the definitions of a name without those that are farther away than others, and without those that
// are far if they are several.
func (s *search) nearest(chunks []chunk.Chunk) []chunk.Chunk {
	least := far
	for _, c := range chunks {
		least = min(least, s.distance(c.Path))
	}
	return removeMatching(chunks, func(c chunk.Chunk) bool {
		d := s.distance(c.Path)
		return !s.isInChange(c) && (d > least || d == far && len(chunks) > 1)
	})
}

// surroundings describes a change by the chunks of its file. It hides those that hold a changed line.
func (s *search) surroundings(ctx context.Context) (a around) {
	file, err := s.Index.In(ctx, s.question.path)
	s.check(err)
	for _, c := range file {
		a.text += c.Text + "\n"
	}
	lines := changedLines(s.question.hunks, s.question.after || isAfter(a.text, s.question.hunks))
	s.hidden, s.linked = map[string]bool{}, s.Index.Linked(s.question.path)
	for _, c := range file {
		if slices.ContainsFunc(lines, func(l changedLine) bool { return c.StartLine <= l.at && l.at <= c.EndLine }) {
			a.enclosing = append(a.enclosing, c)
			s.hidden[c.ID()] = true
		}
	}
	a.read(s.question.path, file, lines)
	return a
}

// owner returns the name of the type that a chunk is in.
func owner(c chunk.Chunk) string { return c.Scope[strings.LastIndex(c.Scope, ".")+1:] }

// isLocalName reports whether a name that a function defines in addition to its own is just that of a local variable:
// no changed line names it as a field. Nor is a method meant by a variable of its name, except in Ruby. A conversion,
// such as C#'s operator int, is not named at all.
func (a around) isLocalName(c chunk.Chunk, name string) bool {
	own := name == c.Name || c.Kind != chunk.Function && c.Kind != chunk.Method
	return strings.Contains(c.Signature, "operator "+name) || !own && !holdsOne(a.code, "."+name, "@"+name) ||
		c.Kind == chunk.Method && name == c.Name && c.Language != "ruby" && !mayCall(a.code, name)
}

// constructors are the names that constructors have in all classes.
var constructors = strings.Fields("__construct __init__ initialize constructor")

// reserved are words of languages that look like names, or like ones that are defined.
var reserved = strings.Fields("class const func let self static this type var")

// implicit matches the names of methods that are used without being named: who uses their class uses them.
var implicit = pattern.Lazy(`^(__\w+|operator\W.*|initialize|constructor|get|set)$`)

// imported matches an import by a path, whose last word alone may be defined here: not "System" in System.Linq.
var imported = pattern.Lazy(`^\s*(?:global\s+)?(?:using|use|import)\s+(?:static\s+)?(?:[\w.\\:]*[.\\:])?(\w+)\s*;?\s*$`)

// hyphened matches a name in a style sheet.
var hyphened = pattern.Lazy(`[A-Za-z_][\w-]+`)

// read collects the names of a change to a file.
func (a *around) read(of string, file []chunk.Chunk, changed []changedLine) {
	signatures, language := "", lang.Of(of)
	a.kinds = map[string]chunk.Kind{}
	var lines []string // whose definitions may be visible elsewhere
	for _, l := range changed {
		code := imported().ReplaceAllString(language.Blank(l.text), "$1")
		a.code += code + "\n"
		if !slices.ContainsFunc(a.enclosing, l.inBody) {
			lines = append(lines, code)
		}
	}
	on := chunk.Identifiers(a.code)
	if strings.HasSuffix(language.Name, "css") {
		on = hyphened().FindAllString(a.code, -1)
	}
	for _, c := range a.enclosing {
		defined := func(d chunk.Chunk) bool { return slices.Contains(d.Defines, c.Name) } // a test's it is not
		switch {
		case c.Kind == chunk.Method && implicit().MatchString(c.Name):
			a.names = append(a.names, owner(c))
		case c.Kind != chunk.Constants && c.Kind != chunk.Window && slices.ContainsFunc(file, defined):
			a.names = append(a.names, c.Name)
			if a.kinds[c.Name] = c.Kind; c.Kind == chunk.Method {
				a.classes = append(a.classes, owner(c))
			}
		}
		for _, name := range c.Defines {
			if c.Kind != chunk.Function && c.Kind != chunk.Method && slices.Contains(on, name) {
				a.names = append(a.names, name)
			}
		}
		signatures += c.Signature + "\n"
	}
	for _, name := range on { // no chunk of the new file has a definition that was removed
		if slices.ContainsFunc(lines, language.Defines(name)) {
			a.names = append(a.names, name)
		}
	}
	a.names = order.Distinct(slices.DeleteFunc(a.names, func(name string) bool {
		return len(name) < 3 || slices.Contains(reserved, name) || slices.Contains(constructors, name)
	}))
	known := func(name string) bool { return slices.Contains(a.names, name) }
	a.touched = slices.DeleteFunc(on, func(name string) bool { // new is a name only where it is called as one
		return known(name) || slices.Contains(reserved, name) || name == "new" && !strings.Contains(a.code, "new(")
	})
	a.types = slices.DeleteFunc(chunk.Identifiers(signatures), known)
}

// isAfter reports whether a file has more of the lines that hunks add than of those that they remove.
func isAfter(text string, hunks []diff.Hunk) bool {
	has := func(kind diff.Op) (n int) {
		for line := range strings.Lines(plain(hunks, kind)) {
			n += min(1, strings.Count(text, line))
		}
		return n
	}
	return has(diff.Add) > has(diff.Delete)
}

// changedLine is a line that a change adds or removes.
type changedLine struct {
	text string
	at   int  // its number on the chosen side or, if it is not there, that of the line above
	gone bool // it is not on that side
}

// inBody reports whether a line is, or was, in a function after its first line, so that
// what it defines is not visible elsewhere.
func (l changedLine) inBody(c chunk.Chunk) bool {
	if c.Kind != chunk.Function && c.Kind != chunk.Method {
		return false
	}
	if !slices.Contains(c.Defines, c.Name) { // a later piece of a long function
		return c.StartLine <= l.at && l.at <= c.EndLine
	}
	n := c.StartLine
	for line := range strings.SplitSeq(c.Text, "\n") {
		if isSignatureLine(c, line) {
			return l.gone && n <= l.at && l.at < c.EndLine || !l.gone && n < l.at && l.at <= c.EndLine
		}
		n++
	}
	return false
}

// changedLines returns the added and removed lines of hunks, numbered for one side.
func changedLines(hunks []diff.Hunk, newSide bool) (lines []changedLine) {
	for _, h := range hunks {
		last := cmp.Or(h.OldStart, 1)
		if newSide {
			last = cmp.Or(h.NewStart, 1)
		}
		for _, l := range h.Lines {
			n := l.Old
			if newSide {
				n = l.New
			}
			last = cmp.Or(n, last)
			if l.Op != diff.Context {
				lines = append(lines, changedLine{l.Text, last, n == 0})
			}
		}
	}
	return lines
}
