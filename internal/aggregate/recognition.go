package aggregate

import (
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// recognition holds findings against earlier ones. Everything in it but used and
// met is made once.
type recognition struct {
	all     []finding.Finding
	earlier []finding.Earlier
	used    []bool // of the earlier ones
	met     []int  // of the findings: the earlier one, or -1
	claims  []claimed
	before  []claimed  // claims of the earlier ones
	prints  [][]string // of the findings: their fingerprints under every path that their file may have had
	files   map[string]diff.File
	read    map[string]bool // files that were read in full
	lines   map[place]map[string]int
	byPath  map[string][]int // earlier findings, what was posted before what was dropped
	byPrint map[string][]int // the same by fingerprint
}

type place struct {
	path string
	side finding.Side
}

func newRecognition(all []finding.Finding, in Input) *recognition {
	r := &recognition{
		all: all, earlier: slices.Clone(in.Earlier), used: make([]bool, len(in.Earlier)), met: make([]int, len(all)),
		files: map[string]diff.File{}, read: map[string]bool{},
		lines: map[place]map[string]int{}, byPath: map[string][]int{}, byPrint: map[string][]int{},
	}
	for _, f := range in.Files {
		r.files[f.Path] = f.Read()
	}
	for _, review := range in.Reviews {
		r.read[review.Path] = review.State == finding.Reviewed
	}
	for _, fate := range []finding.Fate{finding.WasPosted, finding.WasDropped} {
		for i, e := range r.earlier {
			if e.Fate == fate {
				r.byPath[e.Path] = append(r.byPath[e.Path], i)
				r.byPrint[e.Fingerprint] = append(r.byPrint[e.Fingerprint], i)
			}
		}
	}
	for i, e := range r.earlier {
		r.earlier[i].Now = ""
		if e.Announced {
			r.earlier[i].Now = finding.Resolved
		}
		r.before = append(r.before, claimOf(e.Title, e.Quote))
	}
	gone := r.gonePaths()
	for i, f := range all {
		r.met[i] = -1
		r.claims = append(r.claims, claimOf(f.Title, f.Quote))
		r.prints = append(r.prints, r.printsOf(f, gone))
	}
	return r
}

// maxGone bounds the files that left the change and are looked for under another name.
const maxGone = 50

func (r *recognition) gonePaths() []string {
	var gone []string
	for _, path := range slices.Sorted(maps.Keys(r.byPath)) {
		if _, here := r.files[path]; !here && path != "" {
			gone = append(gone, path)
		}
	}
	return gone[:min(len(gone), maxGone)]
}

// printsOf are a finding's fingerprints under its present path, the one that its
// file was renamed from, and, where the change itself made or renamed the file,
// those that earlier heads had and this one has not.
func (r *recognition) printsOf(f finding.Finding, gone []string) []string {
	prints := []string{f.Fingerprint}
	file := r.files[f.Path]
	if file.Status == diff.Renamed && file.OldPath != "" {
		f.Path = file.OldPath
		prints = append(prints, finding.Fingerprint(f))
	}
	if file.Status != diff.Renamed && file.Status != diff.Added {
		return prints
	}
	for _, path := range gone {
		f.Path = path
		prints = append(prints, finding.Fingerprint(f))
	}
	return prints
}

// linesOf counts the lines of one side of a file's diff by their text; nil where
// the patch cannot be read.
func (r *recognition) linesOf(path string, side finding.Side) map[string]int {
	at := place{path, side}
	if lines, made := r.lines[at]; made {
		return lines
	}
	lines := map[string]int{}
	hunks, err := r.files[path].Hunks()
	if err != nil {
		lines = nil
	}
	for _, h := range hunks {
		for _, l := range h.Lines {
			if side == finding.Right && l.Op != diff.Delete || side == finding.Left && l.Op == diff.Delete {
				lines[folded(l.Text)]++
			}
		}
	}
	r.lines[at] = lines
	return lines
}

// maxAbout is how many lines of a finding's range are looked at.
const maxAbout = 20

// about are the lines that a finding is about: the one it quotes, and those it
// stands on.
func (r *recognition) about(f int) []string {
	found := r.all[f]
	anchors, _ := r.files[found.Path].Anchors() // a patch that cannot be read shows no lines
	all := []string{r.claims[f].quote}
	for line := found.Line; line >= found.StartLine && line > found.Line-maxAbout; line-- {
		if text, ok := anchors.Text(string(found.Side), line); ok {
			all = append(all, folded(text))
		}
	}
	return all
}
