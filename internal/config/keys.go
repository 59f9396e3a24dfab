package config

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/problem"
)

// key is one key of a mapping: what reads its value, and what that comes to for a person,
// nil where nothing is set.
type key struct {
	name  string
	read  func(*reader, ast.Node)
	show  func() any
	under keys // those below it, which have lines of their own in place of it
	input Input
	set   func(string) error // reads the input's text; nil: as a value of the file
}

// Input is an input of the action, and a flag, that counts before a key of the files.
type Input struct {
	Name  string             // empty: the key has none
	Help  string             // of the flag
	Flag  string             // the commands that have it, with commas
	Key   string             // as Values names it
	Check func(string) error // whether a text of it can be read
}

// by makes an input that counts before the key, and is a flag of some commands.
func (k key) by(name, flag string) key {
	k.input.Name, k.input.Flag = name, flag
	return k
}

// says has words for the key and its input; new lines of schema and sample are written of them.
func (k key) says(help string) key { k.input.Help = help; return k }

// given reads the text of the key's input, which may be a number or a list in YAML too.
func (k key) given(text string) (err error) {
	if k.set != nil {
		return k.set(text)
	}
	forms := []ast.Node{ast.String(token.New(text, text, &token.Position{}))}
	if file, err := parser.ParseBytes([]byte(text), 0); err == nil && len(file.Docs) == 1 {
		switch body := file.Docs[0].Body.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.SequenceNode:
			forms = append(forms, body)
		}
	}
	for _, n := range forms {
		r := &reader{lines: Lines{}}
		if k.read(r, n); len(r.problems) == 0 {
			return nil
		}
		err = errors.New(r.problems[0].What)
	}
	return err
}

// keys are those of one mapping, in the order in which they are documented.
type keys []key

// names are sorted.
func (all keys) names() (names []string) {
	for _, k := range all {
		names = append(names, k.name)
	}
	return slices.Sorted(slices.Values(names))
}

// values lists what the keys come to, behind the names of those above them.
func (all keys) values(outer string) (values []Value) {
	for _, k := range all {
		if k.under != nil {
			values = append(values, k.under.values(outer+k.name+".")...)
			continue
		}
		values = append(values, Value{Key: outer + k.name, Value: k.show()})
	}
	return values
}

// inputs lists the keys that have one, behind the names of those above them.
func (all keys) inputs(outer string) (some keys) {
	for _, k := range all {
		if some = append(some, k.under.inputs(outer+k.name+".")...); k.input.Name != "" {
			k.input.Key, k.input.Check = outer+k.name, k.given
			some = append(some, k)
		}
	}
	return some
}

// object is a mapping of what they come to.
func (all keys) object() map[string]any {
	object := map[string]any{}
	for _, k := range all {
		object[k.name] = k.show()
	}
	return object
}

// mapping reads the values of known keys and returns the keys that were there.
func (r *reader) mapping(n ast.Node, known keys) (seen []string) {
	for _, v := range r.entries(n) {
		name := keyName(v.Key)
		at := slices.IndexFunc(known, func(k key) bool { return k.name == name })
		if at < 0 {
			r.fail(v.Key, "unknown key %.60q", name).Hint = problem.Nearest(name, known.names())
			continue
		}
		seen = append(seen, name)
		if r.overrules(v.Key, r.under+name) {
			continue
		}
		r.inside(v.Key, func() { known[at].read(r, v.Value) })
	}
	return seen
}

func group(name string, under keys) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.mapping(n, under) }, under: under}
}

// objects is a list of mappings. Each that is without a mistake is checked.
func objects[T any](name string, into *[]T, of func(*T) keys, check func(*reader, ast.Node, T)) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		*into = nil
		for _, item := range r.list(n) {
			var one T
			before := len(r.problems)
			if r.mapping(item, of(&one)); before == len(r.problems) {
				check(r, item, one)
			}
			*into = append(*into, one)
		}
	}, show: func() any {
		all := []any{}
		for _, one := range *into {
			all = append(all, of(&one).object())
		}
		return all
	}}
}

// Value is what one key of the settings comes to. Its name has dots between the
// keys on the way, such as admission.drafts; a price's ends in its model's name.
type Value struct {
	Key    string
	Value  any    // text, a number, a boolean, a list or map of them; nil where nothing is set
	Source string // where it came from; empty where Values made it
}

// Duration writes a time without the parts that are 0, such as 10m.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

const hiddenText = "(hidden)"

// hidden is a mapping with all that may be a credential left out: numbers and booleans stay.
func hidden[T any](fields map[string]T) any {
	if len(fields) == 0 {
		return nil
	}
	all := map[string]any{}
	for name, v := range fields {
		switch any(v).(type) {
		case float64, bool:
			all[name] = v
		default:
			all[name] = hiddenText
		}
	}
	return all
}

// Dollars is an amount as the settings file has it.
func Dollars(m cost.MicroUSD) float64 { return float64(m) / 1e6 }

// set is a value, or nil where it is the one that stands for not set.
func set[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func at[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}
