package main

import (
	"fmt"
	"slices"
)

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
