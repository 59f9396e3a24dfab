package config

import (
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/problem"
)

// key describes one key of a mapping: how its value is read, and how it is shown to a
// person, nil if nothing is set.
type key struct {
	name     string
	read     func(*reader, ast.Node)
	show     func() any
	children keys // keys below it, which are listed instead of it
}

// then returns the key with something to do once its value is read.
func (k key) then(do func()) key {
	read := k.read
	k.read = func(r *reader, n ast.Node) { read(r, n); do() }
	return k
}

// keys holds the keys of one mapping, in documentation order.
type keys []key

// names returns the keys' names, sorted.
func (all keys) names() (names []string) {
	for _, k := range all {
		names = append(names, k.name)
	}
	return slices.Sorted(slices.Values(names))
}

// values lists the keys' values; outer is prefixed to their names.
func (all keys) values(outer string) (values []Value) {
	for _, k := range all {
		if k.children != nil {
			values = append(values, k.children.values(outer+k.name+".")...)
			continue
		}
		values = append(values, Value{Key: outer + k.name, Value: k.show()})
	}
	return values
}

// toMap returns the values of the keys that are set by name, or nil if none is.
func (all keys) toMap() any {
	object := map[string]any{}
	for _, k := range all {
		v := k.show()
		if texts, list := v.([]string); v != nil && !(list && len(texts) == 0) {
			object[k.name] = v
		}
	}
	if len(object) == 0 {
		return nil
	}
	return object
}

// mapping reads the values of known keys and returns the names of the keys that occur.
func (r *reader) mapping(n ast.Node, known keys) (seen []string) {
	for _, v := range r.entries(n) {
		name := keyName(v.Key)
		at := slices.IndexFunc(known, func(k key) bool { return k.name == name })
		if at < 0 {
			e := r.fail(v.Key, "unknown key %.60q", name)
			if e.Hint = problem.Nearest(name, known.names()); e.Hint == "" {
				e.What += "; SETTINGS.md lists the known ones"
			}
			continue
		}
		seen = append(seen, name)
		if r.isLocked(v.Key, r.prefix+name) {
			continue
		}
		r.readKey(v.Key, func() { known[at].read(r, v.Value) })
	}
	return seen
}

func group(name string, under keys) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.mapping(n, under) }, children: under}
}

// objects is a list of mappings. check runs on each one that has no mistake so far.
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
			all = append(all, of(&one).toMap())
		}
		return all
	}}
}

// Value is the effective value of one key. Its name has dots between the nested keys, such
// as admission.drafts; a price's name ends with its model.
type Value struct {
	Key    string
	Value  any    // text, a number, a boolean, a list or map of them; nil if nothing is set
	Source string // where it came from; empty from Values
}

const hiddenText = "(hidden)"

// maskValues masks everything in a mapping that may be a credential; numbers and booleans stay.
func maskValues[T any](fields map[string]T) any {
	if len(fields) == 0 {
		return nil
	}
	all := map[string]any{}
	for name, v := range fields {
		switch any(v).(type) {
		case uint64, int64, float64, bool:
			all[name] = v
		default:
			all[name] = hiddenText
		}
	}
	return all
}

// Dollars returns an amount in USD, as the settings file has it.
func Dollars(m cost.MicroUSD) float64 { return float64(m) / 1e6 }

// nilIfZero returns v, or nil if v is the zero value, which means "not set".
func nilIfZero[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func nilOrValue[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}
