package chunker

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
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

	pools func() [3]*ts.ParserPool // parsers with the usual time, and with more and more patience
}

// role says what becomes of a node. The kinds of chunks are roles too.
type role string

const (
	lead role = "lead" // goes with the definition below it, like a comment
	look role = "look" // a wrapper: what it wraps is the definition
	open role = "open" // holds definitions, and is none itself
	name role = "name" // its name is defined by whatever chunk it stands in
)

// rule is a line of a rule file.
type rule struct {
	role     role
	nameAt   string   // field, or path of fields, that holds the name; with * the field's innermost
	scopeAt  string   // field whose text is the scope of what is in it, of open
	in       []string // path of fields to the node that holds the members
	field    string   // of a wrapper: the only field that is looked at
	has      string   // a field that has to be there
	types    []string // of which types; any where empty
	min      int      // lines that a node must have
	methods  bool     // functions in it are methods
	overload bool     // goes with a definition of the same name alone
}

func (r rule) kind() chunk.Kind { return chunk.Kind(r.role) }

// holds reports whether what a rule makes has members of its own.
func (r rule) holds() bool { return r.in != nil }

func parseRules(text string) (map[string][]rule, error) {
	all := map[string][]rule{}
	for line := range strings.Lines(text) {
		field := strings.Fields(line)
		if len(field) < 2 {
			return nil, fmt.Errorf("%q is no rule", line)
		}
		r := rule{role: role(field[1]), nameAt: "name"}
		for _, option := range field[2:] {
			if err := r.set(option); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
		all[field[0]] = append(all[field[0]], r)
	}
	all["ERROR"] = []rule{{role: open}}
	return all, nil
}

func (r *rule) set(option string) (err error) {
	key, value, _ := strings.Cut(option, "=")
	switch key {
	case "name":
		r.nameAt = value
	case "scope":
		r.scopeAt = value
	case "in":
		r.in = strings.Split(value, ".")
	case "field":
		r.field = value
	case "if":
		field, types, _ := strings.Cut(value, ":")
		r.has = field
		if types != "" {
			r.types = strings.Split(types, "|")
		}
	case "min":
		r.min, err = strconv.Atoi(value)
	case "methods":
		r.methods = true
	case "overload":
		r.overload = true
	default:
		err = fmt.Errorf("%q is no option", key)
	}
	return err
}

// languages are those with rules, by lang's name; Go has a parser of its own, and tsx is typescript with tags in it.
var languages = sync.OnceValue(func() map[string]*language {
	all := map[string]*language{}
	for name, from := range map[string]string{"javascript": "javascript", "typescript": "javascript",
		"tsx": "javascript", "python": "python", "java": "java", "rust": "rust", "c": "c", "cpp": "cpp",
		"csharp": "csharp", "ruby": "ruby", "php": "php", "shell": "shell"} {
		text, err := ruleFiles.ReadFile("rules/" + from + ".txt")
		if err != nil {
			panic(err) // embedded: TestEveryLanguageHasRules
		}
		rules, err := parseRules(string(text))
		if err != nil {
			panic(err)
		}
		grammar := map[string]string{"csharp": "c_sharp", "shell": "bash"}[name]
		if grammar == "" {
			grammar = name
		}
		if entry := byName(grammar); entry != nil {
			all[name] = &language{entry, rules, sync.OnceValue(func() (all [3]*ts.ParserPool) {
				for i, limit := range []time.Duration{ParseTime, patience / 5 * ParseTime, patience * ParseTime} {
					micros := uint64(limit.Microseconds())
					all[i] = ts.NewParserPool(entry.Language(), ts.WithParserPoolTimeoutMicros(micros))
				}
				return all
			})}
		}
	}
	return all
})

// byName finds a grammar among those that were built in.
func byName(name string) *grammars.LangEntry {
	all := grammars.AllLanguages()
	at := slices.IndexFunc(all, func(e grammars.LangEntry) bool { return e.Name == name })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// cppHeader tells C++ from C in a header.
var cppHeader = regexp.MustCompile(`(?m)^[ \t]*(?:class|namespace|template|using|public:)\b`)

// grammarOf is the language that a file is parsed as; nil where there is none.
func grammarOf(file, text string) *language {
	named := lang.Of(file).Name
	switch extension := strings.ToLower(path.Ext(file)); {
	case extension == ".tsx":
		named = "tsx"
	case extension == ".h" && cppHeader.MatchString(text):
		named = "cpp"
	}
	return languages()[named]
}

// revision goes up with every change of what a text is cut into that the rules do not
// show.
const revision = 1

// Version tells apart what cuts differently: an index of another one is built anew.
var Version = sync.OnceValue(func() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d\n", revision, MaxBytes, maxLines, window)
	files, err := ruleFiles.ReadDir("rules")
	if err != nil {
		panic(err) // embedded
	}
	for _, f := range files {
		text, err := ruleFiles.ReadFile("rules/" + f.Name())
		if err != nil {
			panic(err)
		}
		h.Write(text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16]
})
