// Command bench measures the product and prints Markdown: figures beside a floor
// that was measured in turn with them, and with --check held against limits.
//
//	bench compare | fanout | anchors | search | memory | image | start | all
//
// Compare and fanout run a synthetic review of N files through the graph and by
// hand: the files are reviewed side by side, the run stops at a gate with its
// checkpoint on disk, and another process posts after a decision. The processes
// of that are commands too, and write one line of JSON each; outside DIR they
// write nothing:
//
//	bench pause  --n N --latency-ms L --concurrency C --dir DIR
//	bench resume --dir DIR --decision approve|reject
//
// Floor-pause and floor-resume do the same work by hand. Memory and start build
// the real program; image and start need a Docker Engine as well and leave two
// images there. It asks no model, and never judges by seconds: a limit is
// on a ratio. Start reading at run, then suite.go; flow.go has the graph,
// workload.go the work.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// job is what one process is asked to do.
type job struct {
	n           int
	latency     time.Duration // of the simulated model, per file
	concurrency int
	dir         string
	decision    string
}

// line is what one process says on standard output. Times are milliseconds since
// the Unix epoch; peak is the largest resident set in KiB, 0 where the system
// does not tell.
type line struct {
	Impl      string  `json:"impl"`
	Version   string  `json:"version"`
	Status    string  `json:"status"` // paused or done
	FirstNode float64 `json:"first_node_unix_ms,omitempty"`
	Paused    float64 `json:"paused_unix_ms,omitempty"`
	Tasks     int64   `json:"tasks,omitempty"`
	Posted    *bool   `json:"posted,omitempty"`
	BodyBytes *int    `json:"body_bytes,omitempty"`
	PostedAt  float64 `json:"posted_unix_ms,omitempty"`
	Seconds   float64 `json:"seconds,omitempty"` // of a watched process
	Peak      int     `json:"peak_rss_kib,omitempty"`
}

var errUsage = errors.New("usage: bench compare|fanout|anchors|search|memory [--sizes N,N] [--repeats K] [--check]\n" +
	"       bench image|start|all [--image NAME] [--repeats K] [--check]\n" +
	"       bench pause|floor-pause --n N --latency-ms L --concurrency C --dir DIR\n" +
	"       bench resume|floor-resume --dir DIR --decision approve|reject")

// run is the program: 0 done, 1 failed, 2 not understood.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "error:", err)
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	if list := named(args[0]); list != nil {
		return report(ctx, list, args, stdout, stderr)
	}
	act := map[string]func(context.Context, []string) (line, error){
		"pause": onJob(pause), "resume": onJob(resume), "floor-pause": onJob(floorPause),
		"floor-resume": onJob(floorResume),
		"watch":        watch, "hold": hold,
	}[args[0]]
	if act == nil {
		return fmt.Errorf("there is no command %q\n%w", args[0], errUsage)
	}
	l, err := act(ctx, args)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	l.Impl, l.Version, l.Peak = "pr-review-action", runtime.Version(), cmp.Or(l.Peak, peak())
	return json.NewEncoder(stdout).Encode(l)
}

// onJob reads the job before it is done.
func onJob(act func(context.Context, job) (line, error)) func(context.Context, []string) (line, error) {
	return func(ctx context.Context, args []string) (line, error) {
		j, err := parse(args, strings.HasSuffix(args[0], "resume"))
		if err != nil {
			return line{}, fmt.Errorf("%w\n%w", err, errUsage)
		}
		return act(ctx, j)
	}
}

func parse(args []string, resume bool) (job, error) {
	var j job
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&j.dir, "dir", "", "an existing folder")
	latency := 0
	if resume {
		flags.StringVar(&j.decision, "decision", "", "approve or reject")
	} else {
		flags.IntVar(&j.n, "n", 10, "files")
		flags.IntVar(&latency, "latency-ms", 0, "of the model, per file")
		flags.IntVar(&j.concurrency, "concurrency", 8, "files under review at one time")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return j, err
	}
	j.latency = time.Duration(latency) * time.Millisecond
	return j, errors.Join(j.check(resume), noMore(flags))
}

func (j job) check(resume bool) error {
	switch info, err := os.Stat(j.dir); {
	case err != nil || !info.IsDir():
		return fmt.Errorf("--dir %q is not an existing folder", j.dir)
	case resume && j.decision != "approve" && j.decision != "reject":
		return fmt.Errorf("--decision %q is neither approve nor reject", j.decision)
	case !resume && (j.n < 1 || j.concurrency < 1 || j.latency < 0):
		return errors.New("--n and --concurrency are at least 1, --latency-ms at least 0")
	}
	return nil
}

func noMore(flags *flag.FlagSet) error {
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not expected", flags.Arg(0))
	}
	return nil
}

func now() float64 { return float64(time.Now().UnixNano()) / 1e6 }

// peak is the process's largest resident set in KiB, from Linux's proc(5).
func peak() int {
	text, _ := os.ReadFile("/proc/self/status") // elsewhere there is none
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib int
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib
}
