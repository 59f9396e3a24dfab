package evalcmd

import (
	"fmt"
	"io"
	"os"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

// Program is the program that offers the commands.
type Program struct {
	*driver.Front
	Name     string
	NoModel  string // the notice where no model is configured
	Progress func(silent bool) Progress
}

// Progress is one line on a terminal, drawn anew each time.
type Progress interface {
	Line(format string, args ...any)
	Stop()
}

// tell prints notices.
func (p Program) tell(o *Options) func(string) {
	return func(s string) {
		if !o.quiet {
			fmt.Fprintln(p.Stderr, s)
		}
	}
}

// write has do write to the named file, standard output where there is no name.
// The file is opened before the work, so that a bad place is found while nothing
// is paid, and is gone again where the work fails.
func (p Program) write(path string, flags int, mode os.FileMode, next string, do func(io.Writer) error) error {
	if path == "" {
		return do(p.Stdout)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, mode)
	if err != nil {
		return problem.Usage(err.Error(), next)
	}
	if err := do(f); err != nil {
		return closed(f, err)
	}
	return f.Close()
}

// closed ends and removes a file in which nothing whole stands. The error that led
// to it is the one to tell.
func closed(f *os.File, why error) error {
	_ = f.Close()
	_ = os.Remove(f.Name())
	return why
}

// warning is a line about what is odd and no error.
func warning(text string) string { return "warning: " + guard.Text(text) }
