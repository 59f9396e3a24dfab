package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// start times the program beside one that does nothing.
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
		side{"nothing", func() ([]float64, error) { return whole(exec.CommandContext(ctx, floor)) }},
		side{"version", func() ([]float64, error) { return whole(exec.CommandContext(ctx, product, "version")) }},
		side{"demo", func() ([]float64, error) { return s.demo(ctx, product) }})
	if err != nil {
		return err
	}
	s.table("", "nothing ms", "product ms", "product / nothing")
	s.started("version", "`version`, to its end", got[0], got[1])
	s.started("demo", "`review demo`, to its first byte", got[0], got[2])
	return nil
}

func (s *suite) started(name, label string, floor, ours []float64) {
	s.row(label, floor[0]*1e3, ours[0]*1e3, times(ours[0]/floor[0]))
	s.note("start: "+name+" / floor", ours[0]/floor[0])
}

func whole(command *exec.Cmd) ([]float64, error) {
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
