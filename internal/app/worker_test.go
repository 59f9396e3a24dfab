package app_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/app"
)

// invocation is a command line: with these variables, in this folder, and with nothing to read.
type invocation struct {
	Args, Environ []string
	Dir           string
}

// printout is its exit code and what it printed.
type printout struct {
	Code           int
	Stdout, Stderr string
}

// pool has processes of this test binary, each of which runs one command line after the other: a folder and
// variables belong to a process, and most of what a command takes is the start of its process.
type pool struct {
	mu   sync.Mutex
	idle []*worker
}

// shared is the pool of all tests.
var shared pool

// worker is a process that runs serve.
type worker struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ask   *gob.Encoder
	tell  *gob.Decoder
	crash bytes.Buffer
}

// run runs the program as a process would, to its end.
func (p *pool) run(i invocation) (r printout, err error) {
	one, err := p.take()
	if err != nil {
		return r, err
	}
	if err = one.ask.Encode(i); err == nil {
		err = one.tell.Decode(&r)
	}
	if err != nil {
		return r, fmt.Errorf("%q ended its process: %w: %w\n%s", i.Args, err, one.cmd.Wait(), one.crash.String())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, one)
	return r, nil
}

// take returns a worker that nobody uses.
func (p *pool) take() (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		one := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return one, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	one := &worker{cmd: &exec.Cmd{Path: path, Args: []string{workerName}, Env: tuned()}}
	one.cmd.Stderr = &one.crash
	in, err := one.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := one.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	one.stdin, one.ask, one.tell = in, gob.NewEncoder(in), gob.NewDecoder(out)
	return one, one.cmd.Start()
}

// end ends all of them, once no test runs.
func (p *pool) end() {
	for _, one := range p.idle {
		one.stdin.Close()
		_ = one.cmd.Wait()
	}
}

// workerName is what a process is started as that is to run serve.
const workerName = "worker"

// serve runs the command lines that standard input has.
func serve() {
	ask, tell := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	for {
		var i invocation
		if err := ask.Decode(&i); err == io.EOF {
			os.Exit(0)
		} else if err != nil {
			panic(err)
		}
		if err := tell.Encode(i.run()); err != nil {
			panic(err)
		}
	}
}

// run runs the program here, in its folder and with its variables alone.
func (i invocation) run() printout {
	if err := os.Chdir(i.Dir); err != nil {
		panic(err)
	}
	os.Clearenv()
	for _, variable := range i.Environ {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	var stdout, stderr bytes.Buffer
	one := process(i.Args, i.Environ)
	one.Stdin, one.Stdout, one.Stderr = new(bytes.Buffer), &stdout, &stderr
	return printout{Code: app.Run(context.Background(), one), Stdout: stdout.String(), Stderr: stderr.String()}
}

// exited runs a process of the program that nothing kills to its end, with nothing to read.
func exited(t testing.TB, cmd *exec.Cmd) printout {
	t.Helper()
	if !apart() {
		r, err := shared.run(invocation{Args: cmd.Args, Environ: cmd.Env, Dir: cmd.Dir})
		require.NoError(t, err)
		return r
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); !errors.As(err, new(*exec.ExitError)) {
		require.NoError(t, err)
	}
	require.NotContains(t, stderr.String(), "goroutine ", "a crash")
	return printout{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// runProgram is the program as a command of scripts. It reads no standard input; exec pr-review-action does.
func runProgram(ts *testscript.TestScript, neg bool, args []string) {
	if code := exitCode(ts, args); (code != 0) != neg {
		ts.Fatalf("unexpected exit code %d", code)
	}
}

// exits is the program that ends with an exit code, the first argument.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if code := exitCode(ts, args[1:]); strconv.Itoa(code) != args[0] {
		ts.Fatalf("unexpected exit code %d", code)
	}
}

// exitCode runs the program with a script's variables, and gives its exit code.
func exitCode(ts *testscript.TestScript, args []string) int {
	if apart() || runtime.GOOS != "linux" { // environ is the reason
		err := ts.Exec(programName, args...)
		if ended := new(exec.ExitError); errors.As(err, &ended) {
			return ended.ExitCode()
		}
		ts.Check(err)
		return 0
	}
	r, err := shared.run(invocation{Args: append([]string{programName}, args...), Environ: environ(ts),
		Dir: ts.MkAbs(".")})
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), r.Stdout)
	fmt.Fprint(ts.Stderr(), r.Stderr)
	return r.Code
}

// environ are the variables of a script's processes, which only they know.
func environ(ts *testscript.TestScript) []string {
	r, w, err := os.Pipe()
	ts.Check(err)
	defer r.Close()
	ts.Check(ts.Exec("cp", "/proc/self/environ", fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), w.Fd())))
	ts.Check(w.Close())
	text, err := io.ReadAll(r)
	ts.Check(err)
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == 0 })
}
