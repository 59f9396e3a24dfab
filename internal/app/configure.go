package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

// configCommand is config check and config print. It keeps the flags as they were
// typed, to tell them from defaults of the same value.
func configCommand() command {
	typed := map[string]string{}
	return command{
		"config", "check | print [FILE | -]", "check the settings file, or print every setting with where it came from",
		func(a *app, _ context.Context, args []string, o *options) error { return a.configure(args, typed, o) },
		func(f *pflag.FlagSet, o *options) {
			for _, in := range inputs() {
				if isConfigFlag(in.name) {
					f.Var(typedValue{value{in, &o.settings}, typed}, in.name, in.help)
				}
			}
			for _, name := range []string{"allow-http", "allow-author", "allow-dispatch", "check-run", "mark"} {
				f.Lookup(name).NoOptDefVal = "true"
			}
			f.BoolVar(&o.json, "json", false, "print one JSON object")
		},
	}
}

func isConfigFlag(name string) bool {
	_, shown := shownInputs()[name]
	inFile := name == "config" || name == "max-cost" || name == "max-cost-per-pull"
	return (shown || inFile) && !slices.Contains(credentials(), name)
}

// typedValue is an input as a flag that remembers its text.
type typedValue struct {
	value
	typed map[string]string
}

// Set reads the flag as the input of the same name is read.
func (v typedValue) Set(text string) error {
	v.typed[v.name] = text
	return v.value.Set(text)
}

func (a *app) configure(args []string, typed map[string]string, o *options) error {
	if len(args) == 0 || len(args) > 2 || args[0] != "check" && args[0] != "print" {
		return problem.Usage("config takes check or print, and at most one file", a.name+" config check, or "+a.name+" config print FILE")
	}
	s, err := a.given(typed)
	if err != nil {
		return err
	}
	file, text, err := a.settingsFile(args[1:], s)
	if err != nil {
		return err
	}
	c, lines, err := config.Read(file, text)
	switch {
	case err != nil && args[0] == "check" && o.json:
		return cmp.Or[error](a.printMistakes(file, err), reported{err})
	case err != nil:
		return a.mistakes(err)
	case args[0] == "print":
		return a.printSettings(c, from{file, lines, s}, o.json)
	case text == nil:
		fmt.Fprintln(a.Stderr, guard.Line(file, 0)+" is not there, so the defaults hold")
	}
	if o.json {
		return a.printMistakes(file, nil)
	}
	fmt.Fprintln(a.Stdout, "ok")
	return nil
}

// givenSettings are the settings of flags, inputs and the environment, with where
// each of them came from.
type givenSettings struct {
	settings
	from map[string]string // by the input's name; none for a default
}

// given reads flags, on Actions over inputs, then the environment's variables.
func (a *app) given(typed map[string]string) (givenSettings, error) {
	g := givenSettings{defaults(), map[string]string{}}
	texts, onActions := map[string]string{}, a.getenv("GITHUB_ACTIONS") == "true"
	if onActions {
		var err error
		if texts, err = action.Inputs(a.Environ, inputNames(), config.Nearest); err != nil {
			return g, problem.As(problem.Misuse, err, "")
		}
	}
	for name := range texts {
		g.from[name] = "input " + name
	}
	for name, text := range typed {
		texts[name], g.from[name] = text, "--"+name
	}
	if err := g.apply(texts); err != nil {
		return g, err
	}
	g.expires = cmp.Or(g.expires, defaultExpires)
	if onActions {
		if err := g.settle(0); err != nil {
			return g, problem.As(problem.Misuse, err, "")
		}
	}
	return g, a.fromEnvironment(&g)
}

// fromEnvironment fills in what a run takes from the environment's variables.
func (a *app) fromEnvironment(g *givenSettings) (err error) {
	for _, v := range []struct {
		name, variable string
		into           *string
	}{
		{"api-key", "OPENAI_API_KEY", &g.key}, {"base-url", "OPENAI_BASE_URL", &g.baseURL}, {"model", "OPENAI_MODEL", &g.model},
		{"github-token", "GITHUB_TOKEN", &g.token}, {"github-token", "GH_TOKEN", &g.token},
	} {
		if text := a.getenv(v.variable); *v.into == "" && text != "" {
			*v.into, g.from[v.name] = text, v.variable
		}
	}
	g.settings = a.modelSettings(g.settings)
	if key := a.getenv("PR_REVIEW_CHECKPOINT_KEY"); key != "" && g.protection.Key == (checkpoint.Key{}) {
		g.from["checkpoint-key"] = "PR_REVIEW_CHECKPOINT_KEY"
		if g.protection.Key, err = checkpoint.ParseKey(key); err != nil {
			return problem.As(problem.Misuse, fmt.Errorf("PR_REVIEW_CHECKPOINT_KEY: %w", err), "")
		}
	}
	return nil
}

// settingsFile reads the file of an argument, of the setting config, or the
// default one of the work tree, whose text is nil where it is not there.
func (a *app) settingsFile(args []string, g givenSettings) (name string, text []byte, err error) {
	switch {
	case len(args) == 1 && args[0] == "-":
		text, err = io.ReadAll(io.LimitReader(a.Stdin, config.MaxSize+1))
		return "stdin", text, err
	case len(args) == 1:
		name = args[0]
	case g.from["config"] != "":
		name = g.config
	default:
		name = inWorkTree(g.config)
	}
	f, err := os.Open(name)
	if len(args) == 0 && g.from["config"] == "" && errors.Is(err, fs.ErrNotExist) {
		return name, nil, nil
	}
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, config.MaxSize+1))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", nil, problem.Usage("the settings cannot be read: "+err.Error(), "name the file, or - for standard input")
	}
	return name, text, nil
}

// inWorkTree is a file's path from here, where it is named from the top of the
// clone around this folder; outside of a clone it is the path itself.
func inWorkTree(file string) string {
	for up, n := ".", 0; n < 100; up, n = filepath.Join(up, ".."), n+1 {
		if _, err := os.Stat(filepath.Join(up, ".git")); err == nil {
			return filepath.Join(up, file)
		}
	}
	return file
}

// each lists the errors that were joined to one; none of nil.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return slices.DeleteFunc([]error{err}, func(e error) bool { return e == nil })
}

// printMistakes prints one object: all that is wrong with a settings file.
func (a *app) printMistakes(file string, err error) error {
	type mistake struct {
		Line   int    `json:"line"`
		Column int    `json:"column"`
		What   string `json:"what"`
		Hint   string `json:"hint"` // the nearest known name, or empty
	}
	printed := struct {
		File   string    `json:"file"`
		Errors []mistake `json:"errors"`
	}{guard.Line(file, maxLine), []mistake{}}
	for _, e := range each(err) {
		m := mistake{What: guard.Line(e.Error(), maxLine)}
		if known, ok := errors.AsType[*config.Error](e); ok {
			m = mistake{known.Line, known.Column, guard.Line(known.What, maxLine), guard.Line(known.Hint, maxLine)}
		}
		printed.Errors = append(printed.Errors, m)
	}
	return printJSON(a.Stdout, printed)
}

// mistakes lists all that is wrong with a settings file.
func (a *app) mistakes(err error) error {
	for _, e := range each(err) {
		fmt.Fprintln(a.Stderr, "error: "+guard.Text(e.Error()))
	}
	return reported{err}
}
