package suggest

import (
	"encoding/json"
	"go/ast"
	"go/format"
	goparser "go/parser"
	"go/token"
	"path"
	"strings"

	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/pelletier/go-toml/v2"
)

// The most bytes of a file that is parsed. The parsers of YAML and TOML, and
// gofmt, take quadratic time where they are made to.
const (
	maxText   = 512 << 10
	maxSlow   = 64 << 10
	maxNested = 100 // brackets within brackets in YAML
	maxChain  = 200 // operators in one Go expression: gofmt takes quadratic time of them
)

// language is how the files of one language are parsed.
type language struct {
	parses  func([]byte) bool
	limit   int // bytes
	formats bool
}

// parserOf is the zero value for a file of no language that is known.
func parserOf(name string) language {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return language{goParses, maxText, true}
	case ".json":
		return language{json.Valid, maxText, false}
	case ".yml", ".yaml":
		return language{yamlParses, maxSlow, false}
	case ".toml":
		return language{tomlParses, maxSlow, false}
	}
	return language{}
}

func goParses(text []byte) bool {
	_, err := goparser.ParseFile(token.NewFileSet(), "", text, goparser.SkipObjectResolution)
	return err == nil
}

// tangled reports whether Go code has an expression that gofmt would take long for.
func tangled(text []byte) bool {
	file, err := goparser.ParseFile(token.NewFileSet(), "", text, goparser.SkipObjectResolution)
	if err != nil {
		return true
	}
	var within []bool // nodes above, and which of them are operators
	operators, most := 0, 0
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			if within[len(within)-1] {
				operators--
			}
			within = within[:len(within)-1]
			return true
		}
		_, is := n.(*ast.BinaryExpr)
		if within = append(within, is); is {
			operators++
		}
		most = max(most, operators)
		return true
	})
	return most > maxChain
}

// formatted is Go code as gofmt writes it; empty where it does not parse.
func formatted(text []byte) string {
	if len(text) > maxSlow || tangled(text) {
		return ""
	}
	out, err := format.Source(text)
	if err != nil {
		return ""
	}
	return string(out)
}

func yamlParses(text []byte) (ok bool) {
	defer unlessPanics(&ok)
	if nested(text) > maxNested {
		return false
	}
	_, err := yamlparser.ParseBytes(text, 0)
	return err == nil
}

func tomlParses(text []byte) (ok bool) {
	defer unlessPanics(&ok)
	return toml.Unmarshal(text, &map[string]any{}) == nil
}

// unlessPanics makes a defect of a parser, met on text from a pull request, a
// text that does not parse.
func unlessPanics(ok *bool) {
	if recover() != nil {
		*ok = false
	}
}

// nested is how deep brackets stand in one another, those in strings included.
func nested(text []byte) (most int) {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most
}
