package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/diff"
)

// anchors indexes patches and checks every line that a comment may be on. The floor
// scans the same bytes for line ends.
func (s *suite) anchors(_ context.Context, sizes []int) error {
	s.table("patches", "MiB", "checks", "scan ms", "anchors ms", "anchors / scan", "million checks a second")
	for i, n := range sizes {
		patches := make([]syntheticPatch, n)
		bytes, checks := 0, 0
		for k := range patches {
			p := newSyntheticPatch(k)
			var err error
			if p.hunks, err = diff.Hunks(p.patch); err != nil {
				return err
			}
			for _, h := range p.hunks {
				checks += len(h.Lines)
			}
			bytes += len(p.patch)
			patches[k] = p
		}
		got, err := s.inTurn(
			side{"scan", func() ([]float64, error) {
				return meanSeconds(passes, func() error { return scan(patches) })
			}},
			side{"anchors", func() ([]float64, error) {
				return meanSeconds(1, func() error { return check(patches) })
			}})
		if err != nil {
			return err
		}
		floor, ours := got[0][0], got[1][0]
		s.row(n, float64(bytes)/(1<<20), checks, floor*1e3, ours*1e3, formatRatio(ours/floor), float64(checks)/ours/1e6)
		if i == len(sizes)-1 {
			s.note("anchors: time / scan", ours/floor)
		}
	}
	return nil
}

func scan(patches []syntheticPatch) error {
	lines := 0
	for _, p := range patches {
		for range strings.Lines(p.patch) {
			lines++
		}
	}
	if lines < len(patches) { // uses lines, so that the compiler keeps the scan
		return fmt.Errorf("%d lines in %d patches", lines, len(patches))
	}
	return nil
}

func check(patches []syntheticPatch) error {
	for _, p := range patches {
		anchors, err := diff.NewAnchors(p.patch)
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		for _, h := range p.hunks {
			for _, l := range h.Lines {
				side, at := "RIGHT", l.New
				if l.Op == diff.Delete {
					side, at = "LEFT", l.Old
				}
				if !anchors.Admit(side, at, at) {
					return fmt.Errorf("%s: %s line %d is not in the diff", p.path, side, at)
				}
			}
		}
	}
	return nil
}

// passes is how often the floor scans, so that it takes about as long as the anchors:
// a busy machine disturbs a run of a few milliseconds less than a long one.
const passes = 25

// meanSeconds returns the mean seconds that f takes. It first collects the garbage of the previous side.
func meanSeconds(times int, f func() error) ([]float64, error) {
	runtime.GC()
	began := time.Now()
	for range times {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return []float64{time.Since(began).Seconds() / float64(times)}, nil
}

// syntheticPatch is one file of a synthetic diff. A comment may be on any line of its hunks.
type syntheticPatch struct {
	path, patch string
	hunks       []diff.Hunk
}

// hunkWithFinding is a hunk in which a rule finds something. Every tenth file has it.
const hunkWithFinding = "@@ -0,0 +1 @@\n+\tjson.Unmarshal(text, &value)\n"

// newSyntheticPatch makes the i-th file: three hunks of 22 lines, about 4 KB.
func newSyntheticPatch(i int) syntheticPatch {
	text := ""
	if i%10 == 0 {
		text = hunkWithFinding
	}
	s, from, to := newStream(fnv1a(fmt.Sprint("patch:", i))), 10, 10
	for range 3 {
		var body []byte
		before, after := 0, 0
		for range 22 {
			op := " +-"[s.draw()%3]
			if op != '+' {
				before++
			}
			if op != '-' {
				after++
			}
			body = append(s.text(append(body, op), 12), '\n')
		}
		text += fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s", from, before, to, after, body)
		from, to = from+before+100, to+after+100
	}
	return syntheticPatch{path: fmt.Sprintf("src/pkg%02d/file%05d.go", i%17, i), patch: strings.TrimSuffix(text, "\n")}
}

func writeDiff(path string, n int) (size int64, err error) {
	var text bytes.Buffer
	for i := range n {
		p := newSyntheticPatch(i)
		fmt.Fprintf(&text, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n%[2]s\n", p.path, p.patch)
	}
	return int64(text.Len()), os.WriteFile(path, text.Bytes(), 0o600)
}
