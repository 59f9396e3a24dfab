package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// start times the plain program, then the image, beside a program that does nothing and an image of it.
func (s *suite) start(ctx context.Context, _ []int) error {
	product, err := s.product(ctx)
	if err != nil {
		return err
	}
	floor, err := s.floor(ctx, runtime.GOOS)
	if err != nil {
		return err
	}
	got, err := s.inTurn(
		side{"nothing", func() ([]float64, error) { return whole(exec.CommandContext(ctx, floor)) }},
		side{"version", func() ([]float64, error) { return whole(exec.CommandContext(ctx, product, "version")) }},
		side{"demo", func() ([]float64, error) { return s.demo(ctx, product) }})
	if err != nil {
		return err
	}
	s.table("", "nothing ms", "product ms", "product / nothing")
	s.started("version", "`version`, to its end", got[0], got[1])
	s.started("demo", "`review demo`, to its first byte", got[0], got[2])
	return s.containers(ctx)
}

func (s *suite) started(name, label string, floor, ours []float64) {
	s.row(label, floor[0]*1e3, ours[0]*1e3, times(ours[0]/floor[0]))
	s.note("start: "+name+" / floor", ours[0]/floor[0])
}

// whole gives the seconds from a command's start to its end.
func whole(command *exec.Cmd) ([]float64, error) {
	began := time.Now()
	_, err := output(command)
	return []float64{time.Since(began).Seconds()}, err
}

// demo gives the seconds to the first byte of the demo's review.
func (s *suite) demo(ctx context.Context, product string) ([]float64, error) {
	store, err := os.MkdirTemp(s.scratch, "store-")
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, product, "review", "demo", "--no-input", "--provider", "offline", "--store",
		store)
	first := &firstByte{}
	command.Stdout = first
	began := time.Now()
	if err := command.Run(); err != nil {
		return nil, err
	}
	if first.at.IsZero() {
		return nil, errors.New("the demo printed nothing")
	}
	return []float64{first.at.Sub(began).Seconds()}, os.RemoveAll(store)
}

// firstByte is when it was first written to.
type firstByte struct{ at time.Time }

func (f *firstByte) Write(p []byte) (int, error) {
	if f.at.IsZero() {
		f.at = time.Now()
	}
	return len(p), nil
}

// containers times docker run, of both images in turn.
func (s *suite) containers(ctx context.Context) error {
	version := s.engine(ctx)
	if version == "" {
		return nil
	}
	if err := errors.Join(s.buildImage(ctx), s.buildFloor(ctx)); err != nil {
		return err
	}
	floor, ours := s.container(ctx, floorImage), s.container(ctx, productImage, "version")
	warm, err := s.inTurn(side{"nothing, warm", floor}, side{"product, warm", ours})
	if err != nil {
		return err
	}
	s.started("container, warm", "`docker run … version`, warm", warm[0], warm[1])
	cold, err := s.inTurn(side{"nothing, cold", s.reloaded(ctx, floorImage, floor)},
		side{"product, cold", s.reloaded(ctx, productImage, ours)})
	if err != nil {
		return err
	}
	s.started("container, cold", "`docker run … version`, cold", cold[0], cold[1])
	fmt.Fprintf(s.out, "\nDocker Engine %s. Cold is the first run after the image was loaded, with the page "+
		"cache %s.\n", version, s.cache)
	return nil
}

func (s *suite) container(ctx context.Context, image string, args ...string) func() ([]float64, error) {
	return func() ([]float64, error) {
		return whole(exec.CommandContext(ctx, s.docker,
			append([]string{"run", "--rm", "--network", "none", image}, args...)...))
	}
}

// reloaded takes the image away, loads it again and drops what is cached of any file, and then runs it.
func (s *suite) reloaded(ctx context.Context, image string, run func() ([]float64, error)) func() ([]float64, error) {
	archive := filepath.Join(s.scratch, "image.tar")
	return func() ([]float64, error) {
		for _, args := range [][]string{{"image", "save", "--output", archive, image}, {"image", "rm", image},
			{"image", "load", "--input", archive}} {
			if _, err := s.call(ctx, args...); err != nil {
				return nil, err
			}
		}
		s.cache = s.dropCaches(ctx)
		return run()
	}
}

// dropCaches asks the kernel to forget what it read, and says whether it did.
// Only what is on disk can be forgotten, hence sync.
func (s *suite) dropCaches(ctx context.Context) string {
	_, err := output(exec.CommandContext(ctx, "sync"))
	if err == nil {
		err = os.WriteFile(s.caches, []byte("3\n"), 0o200)
	}
	if err != nil {
		return "as it was (it may not be dropped here)"
	}
	return "dropped"
}
