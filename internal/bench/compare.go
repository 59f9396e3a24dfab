package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	modelLatency = 200 * time.Millisecond
	concurrency  = 8
)

// compare runs this program as the floor and through the graph.
func (s *suite) compare(ctx context.Context, sizes []int) error {
	s.table(append([]string{"N", ""}, columns[:]...)...)
	var before float64 // seconds to the pause
	for i, n := range sizes {
		floor, graph, err := s.measureBoth(ctx, n, 0)
		if err != nil {
			return err
		}
		s.addRows(n, floor, graph)
		if i == len(sizes)-1 {
			for k, column := range columns[1:] { // the start takes milliseconds and depends on the disk
				s.note("compare: "+column[:strings.LastIndexByte(column, ' ')]+" / floor", graph[k+1]/floor[k+1])
			}
			s.growth("compare", graph[pauseTime], before, sizes)
		}
		before = graph[pauseTime]
	}
	return nil
}

func (s *suite) addRows(n int, floor, graph []float64) {
	f, g := []any{n, "floor"}, []any{n, "graph"}
	for i := range floor {
		f = append(f, floor[i])
		g = append(g, formatValue(graph[i])+" ("+formatRatio(graph[i]/floor[i])+")")
	}
	s.row(f...)
	s.row(g...)
}

// fanout gives the model a latency and compares the process's time to the pause with the least possible.
func (s *suite) fanout(ctx context.Context, sizes []int) error {
	s.table(fmt.Sprintf("N at %v", modelLatency), "ideal s", "floor / ideal", "graph / ideal")
	for i, n := range sizes {
		floor, graph, err := s.measureBoth(ctx, n, modelLatency)
		if err != nil {
			return err
		}
		ideal := float64((n+concurrency-1)/concurrency) * modelLatency.Seconds()
		s.row(n, fmt.Sprintf("%.1f", ideal), formatRatio(floor[pauseTime]/ideal), formatRatio(graph[pauseTime]/ideal))
		if i == len(sizes)-1 {
			s.note("fanout: graph / floor", graph[pauseTime]/floor[pauseTime])
			s.note("fanout: graph / ideal", graph[pauseTime]/ideal)
		}
	}
	return nil
}

func (s *suite) measureBoth(ctx context.Context, n int, latency time.Duration) (floor, graph []float64, err error) {
	var want string
	got, err := s.inTurn(
		side{fmt.Sprintf("floor at %d", n), func() (figures []float64, err error) {
			figures, want, err = measure(ctx, s.program, "floor-", n, latency)
			return figures, err
		}},
		side{fmt.Sprintf("graph at %d", n), func() ([]float64, error) {
			figures, body, err := measure(ctx, s.program, "", n, latency)
			if err == nil && body != want {
				err = errors.New("its body is not the floor's")
			}
			return figures, err
		}})
	if err != nil {
		return nil, nil, err
	}
	return got[0], got[1], nil
}

// columns holds the names of the figures of measure. A process is timed from start to
// exit; "start" ends at the first statement of the first node.
var columns = [6]string{"start ms", "pause s", "resume s", "checkpoint MiB", "peak of pause MiB", "peak of resume MiB"}

const pauseTime = 1 // index in columns

// measure pauses in one process and resumes in another, after moving the folder like an artifact.
func measure(ctx context.Context, program, prefix string, n int, latency time.Duration) (figures []float64,
	text string, err error) {
	root, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	dir, moved := filepath.Join(root, "dir"), filepath.Join(root, "moved")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, "", err
	}
	began := now()
	paused, pauseS, err := runProcess(ctx, program, prefix+"pause", "--dir", dir, "--n", strconv.Itoa(n),
		"--latency-ms", strconv.FormatInt(latency.Milliseconds(), 10), "--concurrency", strconv.Itoa(concurrency))
	if err != nil {
		return nil, "", err
	}
	held, err := dirSize(filepath.Join(dir, "checkpoint"))
	if err = errors.Join(err, os.Rename(dir, moved)); err != nil {
		return nil, "", err
	}
	done, resumeS, err := runProcess(ctx, program, prefix+"resume", "--dir", moved, "--decision", "approve")
	if err != nil {
		return nil, "", err
	}
	body, err := os.ReadFile(filepath.Join(moved, "body.md"))
	const kib, mib = 1 << 10, 1 << 20
	return []float64{
		paused.FirstNode - began, pauseS, resumeS, float64(held) / mib, float64(paused.Peak) / kib,
		float64(done.Peak) / kib,
	}, string(body), err
}

func runProcess(ctx context.Context, program string, args ...string) (l line, seconds float64, err error) {
	began := time.Now()
	text, err := output(exec.CommandContext(ctx, program, args...))
	seconds = time.Since(began).Seconds()
	if err != nil {
		return l, 0, err
	}
	return l, seconds, json.Unmarshal([]byte(text), &l)
}

func dirSize(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// watch runs the program that its arguments name, and reports its time and memory.
func watch(ctx context.Context, args []string) (line, error) {
	if len(args) < 2 {
		return line{}, errUsage
	}
	command := exec.CommandContext(ctx, args[1], args[2:]...)
	command.Stderr = os.Stderr
	began := time.Now()
	err := command.Run()
	return line{Status: "done", Seconds: time.Since(began).Seconds(), Peak: peakOf(command.ProcessState)}, err
}

func hold(_ context.Context, args []string) (line, error) {
	if len(args) != 2 {
		return line{}, errUsage
	}
	text, err := os.ReadFile(args[1])
	runtime.KeepAlive(text)
	return line{Status: "done"}, err
}

// output runs a command and returns its standard output. An error contains its standard error.
func output(command *exec.Cmd) (string, error) {
	var out, trouble bytes.Buffer
	command.Stdout, command.Stderr = &out, &trouble
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args[:min(3, len(command.Args))], " "), err,
			strings.TrimSpace(trouble.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
