package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

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
