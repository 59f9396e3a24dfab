package config

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

func flag(name string, into *bool) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.boolean(n, into) }, show: func() any { return *into }}
}

// negatedFlag is a boolean that is on by default and stored negated.
func negatedFlag(name string, off *bool) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		on := !*off
		r.boolean(n, &on)
		*off = !on
	}, show: func() any { return !*off }}
}

// integer is an integer from 1 to most, 0 if not set; otherwise is its default. optionalInteger is for
// numbers that may be 0.
func integer(name string, most int, into *int, otherwise int) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.integer(n, 1, most, into) },
		show: func() any { return nilIfZero(cmp.Or(*into, otherwise)) }}
}

// optionalInteger is an integer from 0 to most; otherwise is shown if it is not set.
func optionalInteger(name string, most int, into **int, otherwise any) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		var v int
		if *into = nil; r.integer(n, 0, most, &v) {
			*into = &v
		}
	}, show: func() any { return cmp.Or(nilOrValue(*into), otherwise) }}
}

// number is a decimal number from 0 to most, nil if not set.
func number(name string, most float64, into **float64) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		v, err := strconv.ParseFloat(numberText(n), 64)
		if *into = &v; err != nil || !(v >= 0 && v <= most) {
			r.fail(n, "expected a number from %g to %g, got %s", 0.0, most, describeNumber(n))
			*into = nil
		}
	}, show: func() any { return nilOrValue(*into) }}
}

// duration is a time in whole seconds; otherwise is the default for 0.
func duration(name string, most time.Duration, into *int, otherwise time.Duration) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		var s string
		if numberText(n) != "" {
			r.fail(n, "expected a time with its unit, such as 10m, got %s", describeNumber(n))
		} else if r.text(n, &s) {
			d, err := time.ParseDuration(s)
			if err != nil || d < time.Second || d > most || d%time.Second != 0 {
				r.fail(n, "%.60q is not a time in whole seconds from 1s to %s, such as 10m", s, wording.Span(most))
				return
			}
			*into = int(d / time.Second)
		}
	}, show: func() any { return wording.Span(cmp.Or(time.Duration(*into)*time.Second, otherwise)) }}
}

// amount is a positive amount in USD.
func amount(name string, into *cost.MicroUSD) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		var v cost.MicroUSD
		if r.usd(n, &v) && v == 0 {
			r.fail(n, "expected an amount in USD over 0, such as 2.50, got %s", describeNumber(n))
		}
		*into = cmp.Or(v, *into)
	}, show: func() any { return nilIfZero(Dollars(*into)) }}
}

// limit is an amount that an input may override; holds points to the one in effect.
func limit(name string, into, holds *cost.MicroUSD) key {
	k := amount(name, into)
	k.show = func() any { return nilIfZero(Dollars(*holds)) }
	return k
}

func text(name string, into *string) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.text(n, into) }, show: func() any { return *into }}
}

// choice is one of the known texts; otherwise is the default for an empty one.
func choice[T ~string](name string, into *T, otherwise T, known ...T) key {
	return key{name: name, read: func(r *reader, n ast.Node) {
		s := string(*into)
		r.acceptedText(n, r.oneOf(texts(known)), &s)
		*into = T(s)
	}, show: func() any { return nilIfZero(string(cmp.Or(*into, otherwise))) }}
}

func texts[T ~string](known []T) (all []string) {
	for _, k := range known {
		all = append(all, string(k))
	}
	return all
}

// checkedText is a text that wrong checks: it returns what is wrong, or "".
func checkedText(name string, into *string, wrong func(string) string) key {
	return key{name: name, read: func(r *reader, n ast.Node) { r.acceptedText(n, r.check(wrong), into) },
		show: func() any { return nilIfZero(*into) }}
}

// textList is a list of texts, each checked by wrong.
func textList(name string, into *[]string, wrong func(string) string) key {
	return key{name: name, read: func(r *reader, n ast.Node) { *into = r.texts(n, r.check(wrong)) },
		show: func() any { return append([]string{}, *into...) }}
}

// keepEmpty is a list for which an empty value does not mean the default.
func keepEmpty(list key, into *[]string) key {
	return list.then(func() {
		if *into == nil {
			*into = []string{}
		}
	})
}

// mistake formats what a rule finds wrong with a text.
func mistake(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// matching is a rule that texts match a pattern; what describes it.
func matching(form *regexp.Regexp, what string) func(string) string {
	return func(s string) string {
		if form.MatchString(s) {
			return ""
		}
		return mistake("%.60q is not %s", s, what)
	}
}

// anyText is the rule that accepts any text.
func anyText(string) string { return "" }

// wrongGlob is the rule that a text is a valid glob.
func wrongGlob(glob string) string {
	if wrong := pattern.Flaw(glob); wrong != "" {
		return mistake("%.60q is not a glob: %s", glob, wrong)
	}
	return ""
}

func (r *reader) boolean(n ast.Node, into *bool) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.fail(n, "expected true or false, got %s", kind(n))
		return
	}
	*into = b.Value
}

func (r *reader) integer(n ast.Node, least, most int, into *int) bool {
	v, err := strconv.Atoi(numberText(n))
	if err != nil || v < least || v > most {
		r.fail(n, "expected a whole number from %d to %d, got %s", least, most, describeNumber(n))
		return false
	}
	*into = v
	return true
}

// usd reads an amount in USD, which may be 0.
func (r *reader) usd(n ast.Node, into *cost.MicroUSD) bool {
	v, ok := cost.USD(numberText(n))
	if !ok {
		r.fail(n, "expected an amount in USD from 0 to %d, such as 0.25, got %s", cost.MaxUSD, describeNumber(n))
		return false
	}
	*into = v
	return true
}

// numberText returns a number as it is written, or "" for any other node.
func numberText(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value
	}
	return ""
}

// describeNumber returns a number as it is written, or the kind of another node.
func describeNumber(n ast.Node) string {
	if d := numberText(n); d != "" {
		return d[:min(len(d), 40)]
	}
	return kind(n)
}

// valueOr returns *v, which may be 0, or otherwise if v is nil.
func valueOr(v *int, otherwise int) int { return *cmp.Or(v, &otherwise) }
