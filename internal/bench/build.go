package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// nothing is the floor of a start: what is left of its time is the system's.
const nothing = "package main\n\nfunc main() {}\n"

// product builds the real program as the Dockerfile does, once.
func (s *suite) product(ctx context.Context) (string, error) {
	at := filepath.Join(s.scratch, "pr-review")
	if _, err := os.Stat(at); err == nil {
		return at, nil
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	flags, err := imageFlags(root)
	if err != nil {
		return "", err
	}
	return at, s.build(ctx, root, at, ".", flags)
}

// imageFlags are the build tags of the Dockerfile, its list of grammars filled in, and
// what is compiled without inlining.
func imageFlags(root string) ([]string, error) {
	recipe, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(recipe), "\\\n", "")
	grammars := regexp.MustCompile(`ARG GRAMMARS="([^"]*)"`).FindStringSubmatch(text)
	tags := regexp.MustCompile(`go build -tags "([^"]*)"`).FindStringSubmatch(text)
	if grammars == nil || tags == nil {
		return nil, errors.New("the Dockerfile names no build tags")
	}
	list := strings.Join(strings.Fields(strings.ReplaceAll(tags[1], "${GRAMMARS}", grammars[1])), ",")
	return append(regexp.MustCompile(`-gcflags=[^ "]+`).FindAllString(text, -1), "-tags="+list), nil
}

// floor builds the program that does nothing, for an operating system as Go names it.
func (s *suite) floor(ctx context.Context, system string) (string, error) {
	dir := filepath.Join(s.scratch, "floor", system)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(nothing), 0o600); err != nil {
		return "", err
	}
	at := filepath.Join(dir, "nothing")
	return at, s.build(ctx, dir, at, "main.go", nil, "GOOS="+system)
}

func (s *suite) build(ctx context.Context, dir, to, what string, flags []string, env ...string) error {
	arguments := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -funcalign=1"}, flags...)
	command := exec.CommandContext(ctx, s.compiler, append(arguments, "-o", to, what)...)
	command.Dir, command.Env = dir, append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	_, err := output(command)
	return err
}

func moduleRoot(ctx context.Context) (string, error) {
	return output(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}"))
}
