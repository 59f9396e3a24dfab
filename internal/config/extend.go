package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/org/pr-review-action/internal/problem"
)

// byteOrder is the mark that some editors put before UTF-8.
const byteOrder = "\ufeff"

// Entry is one more item for a list of a settings file: a glob for ignore, a guideline, or
// a rule for report.without. Exactly one of the three is set.
type Entry struct {
	Glob      string
	Guideline Guideline
	Rule      string
	Why       []string // lines above it as comments, without the #; one line each, inert
}

// Key is the list that the entry is for, by its name in Values.
func (e Entry) Key() string {
	switch {
	case e.Glob != "":
		return "ignore"
	case e.Rule != "":
		return "report.without"
	}
	return "guidelines"
}

// onto adds the entry to settings.
func (e Entry) onto(c *Config) {
	switch {
	case e.Glob != "":
		c.Ignore = append(slices.Clip(c.Ignore), e.Glob)
	case e.Rule != "":
		c.Report.Without = append(slices.Clip(c.Report.Without), e.Rule)
	default:
		c.Guidelines = append(slices.Clip(c.Guidelines), e.Guideline)
	}
}

// lines are the entry as an item of a block list, and flow is it within brackets.
func (e Entry) lines() []string {
	if g := e.Guideline; e.Key() == "guidelines" {
		return []string{"- paths: " + quoted(g.Paths), "  text: " + quoted(g.Text)}
	}
	return []string{"- " + e.flow()}
}

func (e Entry) flow() string {
	if g := e.Guideline; e.Key() == "guidelines" {
		return "{ paths: " + quoted(g.Paths) + ", text: " + quoted(g.Text) + " }"
	}
	return quoted(e.Glob + e.Rule)
}

// quoted is a value as JSON, which YAML holds.
func quoted(v any) string {
	text, err := json.Marshal(v, jsontext.SpaceAfterComma(true))
	if err != nil {
		panic(fmt.Sprintf("config: texts do not encode: %v", err))
	}
	return string(text)
}

// Extend returns a settings file with entries more, each at the end of its list with its
// reasons above it, and all else as it was; name is what errors call the file. A file that
// cannot be extended so that exactly the entries are new is an error.
func Extend(name string, text []byte, entries []Entry) ([]byte, error) {
	out, mark := strings.CutPrefix(string(text), byteOrder)
	windows := strings.Contains(out, "\r\n") && strings.Count(out, "\r\n") == strings.Count(out, "\n")
	if windows { // the parser counts such lines otherwise
		out = strings.ReplaceAll(out, "\r\n", "\n")
	}
	want, err := Parse(name, []byte(out))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		e.onto(&want)
		out = extended(out, e)
		got, err := Parse(name, []byte(out))
		if err != nil || got.Fingerprint() != want.Fingerprint() {
			return nil, problem.Usage(name+" cannot be extended as it is written",
				"write the list "+e.Key()+" with one item a line, then propose again")
		}
	}
	if windows {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	if mark {
		out = byteOrder + out
	}
	return []byte(out), nil
}

// extended is a text with one entry more, as far as it is written as most are: Extend
// looks at what came of it.
func extended(text string, e Entry) string {
	f := file(strings.SplitAfter(text, "\n"))
	parsed, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return text
	}
	var at ast.Node
	if len(parsed.Docs) > 0 {
		at = parsed.Docs[0].Body
	}
	keys, outer := strings.Split(e.Key(), "."), (*ast.MappingValueNode)(nil)
	for i, key := range keys {
		found := valueOf(at, key)
		if found == nil {
			return f.withKeys(outer, at, keys[i:], e)
		}
		outer, at = found, found.Value
	}
	key := outer.Key.GetToken().Position
	switch list := at.(type) {
	case *ast.SequenceNode:
		if list.IsFlowStyle {
			f = f.inBrackets(list.End.Position.Line, list.End.Position.Column, e.flow())
			return f.above(key.Line, e.Why)
		}
		return f.insert(f.end(key.Line, key.Column), block(list.Start.Position.Column-1, e))
	case *ast.NullNode:
		return f.insert(key.Line, block(key.Column+1, e))
	}
	return text
}

