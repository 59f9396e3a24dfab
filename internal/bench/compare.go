package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// comparison runs this very program as the floor and through the graph.
type comparison struct {
	program   string
	sizes     []int
	latencies []int // sizes that are also run with modelLatency for each file
	repeats   int
	out, log  io.Writer
}

const (
	modelLatency = 200 * time.Millisecond
	concurrency  = 8
)

func compare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := comparison{out: stdout, log: stderr}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	sizes := flags.String("sizes", "10,100,1000,5000", "")
	latencies := flags.String("latency-sizes", "10,100,1000", "")
	flags.IntVar(&c.repeats, "repeats", 3, "")
	err := cmp.Or(flags.Parse(args), noMore(flags), numbers(*sizes, &c.sizes), numbers(*latencies, &c.latencies))
	if err == nil && c.repeats < 1 {
		err = errors.New("--repeats is at least 1")
	}
	if err != nil {
		return fmt.Errorf("%w\n%w", err, errUsage)
	}
	if c.program, err = os.Executable(); err != nil {
		return err
	}
	return c.run(ctx)
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

// run prints the tables. Times are medians; ratios are against the floor.
func (c comparison) run(ctx context.Context) error {
	fmt.Fprintln(c.out, "| N | | "+strings.Join(columns[:], " | ")+" |\n|---:|---"+strings.Repeat("|---:", len(columns))+"|")
	growth := ""
	var before sample
	for i, n := range c.sizes {
		floor, graph, err := c.both(ctx, n, 0, c.repeats)
		if err != nil {
			return err
		}
		c.row(n, "floor", floor, sample{})
		c.row(n, "graph", graph, floor)
		if i > 0 {
			growth += fmt.Sprintf("\n%d files take ×%.1f of %d.", n, graph.figures[pauseTime]/before.figures[pauseTime], c.sizes[i-1])
		}
		before = graph
	}
	fmt.Fprintln(c.out, growth)
	return c.latency(ctx)
}

func (c comparison) latency(ctx context.Context) error {
	if len(c.latencies) > 0 {
		fmt.Fprintf(c.out, "\n| N at %v | ideal s | floor / ideal | graph / ideal |\n|---:|---:|---:|---:|\n", modelLatency)
	}
	for _, n := range c.latencies {
		floor, graph, err := c.both(ctx, n, modelLatency, 1)
		if err != nil {
			return err
		}
		ideal := float64((n+concurrency-1)/concurrency) * modelLatency.Seconds()
		fmt.Fprintf(c.out, "| %d | %.1f | ×%.3f | ×%.3f |\n", n, ideal, floor.figures[pauseTime]/ideal, graph.figures[pauseTime]/ideal)
	}
	return nil
}

func (c comparison) row(n int, name string, s, base sample) {
	fmt.Fprintf(c.out, "| %d | %s |", n, name)
	for i, value := range s.figures {
		fmt.Fprintf(c.out, " %.3g", value)
		if base.figures[i] > 0 {
			fmt.Fprintf(c.out, " (×%.2f)", value/base.figures[i])
		}
		fmt.Fprint(c.out, " |")
	}
	fmt.Fprintln(c.out)
}

// both runs floor and graph in turn, so that a busy moment may hit either, and
// holds their bodies against each other.
func (c comparison) both(ctx context.Context, n int, latency time.Duration, repeats int) (floor, graph sample, err error) {
	var floors, graphs []sample
	for range repeats {
		f, err := measure(ctx, c.program, "floor-", n, latency)
		if err != nil {
			return floor, graph, err
		}
		g, err := measure(ctx, c.program, "", n, latency)
		if err != nil {
			return floor, graph, err
		}
		if f.body != g.body {
			return floor, graph, fmt.Errorf("at %d files the graph's body is not the floor's", n)
		}
		fmt.Fprintf(c.log, "N=%d, %v: floor %.3f s, graph %.3f s\n", n, latency, f.figures[pauseTime], g.figures[pauseTime])
		floors, graphs = append(floors, f), append(graphs, g)
	}
	return medians(floors), medians(graphs), nil
}

// medians takes each figure's own.
func medians(all []sample) sample {
	var m sample
	for i := range m.figures {
		var values []float64
		for _, s := range all {
			values = append(values, s.figures[i])
		}
		slices.Sort(values)
		m.figures[i] = (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	return m
}
