package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/org/pr-review-action/internal/problem"
)

// File is a repository's settings file, with what a company sets below it.
type File struct {
	Path string // in the repository; what errors call it
	// YAML with the file's keys, which hold where the file does not set them, and locked: the names of
	// keys that the file cannot set. Empty for none
	Defaults string
	Inputs   map[string]string // what inputs and flags say that count before keys, by their names; see Inputs
}

// Inputs lists the inputs that count before keys of the file.
func Inputs() (all []Input) {
	for _, k := range rootKeys(new(Config)).inputs("") {
		all = append(all, k.input)
	}
	return all
}

// Over puts the inputs over settings that were read: from here on these hold.
func (f File) Over(c Config) (Config, error) {
	c.Cap, c.CapPerPull = c.MaxCost, c.MaxCostPerPull
	for _, k := range rootKeys(&c).inputs("") {
		if text, given := f.Inputs[k.input.Name]; given {
			if err := k.given(text); err != nil {
				return c, problem.Usage(fmt.Sprintf("input %s: %v", k.input.Name, err), "")
			}
		}
	}
	return c, nil
}

// lockable reads names of keys, which stand for those below them too.
func (r *reader) lockable(n ast.Node) []string {
	var known []string
	for _, v := range Default().Values() {
		outer, _, _ := strings.Cut(v.Key, ".")
		known = append(known, outer, v.Key)
	}
	return r.texts(n, func(item ast.Node, name string) bool {
		if slices.Contains(known, name) {
			return true
		}
		e := r.fail(item, "%.60q is not the name of a key, such as deciders or admission.authors", name)
		if len(r.problems) <= maxProblems { // the others are counted
			e.Hint = problem.Nearest(name, known)
		}
		return false
	})
}

// Locks reports whether the defaults lock a key, or one that it is below.
func (c Config) Locks(key string) bool {
	return slices.ContainsFunc(c.Locked, func(l string) bool { return key == l || strings.HasPrefix(key, l+".") })
}

// overrules reports whether a key of the file is locked, and notes then that it has no effect.
func (r *reader) overrules(key ast.MapKeyNode, name string) bool {
	if !r.defaults.Locks(name) {
		return false
	}
	r.overruled = append(r.overruled, fmt.Sprintf("%s:%d: %s has no effect here, since the defaults lock it", r.file,
		key.GetToken().Position.Line, name))
	return true
}
