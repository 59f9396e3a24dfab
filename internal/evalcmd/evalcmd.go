// Package evalcmd implements the eval commands: they run cases, show and compare
// runs, import cases, and answer public benchmarks. It reads flags and files and
// prints; package eval and the packages below it do the measuring. Start reading
// at Commands, then cmd_run.go.
package evalcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

// Command is one of the eval commands, for the program's table of commands.
type Command struct {
	Name, Args, Help string
	Flags            func(*pflag.FlagSet, *Options)
	Run              func(context.Context, Program, []string, *Options) error
}

// Commands lists the eval commands.
func Commands() []Command {
	return []Command{
		{"eval run", "<CASES.jsonl | starter | tickets>…",
			"review changes whose defects are known, and score what is found",
			runFlags, run},
		{"eval show", "<case>", "print all that one case was given, answered and scored",
			func(f *pflag.FlagSet, o *Options) { f.StringVar(&o.out, "out", "", "`folder` of the run") }, show},
		{"eval diff", "<DIR> <DIR>", "compare two runs case by case", jsonFlag, diff},
		{"eval import", "<owner/repo>", "make cases of merged pull requests and their human comments",
			importFlags, importCases},
		{"eval findings", "", "review a diff for a public benchmark and write findings as JSON",
			findingsFlags, findings},
	}
}

// Program is the program that offers the commands.
type Program struct {
	*driver.Front
	Name     string
	NoModel  string // the notice if no model is configured
	Progress func(silent bool) Progress
}

// Progress is one line on a terminal that is redrawn in place.
type Progress interface {
	Line(format string, args ...any)
	Stop()
}

func (p Program) tell(o *Options) func(string) {
	return func(s string) {
		if !o.quiet {
			fmt.Fprintln(p.Stderr, s)
		}
	}
}

// write calls do with the named file, or with standard output if path is empty. It
// opens the file before the work, so that a bad path is reported before anything is
// paid for, and removes it if the work fails.
func (p Program) write(path string, flags int, mode os.FileMode, next string, do func(io.Writer) error) error {
	if path == "" {
		return do(p.Stdout)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, mode)
	if err != nil {
		return problem.Usage(err.Error(), next)
	}
	err = do(f)
	info, unknown := f.Stat()
	empty := unknown == nil && info.Size() == 0 && flags&os.O_EXCL != 0
	if err = errors.Join(err, f.Close()); err != nil || empty {
		_ = os.Remove(path) // it is incomplete, and a new file would be in the way of the next try
	}
	return err
}

// warning formats a line about something odd that is not an error.
func warning(text string) string { return "warning: " + guard.Text(text) }