// file is a text by its lines, with their ends.
type file []string

// insert is the text with more lines behind the first so many.
func (f file) insert(behind int, more string) string {
	behind = min(behind, len(f))
	before, after := strings.Join(f[:behind], ""), strings.Join(f[behind:], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		more = "\n" + more
	}
	return before + more + after
}

// above puts reasons above a line, as far to the right.
func (f file) above(line int, why []string) string {
	if line > len(f) {
		return strings.Join(f, "")
	}
	whole := f[line-1]
	return f.insert(line-1, comments(len(whole)-len(strings.TrimLeft(whole, " ")), why))
}

// inBrackets puts an item before the bracket at a line and a column, both from 1.
func (f file) inBrackets(line, column int, item string) file {
	if line > len(f) || column > len([]rune(f[line-1])) {
		return f
	}
	whole := []rune(f[line-1])
	before, after := string(whole[:column-1]), string(whole[column-1:])
	inside := strings.TrimRight(before, " ")
	switch {
	case strings.HasSuffix(inside, "[") || strings.HasSuffix(inside, "{"), strings.HasSuffix(inside, ","):
		before = inside + item
	default:
		before = inside + ", " + item + before[len(inside):]
	}
	f = slices.Clone(f)
	f[line-1] = before + after
	return f
}

// end is the number of the last line that belongs to the key at a line and a column.
func (f file) end(line, column int) int {
	last := line
	for i := line; i < len(f); i++ {
		text := strings.TrimRight(f[i], "\r\n")
		bare := strings.TrimLeft(text, " ")
		deep := len(text)-len(bare) >= column || strings.HasPrefix(bare, "- ") && len(text)-len(bare) == column-1
		switch {
		case bare == "" || !deep && strings.HasPrefix(bare, "#"):
		case !deep:
			return last
		default:
			last = i + 1
		}
	}
	return last
}

// withKeys adds an entry with the keys that are missing on the way to it: to the mapping
// that is the value of outer, to the whole file where that is nil.
func (f file) withKeys(outer *ast.MappingValueNode, in ast.Node, keys []string, e Entry) string {
	indent, at := 0, len(f)
	if outer != nil {
		position := outer.Key.GetToken().Position
		indent, at = position.Column+1, f.end(position.Line, position.Column)
		switch m := in.(type) {
		case *ast.MappingNode:
			if m.IsFlowStyle {
				f = f.inBrackets(m.End.Position.Line, m.End.Position.Column, keys[0]+": ["+e.flow()+"]")
				return f.above(position.Line, e.Why)
			}
			indent = m.Values[0].Key.GetToken().Position.Column - 1
		case *ast.MappingValueNode:
			indent = m.Key.GetToken().Position.Column - 1
		}
	}
	more := ""
	for _, key := range keys {
		more += strings.Repeat(" ", indent) + key + ":\n"
		indent += 2
	}
	return f.insert(at, more+block(indent, e))
}

func block(indent int, e Entry) string {
	margin := strings.Repeat(" ", indent)
	return comments(indent, e.Why) + margin + strings.Join(e.lines(), "\n"+margin) + "\n"
}

func comments(indent int, why []string) (text string) {
	for _, line := range why {
		text += strings.TrimRight(strings.Repeat(" ", indent)+"# "+line, " ") + "\n"
	}
	return text
}

// valueOf finds a key of a mapping; nil where it is not there.
func valueOf(in ast.Node, key string) *ast.MappingValueNode {
	var all []*ast.MappingValueNode
	switch m := in.(type) {
	case *ast.MappingNode:
		all = m.Values
	case *ast.MappingValueNode:
		all = append(all, m)
	}
	for _, v := range all {
		if keyName(v.Key) == key {
			return v
		}
	}
	return nil
}
