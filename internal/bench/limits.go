package main

import (
	"errors"
	"fmt"
)

// figure is a measured ratio that has a limit.
type figure struct {
	name  string
	value float64
}

// limit is the most that a figure may come to.
type limit struct {
	figure string
	most   float64
}

// limits is the one table that --check goes by. The figures are of a benchmark's
// largest size. Room is left for a shared machine: BENCHMARKS.md has what was
// measured. "Linear" is time per file, against that of the size before.
func limits() []limit {
	return []limit{
		{"compare: pause / floor", 4},
		{"compare: resume / floor", 3},
		{"compare: checkpoint / floor", 1.3},
		{"compare: peak of pause / floor", 1.5},
		{"compare: peak of resume / floor", 1.5},
		{"compare: time / linear", 2},
		{"fanout: graph / floor", 1.1},
		{"fanout: graph / ideal", 1.2},
		{"anchors: time / scan", 80},
		{"search: memory / grep", 0.5},
		{"memory: peak / floor", 12},
		{"memory: peak / diff", 16},
		{"memory: time / linear", 2},
		{"image: MB", 28}, // as .ci/container has it
		{"image: bytes / program", 1.1},
		{"start: version / floor", 8},
		{"start: demo / floor", 50},
		{"start: container, warm / floor", 2},
		{"start: container, cold / floor", 3},
	}
}

// note keeps a figure for judge.
func (s *suite) note(name string, value float64) {
	s.noted = append(s.noted, figure{name, value})
}

// judge prints the noted figures beside their limits. The error names each that
// missed its own, and each that has none.
func (s *suite) judge() error {
	most := map[string]float64{}
	for _, l := range s.limits {
		most[l.figure] = l.most
	}
	fmt.Fprint(s.out, "\n## Limits\n\n")
	s.table("figure", "measured", "at most")
	var missed []error
	for _, f := range s.noted {
		m, known := most[f.name]
		verdict := short(m)
		if !known || !(f.value <= m) {
			missed = append(missed, fmt.Errorf("limit missed: %s is %s, at most %s", f.name, short(f.value), verdict))
			verdict += ", **missed**"
		}
		s.row(f.name, f.value, verdict)
	}
	return errors.Join(missed...)
}
