package chunker

import "github.com/org/pr-review-action/internal/pattern"

// lists are PHP's [$a, $b, $c] = f(), in which the grammar finds an error. They become one variable, $$axxxxxxx.
var lists = []stumble{
	{pattern.Lazy(`(\[)\$\w+(?:,\s*\$\w+)+\]\s*=[^=>]`), '$'},
	{pattern.Lazy(`\$\$\w+((?:,\s*\$\w+)+\])\s*=[^=>]`), 'x'},
}

func smoothPHP(source []byte) { smooth(source, lists) }
