package aggregate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/githubtest"
)

// change is a random one: as our side reads it, as GitHub lists it, and what may
// be commented on by construction.
type change struct {
	files  []diff.File
	listed []githubtest.File
	lines  map[string]map[finding.Side]map[int]int // path, side and line, to the hunk's number
}

// may reports whether a comment may be there. It reads no patch.
func (c change) may(f finding.Finding) bool {
	at := c.lines[f.Path][f.Side]
	start := f.StartLine
	if start == 0 {
		start = f.Line
	}
	return start <= f.Line && at[start] > 0 && at[start] == at[f.Line]
}

// code holds lines that look like what a patch is made of.
var code = []string{
	"", "\treturn nil", "x := 1", "-- a", "++ b", "@@ -1 +1 @@", `\ No newline at end of file`, "diff --git a/a b/b",
	" ", "日本", "a\rb", "+", "}",
}

func randomChange(r *rand.Rand) change {
	c := change{lines: map[string]map[finding.Side]map[int]int{}}
	for i := range 1 + r.IntN(3) {
		w := &patchWriter{Rand: r, lines: map[finding.Side]map[int]int{finding.Right: {}, finding.Left: {}}}
		f := diff.File{Path: fmt.Sprintf("dir %d/é.go", i), Status: diff.Modified}
		switch r.IntN(8) {
		case 0:
			f.Status, f.OldPath = diff.Renamed, "old.go"
		case 1:
			f.Status, w.only = diff.Added, diff.Add
		case 2:
			f.Status, w.only = diff.Removed, diff.Delete
		}
		f.Patch = w.patch()
		f.Additions, f.Deletions = w.added, w.deleted
		listed := githubtest.File{Path: f.Path, OldPath: f.OldPath, Status: string(f.Status), Additions: f.Additions,
			Deletions: f.Deletions, Patch: f.Patch}
		c.lines[f.Path] = w.lines
		if r.IntN(8) == 0 { // GitHub leaves the patch out, and ours is made from the file's versions
			f.Blob, listed.Patch, c.lines[f.Path] = "b10b", "", nil
		}
		c.files, c.listed = append(c.files, f), append(c.listed, listed)
	}
	return c
}

// patchWriter writes a random patch as git would.
type patchWriter struct {
	*rand.Rand
	only           diff.Op // of every line; 0 for all kinds
	lines          map[finding.Side]map[int]int
	added, deleted int
}

func (w *patchWriter) patch() string {
	old, new := 1, 1
	ending, hunks := []string{"", "\r"}[w.IntN(2)], 1
	if w.only == 0 {
		hunks += w.IntN(4)
	}
	var b strings.Builder
	for n := 1; n <= hunks; n++ {
		if w.only == 0 {
			gap := w.IntN(12)
			old, new = old+gap, new+gap
		}
		ops := w.ops()
		body, oldLines, newLines := w.hunk(ops, n, old, new, ending, n == hunks)
		fmt.Fprintf(&b, "@@ -%s +%s @@%s\n%s", w.span(old, oldLines), w.span(new, newLines),
			[]string{"", " func f() {", " @@ -9 +9 @@", " x\r", "  "}[w.IntN(5)], body)
		old, new = old+oldLines, new+newLines
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ops are the kinds of a hunk's lines: changes in up to three lines of context.
func (w *patchWriter) ops() (ops []diff.Op) {
	context := func() {
		for range w.IntN(4) {
			ops = append(ops, diff.Context)
		}
	}
	if w.only != 0 {
		for range 1 + w.IntN(8) {
			ops = append(ops, w.only)
		}
		return ops
	}
	context()
	for range 1 + w.IntN(3) {
		for range w.IntN(3) {
			ops = append(ops, diff.Delete)
		}
		for range w.IntN(3) {
			ops = append(ops, diff.Add)
		}
		context()
	}
	return append(ops, diff.Add)
}

func (w *patchWriter) hunk(ops []diff.Op, n, old, new int, ending string,
	last bool) (body string, oldLines, newLines int) {
	var b strings.Builder
	for i, op := range ops {
		b.WriteString(string(op) + code[w.IntN(len(code))] + ending + "\n")
		if op != diff.Add {
			oldLines++
		}
		if op != diff.Delete {
			w.lines[finding.Right][new+newLines] = n
			newLines++
		}
		switch op {
		case diff.Delete:
			w.lines[finding.Left][old+oldLines-1] = n
			w.deleted++
		case diff.Add:
			w.added++
		}
		end := i == len(ops)-1
		if last && w.IntN(2) == 0 && (end || op == diff.Delete && i == len(ops)-2) {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
	return b.String(), oldLines, newLines
}

// span writes one side of a hunk's header: a count of one may be left out, and a
// side without lines names the line before.
func (w *patchWriter) span(start, lines int) string {
	switch {
	case lines == 0:
		return fmt.Sprintf("%d,0", start-1)
	case lines == 1 && w.IntN(2) == 0:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// randomFindings are claims about a change, many of them on lines that it has.
func randomFindings(r *rand.Rand, c change) (flags []finding.Finding, reviews []finding.FileReview) {
	reviews = []finding.FileReview{{Path: "nowhere.go"}, {Path: "old.go"}}
	for _, f := range c.files {
		reviews = append(reviews, finding.FileReview{Path: f.Path, State: finding.Reviewed})
	}
	for range 1 + r.IntN(10) {
		review := &reviews[r.IntN(2)]
		if r.IntN(8) > 0 {
			review = &reviews[2+r.IntN(len(c.files))]
		}
		side := []finding.Side{"RIGHT", "RIGHT", "RIGHT", "RIGHT", "LEFT", "LEFT", "", "right"}[r.IntN(8)]
		line := r.IntN(40)
		for try := r.IntN(50); try > 0 && c.lines[review.Path][side][line] == 0; try-- {
			line = r.IntN(40)
		}
		f := finding.Finding{
			Path: review.Path, Side: side, StartLine: max(0, line-r.IntN(3)*r.IntN(3)+r.IntN(8)/7), Line: line,
			Severity: finding.Severities()[r.IntN(4)], Confidence: float64(3+r.IntN(7)) / 9,
			Title: fmt.Sprintf("Claim %d", r.IntN(30)), Body: "Because.",
			Suggestion: []string{"", "", "x := 2", "\treturn nil", "a\nb\n"}[r.IntN(5)], Source: finding.Model,
		}
		if r.IntN(6) == 0 {
			f.Source, flags = finding.Rule, append(flags, f)
			continue
		}
		review.Findings = append(review.Findings, f)
	}
	return flags, reviews
}
