// Package app is the front: the command line and the action's two modes. It
// wires rooms together and speaks to people; the work is done further down.
//
// Start reading at Run, then review.go for the command line and action.go for
// the job.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// Process is what the program is started with.
type Process struct {
	Args           []string // the program's name first
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time // time.Now where nil
}

// app is one invocation.
type app struct {
	Process
	wire.Wire
	name string // the program's, as it was called
}

// Run is the program: it returns the exit code. 0 is done or paused, 1 a run
// that failed, 2 usage or configuration, 3 a refused resume.
func Run(ctx context.Context, p Process) int {
	if p.Now == nil {
		p.Now = time.Now
	}
	a := &app{Process: p, name: called(p.Args[0])}
	a.Wire = wire.New(a.getenv, p.Now, a.debug())
	if len(p.Args) == 1 && a.getenv("GITHUB_ACTIONS") == "true" {
		return a.action(ctx)
	}
	out := &output{Writer: p.Stdout}
	a.Stdout = out
	err := a.command(ctx, p.Args[1:])
	if err == nil && out.err != nil {
		err = problem.New("the result could not be written", out.err.Error(), "run the same command again: what was done is kept")
	}
	if err != nil && !errors.As(err, new(reported)) {
		fmt.Fprintln(p.Stderr, "error: "+guard.Text(explain(err)))
	}
	return exitCode(err)
}

// output is standard output, which remembers the first write that failed.
type output struct {
	io.Writer
	err error
}

// Write writes on, also after an error.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// called is the program's name for messages. What go run builds is gone when it
// has ended, so it is called as it was.
func called(path string) string {
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "go run ."
	}
	return filepath.Base(path)
}

func (a *app) getenv(name string) string {
	for i := len(a.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// debug takes a line about each try and the stack of a panic, where a re-run of
// the job asks for debug logging or RUNNER_DEBUG is 1; nil otherwise.
func (a *app) debug() func(string) {
	out, prefix := a.Stderr, ""
	if a.getenv("GITHUB_ACTIONS") == "true" {
		out, prefix = a.Stdout, "::debug::"
	}
	if a.getenv("RUNNER_DEBUG") != "1" {
		return nil
	}
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, prefix+guard.Line(line, maxLine))
	}
}

// command is one of the command line's commands.
type command struct {
	name, args, help string
	run              func(*app, context.Context, []string, *options) error
	flags            func(*pflag.FlagSet, *options)
}

func commands() []command {
	return slices.Concat([]command{
		{"review", "<url | owner/repo#n | base..head | base...head | - | FILE.diff | demo>", "review a change and stop for a decision", (*app).review, reviewFlags},
		{"resume", "<thread>", "decide a parked draft", (*app).resume, resumeFlags},
		{"show", "<thread | owner/repo#n>", "print a parked draft", (*app).show, showFlags},
		{"threads", "[owner/repo]", "list parked drafts, of the store or of a repository on GitHub", (*app).threads, listFlags},
	}, evalCommands(), []command{
		configCommand(),
		{"graph", "[reviewpr]", "print the built graph as Mermaid", (*app).graph, nil},
		{"version", "", "print the version", (*app).version, nil},
	})
}

func (a *app) command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		a.usage(a.Stderr)
		return problem.Usage("no command was given", a.name+" review demo is a first one")
	}
	switch {
	case args[0] == "help" && len(args) > 1:
		args = append(args[1:], "--help")
	case args[0] == "help" || args[0] == "--help" || args[0] == "-h":
		a.usage(a.Stdout)
		return nil
	case args[0] == "--version":
		return a.version(ctx, nil, nil)
	}
	at := commandAt(args)
	words := commandWords(args[at:])
	name := strings.Join(args[at:at+words], " ")
	for _, c := range commands() {
		if c.name == name {
			return a.run(ctx, c, slices.Delete(slices.Clone(args), at, at+words))
		}
	}
	if name == "eval" && slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" }) {
		a.usage(a.Stdout)
		return nil
	}
	if name == "eval" {
		a.usage(a.Stderr)
		return problem.Usage("eval needs a command of its own", a.name+" eval run starter is a first one")
	}
	return problem.Usage(fmt.Sprintf("unknown command %q", name), cmp.Or(nearest(name, commandNames()), a.name+" help lists them"))
}

// commandAt is the index of the command's name: flags may stand before it.
func commandAt(args []string) int {
	if !strings.HasPrefix(args[0], "-") {
		return 0
	}
	known := commandNames()
	return max(0, slices.IndexFunc(args, func(arg string) bool {
		return slices.ContainsFunc(known, func(name string) bool { first, _, _ := strings.Cut(name, " "); return first == arg })
	}))
}

// commandWords is how many words name the command: those of eval are two.
func commandWords(args []string) int {
	if args[0] == "eval" && len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		return 2
	}
	return 1
}

func (a *app) run(ctx context.Context, c command, args []string) error {
	o := &options{Settings: settings.Defaults()}
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.SortFlags = false
	if c.flags != nil {
		c.flags(flags, o)
	}
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintf(a.Stdout, "%s %s %s\n  %s\n\n%s", a.name, c.name, c.args, c.help, flags.FlagUsages())
		return nil
	}
	if err != nil {
		return flagError(err, flags)
	}
	err = c.run(a, ctx, flags.Args(), o)
	if err != nil && o.json {
		return errors.Join(err, a.jsonError(err))
	}
	return err
}

// jsonError prints the object of a run that an error ended. Wrong usage has no
// outcome and so no object.
func (a *app) jsonError(err error) error {
	outcome := outcomeOfError(err)
	if outcome == "" || errors.As(err, new(reported)) {
		return nil
	}
	return report{Outcome: outcome, Message: explain(err)}.print(a.Stdout)
}

func (a *app) usage(w io.Writer) {
	fmt.Fprintf(w, "%s reviews a change and stops for a person's decision before anything is posted.\n\n", a.name)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %s %-8s %s\n      %s\n", a.name, c.name, c.args, c.help)
	}
	fmt.Fprintf(w, "\nTry: %s review demo\n", a.name)
}

func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// streamOf is what an output writes to.
func streamOf(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.Writer
	}
	return w
}

// terminal reports whether a stream is one, and how many columns it has.
func terminal(stream any) (columns int, ok bool) {
	if w, ok := stream.(io.Writer); ok {
		stream = streamOf(w)
	}
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 80, true
	}
	return columns, true
}
