package chunker

import (
	"regexp"

	"github.com/org/pr-review-action/internal/pattern"
)

// generic matches a generic type's brackets before another closing bracket, a body or where:
// <C> in A<B<C>>() and in class A : B<C> {. Nested ones are replaced from the inside out.
var generic = stumble{pattern.Lazy(`\w(<[^<>()=;{}&|"]*>)\s*(?:[>{]|where\b)`), 'x'}

// stumbles are forms of C# that the grammar does not handle, with the byte that replaces
// each byte of their first group. A file with one takes seconds to parse and yields fewer
// definitions. One file in twelve of two large projects had one.
var stumbles = []stumble{
	{pattern.Lazy(`(?m)^[ \t]*(#.*)$`), ' '},                      // #if around part of a member
	{pattern.Lazy(`(?:=>|[=(,:]|\?\s|\breturn\b)\s*(\[\])`), '"'}, // x = []
	{pattern.Lazy(`\b(_)\b`), 'x'},                                // out var _
	{pattern.Lazy(`(\$)"(?:[^"\\\n]|\\.)*"[\s;,)\]}+:.?]`), ' '},  // $"{{ {a[0]}"
	generic, generic, generic,
}

type stumble struct {
	form func() *regexp.Regexp
	with byte
}

func smoothCSharp(source []byte) { smooth(source, stumbles) }

// smooth replaces stumbles in source in place, keeping its length.
func smooth(source []byte, stumbles []stumble) {
	for _, s := range stumbles {
		for _, at := range s.form().FindAllSubmatchIndex(source, -1) {
			for i := at[2]; i < at[3]; i++ {
				source[i] = s.with
			}
		}
	}
}
