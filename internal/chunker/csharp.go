package chunker

import "regexp"

// generic is what stands in a generic type's brackets, before another one's end, or a body:
// of A<B<C>>() and class A : B<C> {, from the inside.
var generic = stumble{regexp.MustCompile(`\w(<[^<>()=;{}&|"]*>)\s*(?:[>{]|where\b)`), 'x'}

// stumbles are forms of C# over which the grammar falls, and what is parsed in place of
// their first group. With one of them in a file a parse takes seconds and finds less:
// one of twelve files of two large projects had one.
var stumbles = []stumble{
	{regexp.MustCompile(`(?m)^[ \t]*(#.*)$`), ' '},                      // #if around less than a whole member
	{regexp.MustCompile(`(?:=>|[=(,:]|\?\s|\breturn\b)\s*(\[\])`), '"'}, // x = []
	{regexp.MustCompile(`\b(_)\b`), 'x'},                                // out var _
	{regexp.MustCompile(`(\$)"[^"\n]*"[\s;,)\]}+:.?]`), ' '},            // $"{{ {a[0]}"
	generic, generic, generic,
}

type stumble struct {
	form *regexp.Regexp
	with byte
}

// smooth makes of a text of C# what is parsed in its place, byte for byte as long.
func smooth(source []byte) {
	for _, s := range stumbles {
		for _, at := range s.form.FindAllSubmatchIndex(source, -1) {
			for i := at[2]; i < at[3]; i++ {
				source[i] = s.with
			}
		}
	}
}
