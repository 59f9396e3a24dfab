package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/pr-review-action/internal/guard"
)

const (
	enterName = "pr-review-sandbox" // what this program is called when it is started to enter a sandbox
	inside    = 1000                // user and group within
	nobody    = 65534               // whose rights a sandbox has that root starts

	maxProblem = 500 // characters of what is told of a sandbox that could not be made
)

// room is what the program that enters is told.
type room struct {
	Dir, Command string // Dir holds the folder tree, and gets the folder root
	Shown, Env   []string
	Memory       int64
	Processes    uint64
	Seconds      uint64
}

// confined starts this program again in namespaces of its own, where Enter
// makes them a sandbox and becomes the command. What Enter could not do
// comes back through a pipe that the command does not have.
func (c *Command) confined(ctx context.Context, dir string, out io.Writer) (string, error) {
	limits := c.Limits.withDefaults()
	told, err := json.Marshal(room{
		Dir: dir, Command: c.Script, Shown: c.Shown, Env: c.environment(), Memory: limits.Memory,
		Processes: uint64(limits.Processes), Seconds: uint64(limits.Time/time.Second) + 1,
	})
	if err != nil {
		return "", fmt.Errorf("describing the sandbox: %w", err)
	}
	problem, w, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("opening a pipe: %w", err)
	}
	defer problem.Close()
	runtime.LockOSThread() // the command is ended with the thread that started it
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args, cmd.Env = []string{enterName, string(told)}, []string{}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, []*os.File{w}
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr, err = namespaces(dir)
	if err == nil {
		err = cmd.Start()
	}
	w.Close()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	text, _ := io.ReadAll(io.LimitReader(problem, 1<<10)) // empty once the command has begun
	err = cmd.Wait()
	if len(text) > 0 {
		return "", fmt.Errorf("%w: %s", ErrUnavailable, guard.Line(string(text), maxProblem))
	}
	if cmd.ProcessState == nil {
		return "", fmt.Errorf("waiting for the command: %w", err)
	}
	return cmd.ProcessState.String(), nil
}

func (c *Command) environment() []string {
	path := c.Path
	if path == "" {
		path = defaultPath
	}
	return append([]string{"PATH=" + path, "HOME=/home", "TMPDIR=/tmp", "LANG=C"}, c.Environment...)
}

// namespaces maps one user into a sandbox: the own one, or for root, whose
// processes the kernel does not count, nobody, who is given the folder.
func namespaces(dir string) (*syscall.SysProcAttr, error) {
	uid, gid, root := os.Getuid(), os.Getgid(), os.Getuid() == 0
	if root {
		uid, gid = nobody, nobody
		if err := errors.Join(os.Chown(dir, uid, gid), os.Chown(filepath.Join(dir, "tree"), uid, gid)); err != nil {
			return nil, err
		}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: gid, Size: 1}},
		Credential:  &syscall.Credential{Uid: inside, Gid: inside, NoSetGroups: !root},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}, // given up before the command begins
		Setsid:      true,

		GidMappingsEnableSetgroups: root,
	}, nil
}

// Enter is to be called first of all in main, and does nothing unless this
// program was started by a Command: then it becomes the command and never returns.
func Enter() {
	if len(os.Args) != 2 || os.Args[0] != enterName || os.Getpid() != 1 {
		return
	}
	runtime.LockOSThread() // rights are a thread's own
	var r room
	err := json.Unmarshal([]byte(os.Args[1]), &r)
	if err == nil {
		err = r.enter()
	}
	fmt.Fprint(os.NewFile(3, "problem"), strings.ReplaceAll(err.Error(), r.Dir, "…"))
	os.Exit(1)
}
