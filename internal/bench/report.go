package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

type suite struct {
	program  string // path of this program, to start more processes
	compiler string // the go command
	sizes    []int  // replaces each benchmark's own; nil for those
	repeats  int
	check    bool
	limits   map[string]float64 // upper limits by figure
	out, log io.Writer

	scratch string // a folder that run removes when it returns
	noted   []figure
}

func (s *suite) table(columns ...string) {
	fmt.Fprintf(s.out, "| %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)-1))
}

func (s *suite) row(cells ...any) {
	for _, cell := range cells {
		if value, ok := cell.(float64); ok {
			cell = formatValue(value)
		}
		fmt.Fprint(s.out, "| ", cell, " ")
	}
	fmt.Fprintln(s.out, "|")
}

func formatValue(value float64) string {
	digits := 3
	for limit := 1.0; value >= limit && digits > 0; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(value, 'f', digits, 64)
}

func formatRatio(ratio float64) string {
	if ratio < 2 {
		return fmt.Sprintf("×%.3f", ratio)
	}
	return fmt.Sprintf("×%.1f", ratio)
}

// machine describes the machine and the commit, as far as the system reports them.
func machine(ctx context.Context) string {
	first := func(path string) string {
		text, _ := os.ReadFile(path) // only Linux has them
		word, _, _ := strings.Cut(string(text), " ")
		return strings.TrimSpace(word)
	}
	parts := fmt.Sprintf("%s; %s/%s %s; %d CPUs; load %s", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		first("/proc/sys/kernel/osrelease"), runtime.NumCPU(), first("/proc/loadavg"))
	if commit, err := output(exec.CommandContext(ctx, "git", "--no-optional-locks", "describe", "--always",
		"--dirty=, changed", "--exclude=*")); err == nil {
		parts += "; commit " + commit
	}
	return parts
}

type side struct {
	name string
	run  func() ([]float64, error)
}

// inTurn runs every side once per round, so that a busy moment may hit any of them, and returns each side's medians.
func (s *suite) inTurn(sides ...side) ([][]float64, error) {
	samples := make([][][]float64, len(sides))
	for round := range s.repeats {
		for i, a := range sides {
			figures, err := a.run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
			fmt.Fprintf(s.log, "round %d of %d, %s: %.4g\n", round+1, s.repeats, a.name, figures)
			samples[i] = append(samples[i], figures)
		}
	}
	all := make([][]float64, len(sides))
	for i := range all {
		all[i] = medians(samples[i])
	}
	return all, nil
}

func medians(samples [][]float64) []float64 {
	m := make([]float64, len(samples[0]))
	for i := range m {
		var values []float64
		for _, s := range samples {
			values = append(values, s[i])
		}
		slices.Sort(values)
		m[i] = (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	return m
}

type figure struct {
	name  string
	value float64
}

func (s *suite) note(name string, value float64) {
	s.noted = append(s.noted, figure{name, value})
}

// judge prints the noted figures next to their limits. Its error names each figure over its limit or without one.
func (s *suite) judge() error {
	fmt.Fprint(s.out, "\n## Limits\n\n")
	s.table("figure", "measured", "at most")
	var missed []error
	for _, f := range s.noted {
		m, known := s.limits[f.name]
		verdict := formatValue(m)
		if !known || !(f.value <= m) {
			missed = append(missed, fmt.Errorf("limit missed: %s is %s, at most %s", f.name, formatValue(f.value),
				verdict))
			verdict += ", **missed**"
		}
		s.row(f.name, f.value, verdict)
	}
	return errors.Join(missed...)
}

func (s *suite) growth(name string, last, before float64, sizes []int) {
	if len(sizes) < 2 {
		return
	}
	n, fewer := sizes[len(sizes)-1], sizes[len(sizes)-2]
	fmt.Fprintf(s.out, "\n%d files take %s of %d.\n", n, formatRatio(last/before), fewer)
	s.note(name+": time / linear", last/before*float64(fewer)/float64(n))
}
