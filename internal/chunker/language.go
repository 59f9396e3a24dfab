package chunker

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/pattern"
)

// ruleFiles holds the rules for what a definition is in each language, by node of the grammar. The first rule of a
// node that fits it applies, and in addition all with the role name.
//
//go:embed rules/*.yml
var ruleFiles embed.FS

// language is a grammar and the rules for its definitions.
type language struct {
	entry *grammars.LangEntry
	rules map[string][]rule // by node type

	parsers sync.Pool
	smooth  func(source []byte) // replaces forms that the grammar takes for errors; may be nil
	outline func(source []byte) // smooth, and hides what definitions contain; may be nil
}

// Roles of nodes that are not chunks themselves.
const (
	lead chunk.Kind = "lead" // belongs to the definition below it, like a comment
	look chunk.Kind = "look" // a wrapper around a definition
	open chunk.Kind = "open" // contains definitions, but is not one
	name chunk.Kind = "name" // its name is defined by the chunk that it is in
)

// rule says what a node is.
type rule struct {
	Role chunk.Kind
	// dotted path of the field with the name, empty for the field name; with *, follow it to the innermost node
	NameAt   string   `yaml:"name"`
	ScopeAt  string   `yaml:"scope"` // for open: field whose text is the scope of the contents
	In       string   // dotted path to the node that holds the members
	Field    string   // of a wrapper: the only field that is searched
	Has      string   `yaml:"if"` // a required field
	Types    []string `yaml:"is"` // types of that field; any if empty
	Min      int      // minimum number of lines
	Methods  bool     // functions in it are methods
	Overload bool     // belongs only to a definition of the same name
}

// rulesOf reads a rule file. It panics at a mistake in it, since the files are part of the program.
func rulesOf(file string) map[string][]rule {
	text, _ := ruleFiles.ReadFile("rules/" + file + ".yml") // cannot fail: each language has one
	var all map[string][]rule
	if err := yaml.UnmarshalWithOptions(text, &all, yaml.Strict()); err != nil {
		panic(err)
	}
	all["ERROR"] = []rule{{Role: open}}
	return all
}

var (
	smoothers = map[string]func([]byte){"csharp": csharpStumbles.mask, "php": phpStumbles.mask}
	outliners = map[string]func([]byte){"c": smoothC, "cpp": smoothCPP, "csharp": csharpStumbles.mask}
)

// languages returns the languages with rules, by lang's name. Go has its own parser; tsx is TypeScript with tags.
var languages = sync.OnceValue(func() map[string]*language {
	// With its own limit on the heap, the parser stops all goroutines every few nodes to measure it.
	_ = os.Setenv("GOT_PARSE_MEMORY_BUDGET_MB", "0")
	all := map[string]*language{}
	for _, name := range strings.Fields("javascript typescript tsx python java rust c cpp csharp ruby php shell") {
		if entry := grammars.DetectLanguageByName(name); entry != nil {
			rules := rulesOf(cmp.Or(map[string]string{"typescript": "javascript", "tsx": "javascript"}[name], name))
			l := &language{entry: entry, rules: rules, smooth: smoothers[name], outline: outliners[name]}
			l.parsers.New = func() any { return ts.NewParser(entry.Language()) }
			all[name] = l
		}
	}
	return all
})

// cppHeader matches C++ (rather than C) in a header.
var cppHeader = pattern.Lazy(`(?m)^[ \t]*(?:class|namespace|template|using|public:)\b`)

// grammarOf returns the language that a file is parsed as; nil if there is none.
func grammarOf(file, text string) *language {
	named := lang.Of(file).Name
	switch extension := strings.ToLower(path.Ext(file)); {
	case extension == ".tsx":
		named = "tsx"
	case extension == ".h" && cppHeader().MatchString(text):
		named = "cpp"
	}
	return languages()[named]
}

// revision must be incremented when texts are cut differently without a change in the rules
// or the bounds that Version hashes.
const revision = 7

// Version identifies the way texts are cut. An index with another version is rebuilt.
var Version = sync.OnceValue(func() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d\n", revision, MaxBytes, maxLines, window)
	files, _ := fs.Glob(ruleFiles, "rules/*") // cannot fail: the files are embedded
	for _, f := range files {
		text, _ := ruleFiles.ReadFile(f)
		h.Write(text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16]
})

// stumble is a form of a language that its grammar does not handle, and the byte that replaces
// each byte of the form's first group.
type stumble struct {
	form func() *regexp.Regexp
	with byte
}

type stumbles []stumble

// mask replaces stumbles in source in place, keeping its length.
func (all stumbles) mask(source []byte) {
	for _, s := range all {
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
var csharpStumbles = stumbles{
	{pattern.Lazy(`(?m)^[ \t]*(#.*)$`), ' '},                      // #if around part of a member
	{pattern.Lazy(`(?:=>|[=(,:]|\?\s|\breturn\b)\s*(\[\])`), '"'}, // x = []
	{pattern.Lazy(`\b(_)\b`), 'x'},                                // out var _
	{pattern.Lazy(`(\$)"(?:[^"\\\n]|\\.)*"[\s;,)\]}+:.?]`), ' '},  // $"{{ {a[0]}"
	generic, generic, generic,
}

// phpStumbles are [$a, $b, $c] = f(), in which the grammar finds an error. They become one variable, $$axxxxxxx.
var phpStumbles = stumbles{
	{pattern.Lazy(`(\[)\$\w+(?:,\s*\$\w+)+\]\s*=[^=>]`), '$'},
	{pattern.Lazy(`\$\$\w+((?:,\s*\$\w+)+\])\s*=[^=>]`), 'x'},
}
