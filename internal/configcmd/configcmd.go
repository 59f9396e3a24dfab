// Package configcmd checks a settings file, and prints every setting and where it came
// from.
//
// It reads no repository, and calls a server only if told to. Start reading at Command.
package configcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/setup"
	"github.com/org/pr-review-action/internal/wire"
)

// Command is the commands config check and config print.
type Command struct {
	*driver.Front
	Name  string            // the program's name, as it was called
	Typed map[string]string // the flags as they were typed, to tell them from defaults of the same value
	JSON  bool              // print one JSON object

	Online bool // check also asks the models and GitHub
}

// Run checks or prints the settings file that the arguments name.
func (c *Command) Run(ctx context.Context, args []string) error {
	if len(args) == 0 || len(args) > 2 || args[0] != "check" && args[0] != "print" {
		return problem.Usage("config takes check or print, and at most one file",
			c.Name+" config check, or "+c.Name+" config print FILE")
	}
	s, sources, err := c.readSettings(c.Typed)
	if err != nil {
		return err
	}
	file, text, err := c.settingsFile(args[1:], s.Config, sources["config"] != "")
	if err != nil {
		return err
	}
	from := s.File()
	from.Path = file
	read, lines, err := from.Read(text)
	if text == nil {
		named := config.File{Path: filepath.ToSlash(file)}
		read.Overruled = append(read.Overruled, named.Misnamed(namesIn(filepath.Dir(file)))...)
	}
	for _, line := range read.Overruled {
		fmt.Fprintln(c.Stderr, "warning: "+guard.Line(line, driver.MaxLine))
	}
	switch {
	case err != nil && args[0] == "check" && c.JSON:
		return cmp.Or[error](c.printMistakes(file, nil, err), driver.Reported{Err: err})
	case err != nil:
		for _, e := range unjoin(err) {
			fmt.Fprintln(c.Stderr, "error: "+guard.Text(e.Error()))
		}
		return driver.Reported{Err: err}
	case args[0] == "print":
		return c.printSettings(file, read, s, settings.Source{Lines: lines, Given: sources})
	case text == nil:
		fmt.Fprintln(c.Stderr, guard.Line(file+" is not there, so the defaults hold", 0))
	}
	var online []setup.Check
	if c.Online {
		online = append(setup.Online(ctx, c.Front, s, read), setup.Token(ctx, c.Front, s))
	}
	if c.JSON {
		return cmp.Or(c.printMistakes(file, read.Overruled, nil, online...), setup.Failed(online))
	}
	fmt.Fprintln(c.Stdout, "ok")
	setup.PrintChecks(c.Front, online)
	return setup.Failed(online)
}

// namesIn returns the names in a folder, none if it cannot be read.
func namesIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// readSettings reads the flags, then environment variables. It also returns where each setting came from.
func (c *Command) readSettings(typed map[string]string) (s settings.Settings, from map[string]string, err error) {
	s, from = settings.Defaults(), map[string]string{}
	for name := range typed {
		from[name] = "--" + name
	}
	if err := s.Apply(typed); err != nil {
		return s, from, err
	}
	variables, err := s.FromEnv(c.Getenv, settings.Names()...)
	maps.Copy(from, variables)
	return s.WithModel(c.Getenv), from, err
}

// settingsFile reads the file that args names, or else the setting config if it was given, or
// else the default file of the work tree. text is nil if the default file does not exist.
func (c *Command) settingsFile(args []string, setting string, given bool) (name string, text []byte, err error) {
	switch {
	case len(args) == 1 && args[0] == "-":
		text, err = io.ReadAll(io.LimitReader(c.Stdin, config.MaxSize+1))
		return "stdin", text, err
	case len(args) == 1:
		name = args[0]
	case given:
		name = setting
	default:
		name = filepath.Join(WorkTree(), setting)
	}
	text, err = wire.ReadFile(name, config.MaxSize)
	if len(args) == 0 && !given && errors.Is(err, fs.ErrNotExist) {
		return name, nil, nil
	}
	if err != nil {
		return "", nil, problem.Usage("the settings cannot be read: "+err.Error(),
			"name the file, or - for standard input")
	}
	return name, text, nil
}

// WorkTree returns the relative path from the working directory to the top of its clone, or
// "." outside of a clone.
func WorkTree() string {
	for up, n := ".", 0; n < 100; up, n = filepath.Join(up, ".."), n+1 {
		if _, err := os.Stat(filepath.Join(up, ".git")); err == nil {
			return up
		}
	}
	return "."
}

// unjoin returns the errors that err joins, err itself if it joins none, and nothing for nil.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return slices.DeleteFunc([]error{err}, func(e error) bool { return e == nil })
}

// printMistakes prints one JSON object: the mistakes in a settings file, its parts without
// effect, and the results of the online checks.
func (c *Command) printMistakes(file string, overruled []string, err error, online ...setup.Check) error {
	type mistake struct {
		File   string `json:"file"` // or defaults
		Line   int    `json:"line"`
		Column int    `json:"column"`
		What   string `json:"what"`
		Hint   string `json:"hint"` // the nearest known name, or empty
	}
	printed := struct {
		File   string        `json:"file"`
		Errors []mistake     `json:"errors"`
		Locked []string      `json:"locked,omitempty"` // lines without effect, since the defaults lock them
		Checks []setup.Check `json:"checks,omitempty"` // with --online
	}{guard.Line(file, driver.MaxLine), nil, nil, online}
	for _, line := range overruled {
		printed.Locked = append(printed.Locked, guard.Line(line, driver.MaxLine))
	}
	for _, e := range unjoin(err) {
		m := mistake{What: guard.Line(e.Error(), driver.MaxLine)}
		if known, ok := errors.AsType[*config.Error](e); ok {
			m = mistake{guard.Line(known.File, driver.MaxLine), known.Line, known.Column,
				guard.Line(known.What, driver.MaxLine),
				guard.Line(known.Hint, driver.MaxLine)}
		}
		printed.Errors = append(printed.Errors, m)
	}
	return driver.PrintJSON(c.Stdout, printed)
}

// printSettings prints the effective settings: the file's keys, then the others.
func (c *Command) printSettings(file string, read config.Config, s settings.Settings, from settings.Source) error {
	values := from.Values(read, s, func(model string) string { return wire.Unpriced(read, model) })
	own := c.Redactor(s)
	for i := range values {
		values[i].Value, values[i].Source = redacted(own, values[i].Value), guard.Line(values[i].Source, driver.MaxLine)
	}
	if c.JSON {
		return c.printValues(file, values)
	}
	text, err := settings.YAML(values)
	if err == nil {
		fmt.Fprint(c.Stdout, guard.Text(text))
	}
	return err
}

// printValues prints one JSON object with every setting by name.
func (c *Command) printValues(file string, values []config.Value) error {
	type setting struct {
		Value  any    `json:"value"`
		Source string `json:"source"`
	}
	all := map[string]setting{}
	for _, v := range values {
		all[v.Key] = setting{v.Value, v.Source}
	}
	return driver.PrintJSON(c.Stdout, map[string]any{"file": guard.Line(file, driver.MaxLine), "settings": all})
}

// redacted returns a value, or "(hidden)" if it contains a credential.
func redacted(own *secret.Redactor, value any) any {
	text, err := json.Marshal(value)
	if err != nil || own.Redact(string(text)) != string(text) {
		return "(hidden)"
	}
	return value
}
