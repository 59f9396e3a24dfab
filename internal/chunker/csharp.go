package chunker

import (
	"regexp"

	"github.com/org/pr-review-action/internal/pattern"
)

// generic is what stands in a generic type's brackets, before another one's end, or a body:
// of A<B<C>>() and class A : B<C> {, from the inside.
var generic = stumble{pattern.Lazy(`\w(<[^<>()=;{}&|"]*>)\s*(?:[>{]|where\b)`), 'x'}

// stumbles are forms of C# over which the grammar falls, and what is parsed in place of
// their first group. With one of them in a file a parse takes seconds and finds less:
// one of twelve files of two large projects had one.
var stumbles = []stumble{
	{pattern.Lazy(`(?m)^[ \t]*(#.*)$`), ' '},                      // #if around less than a whole member
	{pattern.Lazy(`(?:=>|[=(,:]|\?\s|\breturn\b)\s*(\[\])`), '"'}, // x = []
	{pattern.Lazy(`\b(_)\b`), 'x'},                                // out var _
	{pattern.Lazy(`(\$)"[^"\n]*"[\s;,)\]}+:.?]`), ' '},            // $"{{ {a[0]}"
	generic, generic, generic,
}

type stumble struct {
	form func() *regexp.Regexp
	with byte
}

// smooth makes of a text of C# what is parsed in its place, byte for byte as long.
func smooth(source []byte) {
	for _, s := range stumbles {
		for _, at := range s.form().FindAllSubmatchIndex(source, -1) {
			for i := at[2]; i < at[3]; i++ {
				source[i] = s.with
			}
		}
	}
}
