package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/pattern"
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

// by makes an input that counts before the key.
func (k key) by(name, flag, help string) key {
	k.input = Input{Name: name, Flag: flag, Help: help}
	return k
}

// given reads the text of the key's input.
func (k key) given(text string) error {
	if k.set != nil {
		return k.set(text)
	}
	var n ast.Node = ast.String(token.New(text, text, &token.Position{}))
	if file, err := parser.ParseBytes([]byte(text), 0); err == nil && len(file.Docs) == 1 {
		switch body := file.Docs[0].Body.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.SequenceNode:
			n = body
		}
	}
	r := &reader{lines: Lines{}}
	if k.read(r, n); len(r.problems) > 0 {
		return errors.New(r.problems[0].What)
	}
	return nil
}

// keys are those of one mapping, in the order in which they are documented.
type keys []key

// names are sorted.
func (all keys) names() (names []string) {
	for _, k := range all {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return names
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

func group(name string, under keys) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.mapping(n, under) }, under: under}
}

func flag(name string, into *bool) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.boolean(n, into) }, show: func() any { return *into }}
}

// unless is a boolean that is on by default, kept as its opposite.
func unless(name string, off *bool) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		on := !*off
		r.boolean(n, &on)
		*off = !on
	}, show: func() any { return !*off }}
}

// whole is a number of which 0 means that it is not set; otherwise holds then. Where people
// may write 0, upTo is the one.
func whole(name string, least, most int, into *int, otherwise int) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.whole(n, least, most, into) },
		show: func() any { return set(cmp.Or(*into, otherwise)) }}
}

// upTo is a number from 0 on; otherwise is shown where there is none.
func upTo(name string, most int, into **int, otherwise any) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		var v int
		if *into = nil; r.whole(n, 0, most, &v) {
			*into = &v
		}
	}, show: func() any { return cmp.Or(at(*into), otherwise) }}
}

// seconds is a time; otherwise holds where it is 0.
func seconds(name string, most time.Duration, into *int, otherwise time.Duration) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.seconds(n, most, into) },
		show: func() any { return Duration(cmp.Or(time.Duration(*into)*time.Second, otherwise)) }}
}

func amount(name string, into *cost.MicroUSD) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.amount(n, into) },
		show: func() any { return dollars(*into) }}
}

// limit is an amount that an input may set: holds is the one of the two that counts.
func limit(name string, into, holds *cost.MicroUSD) key {
	k := amount(name, into)
	k.show = func() any { return dollars(*holds) }
	k.set = func(text string) error {
		v, err := cost.ParseUSD(text)
		if err == nil {
			*holds = v
		}
		return err
	}
	return k
}

func text(name string, into *string) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.text(n, into) }, show: func() any { return *into }}
}

// choice is one of known; otherwise holds where it is empty.
func choice[T ~string](name string, into *T, otherwise T, known ...T) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		s := string(*into)
		r.good(n, r.among(texts(known)), &s)
		*into = T(s)
	}, show: func() any { return set(string(cmp.Or(*into, otherwise))) }}
}

func texts[T ~string](known []T) (all []string) {
	for _, k := range known {
		all = append(all, string(k))
	}
	return all
}

// ruled is a text of which a rule says what is wrong with it.
func ruled(name string, into *string, wrong func(string) string) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.good(n, r.by(wrong), into) },
		show: func() any { return set(*into) }}
}

// mistake is what a rule says is wrong with a text.
func mistake(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// form is the rule for texts of one form.
func form(form *regexp.Regexp, what string) func(string) string {
	return func(s string) string {
		if form.MatchString(s) {
			return ""
		}
		return mistake("%.60q is not %s", s, what)
	}
}

// listed is a list of texts under a rule.
func listed(name string, into *[]string, wrong func(string) string) key {
	return key{name: name, read: func(r *reader, n ast.Node) { *into = r.texts(n, r.by(wrong)) },
		show: func() any { return append([]string{}, *into...) }}
}

// free is the rule for any text.
func free(string) string { return "" }

// evenEmpty is a list that is no default where it is there and empty.
func evenEmpty(list key, into *[]string) key {
	inner := list.read
	list.read = func(r *reader, n ast.Node) {
		if inner(r, n); *into == nil {
			*into = []string{}
		}
	}
	return list
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

// wrongGlob is the rule for globs.
func wrongGlob(glob string) string {
	if wrong := pattern.Flaw(glob); wrong != "" {
		return mistake("%.60q is not a glob: %s", glob, wrong)
	}
	return ""
}
