package chunker

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/pattern"
)

// ruleFiles hold what is a definition in a language: a line is a node of its
// grammar, a role, and options. Of several lines for a node, the first that fits
// counts; those of the role name count beside.
//
//go:embed rules/*.txt
var ruleFiles embed.FS

// language is a grammar and what is a definition in it.
type language struct {
	entry *grammars.LangEntry
	rules map[string][]rule // by node

	parsers sync.Pool
	smooth  bool // over a form of C# the grammar falls
}

// What becomes of a node that is no kind of chunk.
const (
	lead chunk.Kind = "lead" // goes with the definition below it, like a comment
	look chunk.Kind = "look" // a wrapper: what it wraps is the definition
	open chunk.Kind = "open" // holds definitions, and is none itself
	name chunk.Kind = "name" // its name is defined by whatever chunk it stands in
)

// rule is a line of a rule file.
type rule struct {
	role     chunk.Kind
	nameAt   string   // field, or path of fields, that holds the name; with * the field's innermost
	scopeAt  string   // field whose text is the scope of what is in it, of open
	in       string   // path of fields to the node that holds the members
	field    string   // of a wrapper: the only field that is looked at
	has      string   // a field that has to be there
	types    []string // of which types; any where empty
	min      int      // lines that a node must have
	methods  bool     // functions in it are methods
	overload bool     // goes with a definition of the same name alone
}

// rulesOf reads a rule file. They are built in, so a wrong one is a mistake in the program.
func rulesOf(file string) map[string][]rule {
	text, err := ruleFiles.ReadFile("rules/" + file + ".txt")
	if err != nil {
		panic(err)
	}
	all := map[string][]rule{"ERROR": {{role: open}}}
	for line := range strings.Lines(string(text)) {
		field := strings.Fields(line)
		r := rule{role: chunk.Kind(field[1]), nameAt: "name"}
		for _, option := range field[2:] {
			r.set(option)
		}
		all[field[0]] = append(all[field[0]], r)
	}
	return all
}

func (r *rule) set(option string) {
	key, value, _ := strings.Cut(option, "=")
	switch key {
	case "name":
		r.nameAt = value
	case "scope":
		r.scopeAt = value
	case "in":
		r.in = value
	case "field":
		r.field = value
	case "if":
		field, types, _ := strings.Cut(value, ":")
		r.has, r.types = field, strings.FieldsFunc(types, func(c rune) bool { return c == '|' })
	case "min":
		r.min, _ = strconv.Atoi(value)
	case "methods":
		r.methods = true
	case "overload":
		r.overload = true
	default:
		panic(option + " is no option of a rule")
	}
}

// languages are those with rules, by lang's name; Go has a parser of its own, and tsx is typescript with tags in it.
var languages = sync.OnceValue(func() map[string]*language {
	all := map[string]*language{}
	for _, name := range []string{"javascript", "typescript", "tsx", "python", "java", "rust", "c", "cpp", "csharp",
		"ruby", "php", "shell"} {
		rules := name
		if name == "typescript" || name == "tsx" {
			rules = "javascript"
		}
		if entry := grammars.DetectLanguageByName(name); entry != nil {
			l := &language{entry: entry, rules: rulesOf(rules), smooth: name == "csharp"}
			l.parsers.New = func() any { return ts.NewParser(entry.Language()) }
			all[name] = l
		}
	}
	return all
})

// cppHeader tells C++ from C in a header.
var cppHeader = pattern.Lazy(`(?m)^[ \t]*(?:class|namespace|template|using|public:)\b`)

// grammarOf is the language that a file is parsed as; nil where there is none.
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

// revision goes up with every change of what a text is cut into that the rules do not
// show.
const revision = 2

// Version tells apart what cuts differently: an index of another one is built anew.
var Version = sync.OnceValue(func() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d\n", revision, MaxBytes, maxLines, window)
	files, _ := fs.Glob(ruleFiles, "rules/*") // built in, as what rulesOf reads
	for _, f := range files {
		text, _ := ruleFiles.ReadFile(f)
		h.Write(text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16]
})
