// Package sandbox runs one command of the user's over files of a pull request,
// confined, for the command line alone: it runs code of the pull request.
//
// The command has a process tree, a network of loopback alone, and a file system
// of its own: the system's programs read-only, and as the only places to write a
// folder in memory that holds the files and is its home. Nothing of the user's
// home, of the environment and of other processes is there. It does not confine
// the kernel: who must fear an attack on that runs no foreign code at all. Where
// a machine cannot confine a program, none is run. Start reading at Command.Run,
// then at Enter, which is the first thing that main does.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrUnavailable says that this machine cannot confine a program, so that none was run.
var ErrUnavailable = errors.New("this machine cannot confine a program, and nothing was run")

// Command is a command to run in a sandbox.
type Command struct {
	Script string // for /bin/sh -c
	// Shown are further folders that the command may read, such as a compiler's or
	// a module cache; they keep their paths. Path is PATH, Environment is what is
	// set beside it, HOME, TMPDIR and LANG.
	Shown       []string
	Path        string
	Environment []string
	Limits      Limits
}

// Limits bound a run. A zero field stands for its default.
type Limits struct {
	Time      time.Duration // 5 minutes
	Memory    int64         // bytes of data of one process, and of all written files; 2 GiB
	Processes int           // and threads at one time; 512
	Output    int           // bytes that are read, of which the end is kept; 8 MiB
}

// Ran is how a run ended.
type Ran struct {
	End    string // "exit status 1" and the like
	Output string // the end of what it printed, untrusted
}

const (
	keptOutput  = 16 << 10 // bytes of a run's output that are kept
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin"
)

func (l Limits) withDefaults() Limits {
	l.Time = cmp.Or(l.Time, 5*time.Minute)
	l.Memory = cmp.Or(l.Memory, 2<<30)
	l.Processes = cmp.Or(l.Processes, 512)
	l.Output = cmp.Or(l.Output, 8<<20)
	return l
}

// Time is how long a run may take; 0 for nil, which runs nothing.
func (c *Command) Time() time.Duration {
	if c == nil {
		return 0
	}
	return c.Limits.withDefaults().Time
}

// Run runs the command over what fill writes into a new folder. It fails with
// fill's error, and with ErrUnavailable where the command could not be confined;
// a command that fails is a Ran.
func (c *Command) Run(ctx context.Context, fill func(ctx context.Context, into *os.Root) error) (Ran, error) {
	dir, err := os.MkdirTemp("", "sandbox-")
	if err != nil {
		return Ran{}, errors.New("there is no room for a copy of the files")
	}
	defer os.RemoveAll(dir)
	if err := filled(ctx, filepath.Join(dir, "tree"), fill); err != nil {
		return Ran{}, err
	}
	limits := c.Limits.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	out := &tail{left: limits.Output, full: cancel}
	end, err := c.confined(ctx, dir, out)
	switch {
	case err != nil:
		return Ran{}, err
	case out.left <= 0:
		end = fmt.Sprintf("ended after it had printed %d bytes", limits.Output)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		end = fmt.Sprintf("ended after %v", limits.Time)
	}
	return Ran{End: end, Output: string(out.kept)}, nil
}

// filled makes a folder and has it filled. os.Root follows no path out of it.
func filled(ctx context.Context, dir string, fill func(context.Context, *os.Root) error) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return errors.New("there is no room for a copy of the files")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return errors.New("the copy of the files cannot be opened")
	}
	defer root.Close()
	return fill(ctx, root)
}

// tail keeps the end of what is written to it, and calls full once more was
// written than it takes.
type tail struct {
	kept []byte
	left int
	full func()
}

func (t *tail) Write(p []byte) (int, error) {
	t.left -= len(p)
	if t.left <= 0 {
		t.full()
		return 0, errors.New("too much output")
	}
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-keptOutput):]
	return len(p), nil
}
