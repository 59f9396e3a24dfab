// Command bench measures the product and prints Markdown: figures, each with a floor
// that is measured alternately with it. With --check it compares them with limits.
//
//	bench compare | fanout | memory | start | all
//
// Compare and fanout run a synthetic review of N files through the graph and by hand: the files are reviewed in
// parallel, the run stops at a gate with its checkpoint on disk, and another process posts after a decision. Each of
// these processes is a command too, which writes one line of JSON and no file outside DIR:
//
//	bench pause  --n N --latency-ms L --concurrency C --dir DIR
//	bench resume --dir DIR --decision approve|reject
//
// Floor-pause and floor-resume do the same work by hand. Memory and start build the real program. Bench asks no
// model. Its limits are on ratios, never on seconds. Start reading at run, then report.go; flow.go has the graph,
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
	"slices"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

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
	if list := selectBenchmarks(args[0]); len(list) > 0 {
		return report(ctx, list, args, stdout, stderr)
	}
	act := map[string]func(context.Context, []string) (line, error){
		"pause": withJob(pause), "resume": withJob(resume), "floor-pause": withJob(floorPause),
		"floor-resume": withJob(floorResume),
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

func withJob(act func(context.Context, job) (line, error)) func(context.Context, []string) (line, error) {
	return func(ctx context.Context, args []string) (line, error) {
		j, err := parse(args, strings.HasSuffix(args[0], "resume"))
		if err != nil {
			return line{}, fmt.Errorf("%w\n%w", err, errUsage)
		}
		return act(ctx, j)
	}
}

type benchmark struct {
	name, title string
	sizes       []int // numbers of files; nil if it has no sizes
	run         func(*suite, context.Context, []int) error
}

func benchmarks() []benchmark {
	return []benchmark{
		{"compare", "The graph beside the floor", []int{10, 100, 1000, 5000}, (*suite).compare},
		{"fanout", "Fan-out beside the ideal", []int{10, 100, 1000}, (*suite).fanout},
		{"memory", "Memory and time of a large diff", []int{300, 3000}, (*suite).memory},
		{"start", "Start", nil, (*suite).start},
	}
}

func selectBenchmarks(command string) []benchmark {
	return slices.DeleteFunc(benchmarks(), func(b benchmark) bool { return command != b.name && command != "all" })
}

func report(ctx context.Context, list []benchmark, args []string, stdout, stderr io.Writer) error {
	s := &suite{compiler: "go", limits: limits(), out: stdout, log: stderr}
	err := s.parse(args, list)
	if err != nil {
		return fmt.Errorf("%w\n%w", err, errUsage)
	}
	if s.program, err = os.Executable(); err != nil {
		return err
	}
	return s.run(ctx, list)
}

func (s *suite) parse(args []string, list []benchmark) error {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&s.repeats, "repeats", 5, "")
	flags.BoolVar(&s.check, "check", false, "")
	if len(list) == 1 && list[0].sizes != nil {
		flags.Func("sizes", "", s.addSizes)
	}
	err := cmp.Or(flags.Parse(args[1:]), checkNoArgs(flags))
	if err == nil && s.repeats < 1 {
		err = errors.New("--repeats is at least 1")
	}
	return err
}

func (s *suite) addSizes(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of files", part)
		}
		s.sizes = append(s.sizes, n)
	}
	return nil
}

// run prints a line about the machine, then a section per benchmark.
func (s *suite) run(ctx context.Context, list []benchmark) (err error) {
	if s.scratch, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.scratch)) }()
	fmt.Fprintf(s.out, "%s. Medians of %d, taken in turn with the floor's.\n", machine(ctx), s.repeats)
	for _, b := range list {
		fmt.Fprintf(s.out, "\n## %s\n\n", b.title)
		if s.sizes != nil {
			b.sizes = s.sizes
		}
		if err := b.run(s, ctx, b.sizes); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	if s.check {
		return s.judge()
	}
	return nil
}
