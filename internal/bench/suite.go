package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// suite runs benchmarks and prints Markdown.
type suite struct {
	program  string // this very program, for processes of its own
	docker   string // the client of a Docker Engine
	caches   string // the kernel's file that drops the page cache
	image    string // the image to measure; built from the Dockerfile where empty
	sizes    []int  // instead of each benchmark's own
	repeats  int
	check    bool
	limits   []limit
	out, log io.Writer

	scratch string // a folder that is gone when run returns
	cache   string // what became of the page cache before a cold run
	noted   []figure
}

// benchmark is one section of the report.
type benchmark struct {
	name, title string
	sizes       []int // files, where it has sizes
	run         func(*suite, context.Context, []int) error
}

func benchmarks() []benchmark {
	return []benchmark{
		{"compare", "The graph beside the floor", []int{10, 100, 1000, 5000}, (*suite).compare},
		{"fanout", "Fan-out beside the ideal", []int{10, 100, 1000}, (*suite).fanout},
		{"anchors", "Anchors beside a scan for line ends", []int{3000}, (*suite).anchors},
		{"search", "Search beside a line grep and Postgres", []int{100_000}, (*suite).search},
		{"memory", "Memory and time of a large diff", []int{300, 3000}, (*suite).memory},
		{"image", "Image", nil, (*suite).imageSize},
		{"start", "Start", nil, (*suite).start},
	}
}

// named gives the benchmarks that a command runs, none for an unknown one.
func named(command string) (list []benchmark) {
	for _, b := range benchmarks() {
		if command == b.name || command == "all" {
			list = append(list, b)
		}
	}
	return list
}

func report(ctx context.Context, list []benchmark, args []string, stdout, stderr io.Writer) error {
	s := &suite{docker: "docker", caches: "/proc/sys/vm/drop_caches", limits: limits(), out: stdout, log: stderr}
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
	sizes := new(string)
	if len(list) == 1 && list[0].sizes != nil {
		sizes = flags.String("sizes", "", "")
	} else {
		flags.StringVar(&s.image, "image", "", "")
	}
	err := cmp.Or(flags.Parse(args[1:]), noMore(flags), numbers(*sizes, &s.sizes))
	if err == nil && s.repeats < 1 {
		err = errors.New("--repeats is at least 1")
	}
	return err
}

func numbers(text string, to *[]int) error {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		switch {
		case part == "":
		case err != nil || n < 1:
			return fmt.Errorf("%q is no number of files", part)
		default:
			*to = append(*to, n)
		}
	}
	return nil
}

// run prints the machine, then a section for each benchmark.
func (s *suite) run(ctx context.Context, list []benchmark) (err error) {
	if s.scratch, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.scratch)) }()
	fmt.Fprintf(s.out, "%s. Medians of %d, taken in turn with the floor's.\n", machine(ctx), s.repeats)
	for _, b := range list {
		fmt.Fprintf(s.out, "\n## %s\n\n", b.title)
		sizes := b.sizes
		if s.sizes != nil {
			sizes = s.sizes
		}
		if err := b.run(s, ctx, sizes); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	if s.check {
		return s.judge()
	}
	return nil
}

// table prints a table's head: the first column to the left, the others to the
// right.
func (s *suite) table(columns ...string) {
	fmt.Fprintf(s.out, "| %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)-1))
}

// row prints a table's row.
func (s *suite) row(cells ...any) {
	for _, cell := range cells {
		if value, ok := cell.(float64); ok {
			cell = short(value)
		}
		fmt.Fprint(s.out, "| ", cell, " ")
	}
	fmt.Fprintln(s.out, "|")
}

// short writes three digits, or all of a number's whole part.
func short(value float64) string {
	digits := 3
	for limit := 1.0; value >= limit && digits > 0; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(value, 'f', digits, 64)
}

// times writes a ratio.
func times(ratio float64) string {
	if ratio < 2 {
		return fmt.Sprintf("×%.3f", ratio)
	}
	return fmt.Sprintf("×%.1f", ratio)
}

// machine says what the figures were taken on: Go, kernel, CPU, load and commit.
// What a system does not tell is left out.
func machine(ctx context.Context) string {
	parts := []string{strings.Replace(runtime.Version(), "go", "Go ", 1),
		strings.TrimSpace(runtime.GOOS + "/" + runtime.GOARCH + " " + first("/proc/sys/kernel/osrelease"))}
	parts = append(parts, fmt.Sprintf("%d × %s", runtime.NumCPU(), cmp.Or(cpu(), "CPU")))
	if load := first("/proc/loadavg"); load != "" {
		parts = append(parts, "load "+load)
	}
	if commit, err := output(exec.CommandContext(ctx, "git", "--no-optional-locks", "describe", "--always",
		"--dirty=, changed", "--exclude=*")); err == nil {
		parts = append(parts, "commit "+commit)
	}
	return strings.Join(parts, "; ")
}

// first is the first word of a file of the kernel's.
func first(path string) string {
	text, _ := os.ReadFile(path) // Linux alone has them
	return cmp.Or(append(strings.Fields(string(text)), "")...)
}

// cpu is the model of the first processor.
func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
