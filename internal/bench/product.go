package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// memory reviews a large diff with the real program and its rules. The floor reads the diff and holds its bytes.
func (s *suite) memory(ctx context.Context, sizes []int) error {
	product, err := s.product(ctx)
	if err != nil {
		return err
	}
	s.table("files", "diff MiB", "floor s", "review s", "floor peak MiB", "review peak MiB", "peak / floor",
		"peak / diff")
	var before float64 // seconds
	for i, n := range sizes {
		floor, ours, mib, err := s.measureLarge(ctx, product, n)
		if err != nil {
			return err
		}
		s.row(n, mib, floor[0], ours[0], floor[1], ours[1], formatRatio(ours[1]/floor[1]), formatRatio(ours[1]/mib))
		if i == len(sizes)-1 {
			s.note("memory: peak / floor", ours[1]/floor[1])
			s.note("memory: peak / diff", ours[1]/mib)
			s.growth("memory", ours[0], before, sizes)
		}
		before = ours[0]
	}
	return nil
}

func (s *suite) measureLarge(ctx context.Context, product string,
	n int) (floor, ours []float64, mib float64, err error) {
	path := filepath.Join(s.scratch, strconv.Itoa(n)+".diff")
	size, err := writeDiff(path, n)
	if err != nil {
		return nil, nil, 0, err
	}
	got, err := s.inTurn(
		side{fmt.Sprintf("floor at %d", n), func() ([]float64, error) {
			return s.watchProcess(ctx, s.program, "hold", path)
		}},
		side{fmt.Sprintf("review at %d", n), func() ([]float64, error) { return s.timeReview(ctx, product, path) }})
	if err != nil {
		return nil, nil, 0, err
	}
	return got[0], got[1], float64(size) / (1 << 20), nil
}

func (s *suite) timeReview(ctx context.Context, product, path string) ([]float64, error) {
	store, err := os.MkdirTemp(s.scratch, "store-")
	if err != nil {
		return nil, err
	}
	figures, err := s.watchProcess(ctx, product, "review", path, "--json", "--quiet", "--no-input",
		"--provider", "offline", "--store", store)
	return figures, errors.Join(err, os.RemoveAll(store))
}

// watchProcess returns the seconds of a program and its peak in MiB. It runs it from an
// intermediate process, because a parent's memory counts towards its child's peak.
func (s *suite) watchProcess(ctx context.Context, command ...string) ([]float64, error) {
	l, _, err := runProcess(ctx, s.program, append([]string{"watch"}, command...)...)
	return []float64{l.Seconds, float64(l.Peak) / (1 << 10)}, err
}

const emptyProgram = "package main\n\nfunc main() {}\n"

// product builds the real program as the Dockerfile does, once.
func (s *suite) product(ctx context.Context) (string, error) {
	at := filepath.Join(s.scratch, "pr-review")
	if _, err := os.Stat(at); err == nil {
		return at, nil
	}
	root, err := output(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}"))
	if err != nil {
		return "", err
	}
	flags, err := imageFlags(root)
	if err != nil {
		return "", err
	}
	return at, s.build(ctx, root, at, ".", flags)
}

// imageFlags returns the Dockerfile's build tags, with the grammars filled in, and its -gcflags.
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

func (s *suite) floor(ctx context.Context) (string, error) {
	dir := filepath.Join(s.scratch, "floor")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(emptyProgram), 0o600); err != nil {
		return "", err
	}
	at := filepath.Join(dir, "nothing")
	return at, s.build(ctx, dir, at, "main.go", nil)
}

func (s *suite) build(ctx context.Context, dir, to, what string, flags []string) error {
	arguments := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -funcalign=1"}, flags...)
	command := exec.CommandContext(ctx, s.compiler, append(arguments, "-o", to, what)...)
	command.Dir, command.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	_, err := output(command)
	return err
}

// start times the start of the program, and of a program that does nothing.
func (s *suite) start(ctx context.Context, _ []int) error {
	product, err := s.product(ctx)
	if err != nil {
		return err
	}
	floor, err := s.floor(ctx)
	if err != nil {
		return err
	}
	got, err := s.inTurn(
		side{"nothing", func() ([]float64, error) { return timeCommand(exec.CommandContext(ctx, floor)) }},
		side{"version", func() ([]float64, error) { return timeCommand(exec.CommandContext(ctx, product, "version")) }},
		side{"demo", func() ([]float64, error) { return s.demo(ctx, product) }})
	if err != nil {
		return err
	}
	s.table("", "nothing ms", "product ms", "product / nothing")
	s.addStart("version", "`version`, to its end", got[0], got[1])
	s.addStart("demo", "`review demo`, to its first byte", got[0], got[2])
	return nil
}

func (s *suite) addStart(name, label string, floor, ours []float64) {
	s.row(label, floor[0]*1e3, ours[0]*1e3, formatRatio(ours[0]/floor[0]))
	s.note("start: "+name+" / floor", ours[0]/floor[0])
}

func timeCommand(command *exec.Cmd) ([]float64, error) {
	began := time.Now()
	_, err := output(command)
	return []float64{time.Since(began).Seconds()}, err
}

func (s *suite) demo(ctx context.Context, product string) ([]float64, error) {
	store, err := os.MkdirTemp(s.scratch, "store-")
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, product, "review", "demo", "--no-input", "--provider", "offline", "--store",
		store)
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := command.Start(); err != nil {
		return nil, err
	}
	_, err = io.ReadFull(out, make([]byte, 1))
	took := time.Since(began).Seconds()
	_, rest := io.Copy(io.Discard, out)
	return []float64{took}, errors.Join(err, rest, command.Wait(), os.RemoveAll(store))
}
