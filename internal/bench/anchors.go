package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/diff"
)

// anchors indexes patches and checks every line that a comment may stand on. The
// floor goes through the same bytes from one line end to the next.
func (s *suite) anchors(_ context.Context, sizes []int) error {
	s.table("patches", "MiB", "checks", "scan ms", "anchors ms", "anchors / scan", "million checks a second")
	for i, n := range sizes {
		patches := make([]patched, n)
		bytes, checks := 0, 0
		for k := range patches {
			patches[k] = newPatched(k)
			bytes += len(patches[k].patch)
			checks += len(patches[k].right) + len(patches[k].left)
		}
		got, err := s.inTurn(
			side{"scan", func() ([]float64, error) { return timed(passes, func() error { return scan(patches) }) }},
			side{"anchors", func() ([]float64, error) { return timed(1, func() error { return check(patches) }) }})
		if err != nil {
			return err
		}
		floor, ours := got[0][0], got[1][0]
		s.row(n, float64(bytes)/(1<<20), checks, floor*1e3, ours*1e3, times(ours/floor), float64(checks)/ours/1e6)
		if i == len(sizes)-1 {
			s.note("anchors: time / scan", ours/floor)
		}
	}
	return nil
}

func scan(patches []patched) error {
	lines := 0
	for _, p := range patches {
		rest := p.patch
		for at := strings.IndexByte(rest, '\n'); at >= 0; at = strings.IndexByte(rest, '\n') {
			rest = rest[at+1:]
			lines++
		}
	}
	if lines < len(patches) { // looked at, so that the scan is not left out
		return fmt.Errorf("%d lines in %d patches", lines, len(patches))
	}
	return nil
}

func check(patches []patched) error {
	for _, p := range patches {
		anchors, err := diff.NewAnchors(p.patch)
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		for _, line := range p.right {
			if !anchors.Admit("RIGHT", line, line) {
				return fmt.Errorf("%s: line %d is not in the diff", p.path, line)
			}
		}
		for _, line := range p.left {
			if !anchors.Admit("LEFT", line, line) {
				return fmt.Errorf("%s: old line %d is not in the diff", p.path, line)
			}
		}
	}
	return nil
}

// passes of the floor make it last about as long as what it stands beside: a busy
// machine takes nothing from a few milliseconds, and much from many.
const passes = 25

// timed gives the seconds that f takes, the mean of so many times. What was left
// over by the side before is collected first.
func timed(times int, f func() error) ([]float64, error) {
	runtime.GC()
	began := time.Now()
	for range times {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return []float64{time.Since(began).Seconds() / float64(times)}, nil
}
