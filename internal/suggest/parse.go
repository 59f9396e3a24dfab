package suggest

import (
	"bytes"
	"encoding/json"
	goparser "go/parser"
	"go/token"

	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/pelletier/go-toml/v2"
)

// maxDepth is the maximum nesting depth of brackets, and of blocks of YAML and TOML.
const maxDepth = 100

// language describes how the files of one language are parsed.
type language struct {
	parses func([]byte) bool
	limit  int // bytes of a file that is parsed, so that all suggestions of one file take two seconds at most
}

// languages are by name; files of other languages are not parsed. The parsers of YAML and TOML take quadratic time.
var languages = map[string]language{
	"go":   {goParses, 128 << 10},
	"json": {json.Valid, 128 << 10},
	"yaml": {boundedParser(yamlParses), 16 << 10},
	"toml": {boundedParser(tomlParses), 16 << 10},
}

func goParses(text []byte) bool {
	_, err := goparser.ParseFile(token.NewFileSet(), "", text, goparser.SkipObjectResolution)
	return err == nil
}

func yamlParses(text []byte) error {
	_, err := yamlparser.ParseBytes(text, 0)
	return err
}

func tomlParses(text []byte) error { return toml.Unmarshal(text, &map[string]any{}) }

// boundedParser returns a parser that rejects text that nests too deep. If a defect makes the parser panic on text
// from a pull request, the text counts as one that does not parse.
func boundedParser(parse func([]byte) error) func([]byte) bool {
	return func(text []byte) (ok bool) {
		defer func() { ok = recover() == nil && ok }()
		return maxNesting(text) <= maxDepth && parse(text) == nil
	}
}

// maxNesting returns an upper bound of how deep brackets and blocks nest, including brackets in strings: each column of
// indentation may be a block, and so may each item of "- - - a".
func maxNesting(text []byte) (most int) {
	brackets := 0
	for line := range bytes.Lines(text) {
		rest := bytes.TrimLeft(line, " ")
		depth := len(line) - len(rest)
		for len(rest) > 1 && (rest[0] == '-' || rest[0] == '?') && (rest[1] == ' ' || rest[1] == '\t') {
			rest = bytes.TrimLeft(rest[1:], " \t")
			depth++
		}
		for _, c := range rest {
			switch c {
			case '[', '{':
				brackets++
			case ']', '}':
				brackets = max(brackets-1, 0)
			}
			most = max(most, depth+brackets)
		}
	}
	return most
}
