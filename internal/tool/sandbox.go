package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrNoSandbox says that this machine cannot confine a program, so that none was run.
var ErrNoSandbox = errors.New("this machine cannot confine a program, and nothing was run")

// Sandbox runs one command of the user's over a copy of a tree, for the command
// line alone: it runs code of the pull request.
//
// The command has a process tree, a network of loopback alone, and a file system
// of its own: the system's programs read-only, and as the only places to write a
// folder in memory that holds the copy and is its home. Nothing of the user's
// home, of the environment and of other processes is there. It does not confine
// the kernel: who must fear an attack on that runs no foreign code at all.
type Sandbox struct {
	Command string // for /bin/sh -c
	// Shown are further folders that the command may read, such as a compiler's or
	// a module cache; they keep their paths. Path is PATH, Environment is what is
	// set beside it, HOME, TMPDIR and LANG.
	Shown       []string
	Path        string
	Environment []string
	Limits      SandboxLimits
}

// SandboxLimits bound a run. A zero field stands for its default.
type SandboxLimits struct {
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

func (l SandboxLimits) withDefaults() SandboxLimits {
	l.Time = cmp.Or(l.Time, 5*time.Minute)
	l.Memory = cmp.Or(l.Memory, 2<<30)
	l.Processes = cmp.Or(l.Processes, 512)
	l.Output = cmp.Or(l.Output, 8<<20)
	return l
}

func (s *Sandbox) time() time.Duration {
	if s == nil {
		return 0
	}
	return s.Limits.withDefaults().Time
}

// Run runs the command over a copy of the tree's text files, all of them
// executable, as a tree knows no modes. It fails with ErrNoSandbox where the
// command could not be confined; a command that fails is a Ran.
func (s *Sandbox) Run(ctx context.Context, tree Tree) (Ran, error) {
	dir, err := os.MkdirTemp("", "sandbox-")
	if err != nil {
		return Ran{}, errors.New("there is no room for a copy of the files")
	}
	defer os.RemoveAll(dir)
	if err := copyTree(ctx, tree, filepath.Join(dir, "tree")); err != nil {
		return Ran{}, err
	}
	limits := s.Limits.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	out := &tail{left: limits.Output, full: cancel}
	end, err := s.confined(ctx, dir, out)
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

// copyTree writes a tree's files into a new folder. Paths are those that
// CheckPath lets through, and os.Root follows none out of the folder.
func copyTree(ctx context.Context, tree Tree, dir string) error {
	paths, err := tree.Paths(ctx)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return errors.New("there is no room for a copy of the files")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return errors.New("the copy of the files cannot be opened")
	}
	defer root.Close()
	for _, p := range paths {
		content, err := tree.Read(ctx, p)
		if errors.Is(err, ErrNotText) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrLink) {
			continue
		}
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(p)), 0o755); err != nil {
			return fmt.Errorf("copying %q: %w", p, err)
		}
		if err := root.WriteFile(filepath.FromSlash(p), content, 0o755); err != nil {
			return fmt.Errorf("copying %q: %w", p, err)
		}
	}
	return nil
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
