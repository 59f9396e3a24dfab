package secret

import (
	"fmt"
	"slices"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
)

// catalogue is every form, with the keywords that lead to them.
type catalogue struct {
	forms  []form
	kinds  map[string]bool
	trie   *ahocorasick.Trie
	owners [][]owner // by the trie's pattern number
}

// owner is a form that a keyword leads to.
type owner struct {
	form     int
	backward bool
}

// forms is built when the first text is looked at: a program that looks at none
// pays nothing.
var forms = sync.OnceValue(func() *catalogue {
	kept, err := gitleaks()
	if err != nil {
		panic(fmt.Sprintf("the embedded list of credentials: %v", err)) // a broken build
	}
	return newCatalogue(slices.Concat(kept, own()))
})

func newCatalogue(all []form) *catalogue {
	c := &catalogue{forms: all, kinds: map[string]bool{keyKind: true, knownKind: true}}
	numbers := map[string]int{}
	builder := ahocorasick.NewTrieBuilder()
	lead := func(keyword string, o owner) {
		n, seen := numbers[keyword]
		if !seen {
			n = len(c.owners)
			numbers[keyword] = n
			c.owners = append(c.owners, nil)
			builder.AddString(keyword)
		}
		c.owners[n] = append(c.owners[n], o)
	}
	for i, f := range all {
		c.kinds[f.kind] = true
		for _, k := range f.keywords {
			lead(k, owner{form: i})
			if f.mirrored {
				lead(reversed(k), owner{form: i, backward: true})
			}
		}
	}
	c.trie = builder.Build()
	return c
}
