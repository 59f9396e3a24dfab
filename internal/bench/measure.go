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
	"slices"
	"strconv"
	"time"
)

// sample is what one run of both processes came to.
type sample struct {
	figures [6]float64 // as columns names them
	body    string
}

// columns name the figures of a sample. A process is timed from its start to its
// exit; the start is up to the first statement of the first node.
var columns = [6]string{"start ms", "pause s", "resume s", "checkpoint MiB", "peak of pause MiB", "peak of resume MiB"}

const pauseTime = 1 // among the figures

// measure pauses in one process and resumes in another, in a folder that is
// moved in between, as a downloaded artifact is.
func measure(ctx context.Context, program, prefix string, n int, latency time.Duration) (s sample, err error) {
	root, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	dir, moved := filepath.Join(root, "dir"), filepath.Join(root, "moved")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return s, err
	}
	began := now()
	paused, pauseS, err := process(ctx, program, prefix+"pause", "--dir", dir, "--n", strconv.Itoa(n),
		"--latency-ms", strconv.FormatInt(latency.Milliseconds(), 10), "--concurrency", strconv.Itoa(concurrency))
	if err != nil {
		return s, err
	}
	held, err := size(filepath.Join(dir, "checkpoint"))
	if err = errors.Join(err, os.Rename(dir, moved)); err != nil {
		return s, err
	}
	done, resumeS, err := process(ctx, program, prefix+"resume", "--dir", moved, "--decision", "approve")
	if err != nil {
		return s, err
	}
	body, err := os.ReadFile(filepath.Join(moved, "body.md"))
	const kib, mib = 1 << 10, 1 << 20
	return sample{[6]float64{
		paused.FirstNode - began, pauseS, resumeS, float64(held) / mib, float64(paused.Peak) / kib,
		float64(done.Peak) / kib,
	}, string(body)}, err
}

// process runs one process to its end and reads its line.
func process(ctx context.Context, program string, args ...string) (l line, seconds float64, err error) {
	var out, trouble bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Stdout, command.Stderr = &out, &trouble
	began := time.Now()
	err = command.Run()
	seconds = time.Since(began).Seconds()
	if err != nil {
		return l, 0, fmt.Errorf("%s: %w: %s", args[0], err, trouble.String())
	}
	return l, seconds, json.Unmarshal(out.Bytes(), &l)
}

// size adds up the regular files of a folder, in bytes.
func size(dir string) (total int64, err error) {
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

// side is one of the things that are measured beside each other.
type side struct {
	name string
	run  func() ([]float64, error)
}

// inTurn runs every side once a round, so that a busy moment may hit any of them.
// It gives each side's figures, each the median of its own.
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

// medians takes each figure's own.
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
