package linter

import (
	"cmp"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// change is where results may be: the lines of the head that the diff shows.
type change struct {
	files map[string]map[int]line // by path and number
	names map[string]bool         // of the files, without folder
}

type line struct {
	text  string
	added bool
}

func newChange(files []diff.File) change {
	c := change{files: map[string]map[int]line{}, names: map[string]bool{}}
	for _, f := range files {
		hunks, err := f.Hunks()
		if err != nil || diff.CheckPath(f.Path) != nil {
			continue // it is reported as failed
		}
		lines := map[int]line{}
		for _, h := range hunks {
			for _, l := range h.Lines {
				if l.Op != diff.Delete {
					lines[l.New] = line{strings.TrimSpace(l.Text), l.Op == diff.Add}
				}
			}
		}
		c.files[f.Path], c.names[path.Base(f.Path)] = lines, true
	}
	return c
}

// named reports whether a path ends with the name of a changed file.
func (c change) named(raw string) bool {
	return c.names[path.Base(cleaned(raw))] || c.names[path.Base(cleaned(unescaped(raw)))]
}

// file is the changed file that a path ends with, the longest one.
func (c change) file(raw string) (string, bool) {
	for _, whole := range []string{cleaned(raw), cleaned(unescaped(raw))} {
		for rest, more := whole, true; more; _, rest, more = strings.Cut(rest, "/") {
			if _, ok := c.files[rest]; ok {
				return rest, true
			}
		}
	}
	return "", false
}

// maxPath bounds a path, in bytes: looking at each of its ends takes their square.
const maxPath = 2000

// cleaned is a path or file URI of any system as one with slashes, without . and ..
// where these have something to act on.
func cleaned(raw string) string {
	if len(raw) > maxPath {
		return ""
	}
	raw = strings.TrimPrefix(strings.ReplaceAll(raw, `\`, "/"), "file:")
	return path.Clean(raw)
}

// unescaped is a path as it was before it became part of a URI.
func unescaped(raw string) string {
	plain, err := url.PathUnescape(raw)
	if err != nil {
		return raw
	}
	return plain
}

// hidden is what tools put in a credential's place.
var hidden = pattern.Lazy(`(?i)^(?:redacted|[*x.…]+)$`)

// place is the added line that a result is about. What the linter saw there is held against the head: a linter that
// looked at a merge, whose lines have other numbers, is moved to the one line that reads so.
func (r *Reader) place(file string, s Result) (int, bool) {
	lines, at := r.change.files[file], s.Line
	if seen := snippet(s); seen != "" && !strings.Contains(lines[at].text, seen) {
		if r.searches++; r.searches > maxSearches {
			return 0, false
		}
		found := 0
		for n, l := range lines {
			if strings.Contains(l.text, seen) {
				at, found = n, found+1
			}
		}
		if found != 1 {
			return 0, false
		}
	}
	for last := at + min(max(s.End-s.Line, 0), maxRange); at <= last; at++ {
		if lines[at].added {
			return at, true
		}
	}
	return 0, false
}

// maxSearches bounds how often a file is looked through for a line.
const maxSearches = 2000

// maxRange is over how many lines a result may be that is about any of them.
const maxRange = 20

// snippet is the first line of what a linter saw, where it tells one line from another.
func snippet(r Result) string {
	first, _, _ := strings.Cut(strings.TrimSpace(r.Snippet), "\n")
	if first = strings.TrimSpace(first); len(first) < 3 || hidden().MatchString(first) {
		return ""
	}
	return first
}

// add makes a finding of a result, where it is about a line that the change adds, and counts it where it is not.
func (r *Reader) add(s Result) {
	file, changed := r.change.file(s.Path)
	at, ok := r.place(file, s)
	s.clean()
	key := strings.Join([]string{file, strconv.Itoa(at), strings.ToLower(s.Tool), s.Rule, s.Message}, "\x00")
	switch {
	case s.Line < 1 || s.Message == "" && s.Rule == "":
		r.Left.Unreadable++
	case !changed:
		r.Left.Outside++
	case !ok:
		r.Left.Elsewhere++
	case r.seen[key]: // the same file in two formats, or a job of a matrix
	case len(r.Findings) >= maxResults:
		r.Left.Beyond++
	default:
		r.seen[key] = true
		r.Findings = append(r.Findings, r.finding(file, at, s))
	}
}

func (r *Reader) finding(file string, at int, s Result) finding.Finding {
	title, body := parted(cmp.Or(s.Message, s.Rule))
	return finding.Finding{
		Path: file, Side: finding.Right, StartLine: at, Line: at, Severity: s.Severity, Category: Category,
		Confidence: confidence, Title: title, Body: body, Placement: finding.Inline, Source: finding.Linter,
		Rule: s.Rule, Origin: &finding.Origin{Tool: s.Tool, Help: s.Help, From: r.From},
	}
}

// confidence of a linter's finding: high enough to be shown.
const confidence = 0.8
