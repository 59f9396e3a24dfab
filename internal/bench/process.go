package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

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

// watch runs the program that its arguments name, and tells of time and memory.
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

// output runs a command and gives what it prints. The error has what it says.
func output(command *exec.Cmd) (string, error) {
	var out, trouble bytes.Buffer
	command.Stdout, command.Stderr = &out, &trouble
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args[:min(3, len(command.Args))], " "), err,
			strings.TrimSpace(trouble.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
