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
