package aggregate

import (
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// earlierFinding is an earlier finding, and whether a finding matches it.
type earlierFinding struct {
	*finding.Earlier
	claim   wording
	matched bool
}

// recognition matches findings to earlier ones.
type recognition struct {
	all     []*entry
	earlier []*earlierFinding
	files   map[string]diff.File
	read    map[string]bool // files that were reviewed in full
	lines   map[place]map[string]int
	byPath  map[string][]*earlierFinding // earlier findings, posted ones before dropped ones
	byPrint map[string][]*earlierFinding // the same, by fingerprint
}

type place struct {
	path string
	side finding.Side
}

func newRecognition(all []*entry, files map[string]diff.File, reviews []finding.FileReview,
	earlier []finding.Earlier) *recognition {
	r := &recognition{all: all, files: files, read: map[string]bool{}, lines: map[place]map[string]int{},
		byPath: map[string][]*earlierFinding{}, byPrint: map[string][]*earlierFinding{}}
	for _, review := range reviews {
		r.read[review.Path] = review.State == finding.Reviewed
	}
	for i := range earlier {
		e := &earlierFinding{Earlier: &earlier[i], claim: wordingOf(earlier[i].Title, earlier[i].Quote)}
		if e.Now = ""; e.Announced {
			e.Now = finding.Resolved
		}
		r.earlier = append(r.earlier, e)
	}
	for _, fate := range []finding.Fate{finding.WasPosted, finding.WasDropped} {
		for _, e := range r.earlier {
			if e.Fate != fate {
				continue
			}
			r.byPath[e.Path] = append(r.byPath[e.Path], e)
			r.byPrint[e.Fingerprint] = append(r.byPrint[e.Fingerprint], e)
			if place := finding.Placed(e.Finding(), e.Severity); fate == finding.WasDropped {
				r.byPrint[place] = append(r.byPrint[place], e)
			}
		}
	}
	gone := r.gonePaths()
	for _, f := range all {
		f.claim, f.paths = wordingOf(f.Title, f.Quote), r.pathsOf(f.Path, gone)
	}
	return r
}

// maxGone is the number of files that left the change, or that it removes, and are looked up under another name.
const maxGone = 50

func (r *recognition) gonePaths() []string {
	var gone []string
	for path := range r.byPath {
		if _, here := r.files[path]; !here && path != "" {
			gone = append(gone, path)
		}
	}
	for path, f := range r.files {
		if f.Status == diff.Removed {
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	return gone[:min(len(gone), maxGone)]
}

// pathsOf returns a file's current path, the path that it was renamed from, and, if the change adds or renames it, the
// paths that have left the change. The current path is first.
func (r *recognition) pathsOf(path string, gone []string) []string {
	paths := []string{path}
	file := r.files[path]
	if file.Status == diff.Renamed && file.OldPath != "" {
		paths = append(paths, file.OldPath)
	}
	if file.Status == diff.Renamed || file.Status == diff.Added {
		paths = append(paths, gone...)
	}
	return paths
}

// linesOf counts the lines of one side of a file's diff by their text; nil if the patch does not parse.
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
			if on(l, side) {
				lines[foldLine(l.Text)]++
			}
		}
	}
	r.lines[at] = lines
	return lines
}

// maxAbout is the number of lines of a finding's range that are considered.
const maxAbout = 20

// aboutLines returns the lines that a finding is about: the one it quotes, and those of its range.
func (r *recognition) aboutLines(f *entry) []string {
	anchors, _ := r.files[f.Path].Anchors() // a patch that does not parse shows no lines
	all := []string{f.claim.quote}
	for line := f.Line; line >= f.StartLine && line > f.Line-maxAbout; line-- {
		if text, ok := anchors.Text(string(f.Side), line); ok {
			all = append(all, foldLine(text))
		}
	}
	return all
}
