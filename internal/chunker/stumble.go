package chunker

import (
	"regexp"

	"github.com/org/pr-review-action/internal/pattern"
)

// stumble is a form of a language that its grammar does not handle, and the byte that replaces
// each byte of the form's first group.
type stumble struct {
	form func() *regexp.Regexp
	with byte
}

// maskStumbles replaces stumbles in source in place, keeping its length.
func maskStumbles(source []byte, stumbles []stumble) {
	for _, s := range stumbles {
		for _, at := range s.form().FindAllSubmatchIndex(source, -1) {
			for i := at[2]; i < at[3]; i++ {
				source[i] = s.with
			}
		}
	}
}

// generic matches a generic type's brackets before another closing bracket, a body or where:
// <C> in A<B<C>>() and in class A : B<C> {. Nested ones are replaced from the inside out.
var generic = stumble{pattern.Lazy(`\w(<[^<>()=;{}&|"]*>)\s*(?:[>{]|where\b)`), 'x'}

// csharpStumbles: a file with one takes seconds to parse and yields fewer definitions. One file
// in twelve of two large projects had one.
var csharpStumbles = []stumble{
	{pattern.Lazy(`(?m)^[ \t]*(#.*)$`), ' '},                      // #if around part of a member
	{pattern.Lazy(`(?:=>|[=(,:]|\?\s|\breturn\b)\s*(\[\])`), '"'}, // x = []
	{pattern.Lazy(`\b(_)\b`), 'x'},                                // out var _
	{pattern.Lazy(`(\$)"(?:[^"\\\n]|\\.)*"[\s;,)\]}+:.?]`), ' '},  // $"{{ {a[0]}"
	generic, generic, generic,
}

// phpStumbles are [$a, $b, $c] = f(), in which the grammar finds an error. They become one variable, $$axxxxxxx.
var phpStumbles = []stumble{
	{pattern.Lazy(`(\[)\$\w+(?:,\s*\$\w+)+\]\s*=[^=>]`), '$'},
	{pattern.Lazy(`\$\$\w+((?:,\s*\$\w+)+\])\s*=[^=>]`), 'x'},
}

func smoothCSharp(source []byte) { maskStumbles(source, csharpStumbles) }

func smoothPHP(source []byte) { maskStumbles(source, phpStumbles) }
