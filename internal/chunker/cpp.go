package chunker

import (
	"bytes"
	"cmp"

	"github.com/org/pr-review-action/internal/pattern"
)

// inner matches the arguments of a template that is itself the last argument of one, nested the colons of a qualified
// argument.
var (
	inner  = stumble{pattern.Lazy(`\w(<[^<>()=;{}|"]*>)\s*>`), 'x'}
	nested = stumble{pattern.Lazy(`[<,]\s*\w+(::)\w`), 'x'}
)

// cppStumbles are forms of C++ outside of functions that the grammar reads as expressions, and with them often all
// that is in the same namespace.
var cppStumbles = stumbles{
	{pattern.Lazy(`\b(const(?:expr|eval)?|static|inline|virtual|explicit|mutable|volatile)\b`), ' '}, // static a f()
	{pattern.Lazy(`\bstd(::)\w`), 'x'},                                                // static std::string f()
	{pattern.Lazy(`(?m)^[ \t]*([A-Z][A-Z0-9_]+)[ \t]+[\w:<>,]+[ &*]+[\w:~]+\(`), ' '}, // X_API void f()
	{pattern.Lazy(`\b(?:class|struct)\s+([A-Z][A-Z0-9_]+)\s+\w`), ' '},                // class X_API C
	{pattern.Lazy(`[\w)\]]\s*[ \t]([A-Z][A-Z0-9_]+\([^()]*\))\s*[;{]`), ' '},          // int n GUARDED_BY(mu);
	inner, inner, nested, nested,
}

var (
	// What is not closed ends with the text, so that a text of openings takes no longer than another.
	cppToken = pattern.Lazy(`//[^\n]*|/\*(?s:.*?)(?:\*/|\z)|R"\w*\((?s:.*?)(?:\)\w*"|\z)|"(?:[^"\\\n]|\\.)*"` +
		`|'(?:[^'\\\n]|\\.)+'` +
		`|\d[\w'.]*|#(?:[^\n\\]|\\\r?\n|\\.)*|->|\w+|[^\s\w]`)
	remark     = pattern.Lazy(`/\*[^\n]*?\*/`)
	directive  = pattern.Lazy(`^#\s*(if|el|endif)`)
	specifiers = pattern.Lazy(`^[\w \t]*$`)
	// qualifier matches what may be between a function's parameters and its body, macros included.
	qualifier = pattern.Lazy(`^(?:noexcept|override|final|try|[A-Z][A-Z0-9_]+)$`)
)

// smoothC blanks the bodies of functions and the values of tables: they take most of the time, and may hide all that
// follows. Lines and length stay.
func smoothC(source []byte) { hideFunctions(source, false) }

// smoothCPP also blanks the parameters, in which the grammar takes a * b for a product.
func smoothCPP(source []byte) {
	cppStumbles.mask(source)
	hideFunctions(source, true)
}

func hideFunctions(source []byte, heads bool) {
	s := cppScan{source: source, heads: heads}
	for _, at := range cppToken().FindAllIndex(source, -1) {
		s.token(at[0], at[1])
	}
}

// cppScan finds the functions in C or C++ source, token by token.
type cppScan struct {
	source      []byte
	heads       bool     // parameters are blanked, too
	body, depth int      // where the body begins, 0 outside; open braces in it
	branches    []int    // depth at each open #if
	open, level int      // where the outermost open parenthesis begins; how many are open
	parens      [][2]int // those of this declaration
	head        bool     // the declaration so far ends like a function's head
	value       bool     // it ends in =
	result      int      // where its result begins after the parameters, or 0
}

func (s *cppScan) token(from, to int) {
	t := s.source[from:to]
	switch {
	case bytes.HasPrefix(t, []byte("/*")) && !bytes.HasSuffix(t, []byte("*/")):
		blank(t) // it is never closed, and the parser would look for its end from every line
		return
	case bytes.HasPrefix(t, []byte("//")), bytes.HasPrefix(t, []byte("/*")):
		return
	}
	value := s.value
	s.value = t[0] == '=' && s.level == 0
	switch {
	case t[0] == '#':
		for _, at := range remark().FindAllIndex(t, -1) { // the grammar ends a macro at one
			blank(t[at[0]:at[1]])
		}
		s.branch(t)
	case s.body > 0 && t[0] == '{':
		s.depth++
	case s.body > 0 && t[0] == '}':
		if s.depth--; s.depth <= 0 {
			blank(s.source[s.body:from])
			s.body = 0
		}
	case s.body > 0:
	case t[0] == '(':
		if s.level++; s.level == 1 {
			s.open = to
		}
	case t[0] == ')' && s.level > 0:
		if s.level--; s.level == 0 {
			s.parens, s.head = append(s.parens, [2]int{s.open, from}), true
		}
	case s.level > 0:
	case t[0] == '{' && (s.head || value):
		s.begin(from, to)
	case t[0] == '-' && len(t) == 2 && s.head:
		s.result = from
	case bytes.IndexByte([]byte(";{}"), t[0]) >= 0:
		s.head, s.result, s.parens = t[0] == '}', 0, nil // a member's initial value in braces may precede a body
	case s.result == 0 && s.head && !qualifier().Match(t):
		if s.head = false; t[0] != ':' && t[0] != ',' { // these two begin or continue a constructor's values
			s.parens = nil
		}
	}
}

// begin begins a body or a value. It blanks what a head has in parentheses, and what follows the last ones.
func (s *cppScan) begin(from, to int) {
	if s.heads && s.head {
		last := from
		for _, p := range s.parens {
			last = p[1] + 1
			blank(s.source[p[0]:p[1]])
		}
		blank(s.source[cmp.Or(s.result, last):from])
	}
	*s = cppScan{source: s.source, heads: s.heads, branches: s.branches, body: to, depth: 1}
}

// branch sees a directive: all branches of an #if open the same braces.
func (s *cppScan) branch(line []byte) {
	m, last := directive().FindSubmatch(line), len(s.branches)-1
	switch {
	case m == nil:
	case m[1][0] == 'i':
		s.branches = append(s.branches, s.depth)
	case last < 0:
	case string(m[1]) == "el":
		s.depth = s.branches[last]
	default:
		s.branches = s.branches[:last]
	}
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
