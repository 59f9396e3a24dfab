package config

import (
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/cost"
)

// good reads a text that is good.
func (r *reader) good(n ast.Node, is func(ast.Node, string) bool, into *string) bool {
	var s string
	if !r.text(n, &s) || !is(n, s) {
		return false
	}
	*into = s
	return true
}

// usd reads an amount of dollars that may be nothing.
func (r *reader) usd(n ast.Node, into *cost.MicroUSD) bool {
	v, ok := cost.USD(digits(n))
	if !ok {
		r.fail(n, "expected an amount in USD from 0 to %d, such as 0.25, got %s", cost.MaxUSD, shown(n))
		return false
	}
	*into = v
	return true
}

// amount reads an amount of dollars over nothing.
func (r *reader) amount(n ast.Node, into *cost.MicroUSD) {
	var v cost.MicroUSD
	if !r.usd(n, &v) {
		return
	}
	if v == 0 {
		r.fail(n, "expected an amount in USD over 0, such as 2.50, got %s", shown(n))
		return
	}
	*into = v
}

func (r *reader) whole(n ast.Node, least, most int, into *int) bool {
	v, err := strconv.Atoi(digits(n))
	if err != nil || v < least || v > most {
		r.fail(n, "expected a whole number from %d to %d, got %s", least, most, shown(n))
		return false
	}
	*into = v
	return true
}

func (r *reader) number(n ast.Node, least, most float64) *float64 {
	v, err := strconv.ParseFloat(digits(n), 64)
	if err != nil || !(v >= least && v <= most) {
		r.fail(n, "expected a number from %g to %g, got %s", least, most, shown(n))
		return nil
	}
	return &v
}

// digits is a number as it is written; empty for all else.
func digits(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value
	}
	return ""
}

// shown is a number as it is written, or what else there is.
func shown(n ast.Node) string {
	if d := digits(n); d != "" {
		return d[:min(len(d), 40)]
	}
	return kind(n)
}

// headers reads a map of texts. One name in two cases is one header, whose value
// would be anybody's guess.
func (r *reader) headers(n ast.Node) map[string]string {
	all, lower := map[string]string{}, map[string]bool{}
	for _, e := range r.entries(n) {
		name := keyName(e.Key)
		if lower[strings.ToLower(name)] {
			r.fail(e.Key, "the header %.60q stands twice", name)
		}
		lower[strings.ToLower(name)] = true
		r.refuse(e.Key, CheckHeaderName(name))
		var s string
		if r.text(e.Value, &s) {
			r.refuse(e.Value, CheckHeaderValue(name, s))
			all[name] = s
		}
	}
	return all
}

// refuse notes what a check said of a node, if anything.
func (r *reader) refuse(n ast.Node, err error) {
	if err != nil {
		r.fail(n, "%v", err)
	}
}

// values reads a map of plain values, nested as deep as given. The outermost one
// holds the fields of a request.
func (r *reader) values(n ast.Node, depth int) map[string]any {
	all := map[string]any{}
	for _, e := range r.entries(n) {
		if depth == maxDepth {
			r.refuse(e.Key, CheckField(keyName(e.Key)))
		}
		if v := r.value(e.Value, depth-1); v != nil {
			all[keyName(e.Key)] = v
		}
	}
	return all
}

func (r *reader) value(n ast.Node, depth int) any {
	if depth < 0 {
		r.fail(n, "this is nested too deep; %d levels are read", maxDepth)
		return nil
	}
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	case *ast.BoolNode:
		return v.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return r.plainNumber(n)
	case *ast.MappingNode, *ast.MappingValueNode:
		return r.values(n, depth)
	case *ast.SequenceNode:
		list := []any{}
		for _, item := range v.Values {
			list = append(list, r.value(item, depth-1))
		}
		return list
	}
	r.fail(n, "expected text, a number, true or false, a list or keys with values, got %s", kind(n))
	return nil
}

// plainNumber reads a number that JSON keeps as it is.
func (r *reader) plainNumber(n ast.Node) any {
	v, err := strconv.ParseFloat(digits(n), 64)
	if err != nil || !(math.Abs(v) <= maxWhole) {
		r.fail(n, "expected a decimal number up to %d, got %s", maxWhole, shown(n))
		return nil
	}
	return v
}

// mostLines is the largest value of max-lines.
const mostLines = 100_000

// The largest values of the keys that models are set with.
const (
	maxModelName    = 200 // characters
	maxLanguage     = 40  // bytes
	maxWords        = 3   // of a language's name
	maxOutputTokens = 1_000_000
	maxTemperature  = 2
	maxDepth        = 5 // of lists and maps in model-options.body
	maxWhole        = 1 << 53
)
