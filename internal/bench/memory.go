package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// memory reviews a large diff with the real program and its rules. The floor is
// a process that reads the diff and holds its bytes.
func (s *suite) memory(ctx context.Context, sizes []int) error {
	product, err := s.product(ctx)
	if err != nil {
		return err
	}
	s.table("files", "diff MiB", "floor s", "review s", "floor peak MiB", "review peak MiB", "peak / floor",
		"peak / diff")
	var before float64 // seconds
	for i, n := range sizes {
		floor, ours, mib, err := s.large(ctx, product, n)
		if err != nil {
			return err
		}
		s.row(n, mib, floor[0], ours[0], floor[1], ours[1], times(ours[1]/floor[1]), times(ours[1]/mib))
		if i == len(sizes)-1 {
			s.note("memory: peak / floor", ours[1]/floor[1])
			s.note("memory: peak / diff", ours[1]/mib)
			s.growth("memory", ours[0], before, sizes)
		}
		before = ours[0]
	}
	return nil
}

func (s *suite) large(ctx context.Context, product string, n int) (floor, ours []float64, mib float64, err error) {
	path := filepath.Join(s.scratch, strconv.Itoa(n)+".diff")
	size, err := writeDiff(path, n)
	if err != nil {
		return nil, nil, 0, err
	}
	got, err := s.inTurn(
		side{fmt.Sprintf("floor at %d", n), func() ([]float64, error) {
			return s.watched(ctx, s.program, "hold", path)
		}},
		side{fmt.Sprintf("review at %d", n), func() ([]float64, error) { return s.reviewed(ctx, product, path) }})
	if err != nil {
		return nil, nil, 0, err
	}
	return got[0], got[1], float64(size) / (1 << 20), nil
}

func (s *suite) reviewed(ctx context.Context, product, path string) ([]float64, error) {
	store, err := os.MkdirTemp(s.scratch, "store-")
	if err != nil {
		return nil, err
	}
	figures, err := s.watched(ctx, product, "review", path, "--json", "--quiet", "--no-input", "--provider", "offline",
		"--store", store)
	return figures, errors.Join(err, os.RemoveAll(store))
}

// watched gives the seconds of a program and its peak in MiB, from a process
// between: what a parent holds in memory counts for its child.
func (s *suite) watched(ctx context.Context, command ...string) ([]float64, error) {
	l, _, err := process(ctx, s.program, append([]string{"watch"}, command...)...)
	return []float64{l.Seconds, float64(l.Peak) / (1 << 10)}, err
}
