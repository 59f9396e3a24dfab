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

// line is a line of the head that the diff shows.
type line struct {
	text  string
	added bool
}

// shownLines returns the lines on which results may be, by file and number.
func shownLines(files []diff.File) map[string]map[int]line {
	all := map[string]map[int]line{}
	for _, f := range files {
		hunks, err := f.Hunks()
		if err != nil || diff.CheckPath(f.Path) != nil {
			continue // the review reports it as failed
		}
		lines := map[int]line{}
		for _, h := range hunks {
			for _, l := range h.Lines {
				if l.Op != diff.Delete {
					lines[l.New] = line{strings.TrimSpace(l.Text), l.Op == diff.Add}
				}
			}
		}
		all[f.Path] = lines
	}
	return all
}

// findFile returns the longest changed path that a path ends with.
func (r *Reader) findFile(raw string) (string, bool) {
	plain, _ := url.PathUnescape(raw) // empty, which matches no file, if raw is not a URI
	for _, whole := range []string{cleanPath(raw), cleanPath(plain)} {
		for rest, more := whole, true; more; _, rest, more = strings.Cut(rest, "/") {
			if _, ok := r.lines[rest]; ok {
				return rest, true
			}
		}
	}
	return "", false
}

// maxPath is the maximum length of a path in bytes: checking all its suffixes takes quadratic time.
const maxPath = 2000

// cleanPath returns a path or file URI of any system with slashes, and with . and .. resolved
// as far as possible.
func cleanPath(raw string) string {
	if len(raw) > maxPath {
		return ""
	}
	raw = strings.TrimPrefix(strings.ReplaceAll(raw, `\`, "/"), "file:")
	return path.Clean(raw)
}

// hidden matches what tools put in place of a credential.
var hidden = pattern.Lazy(`(?i)^(?:redacted|[*x.…]+)$`)

// addedLine returns the added line that a result is about. The linter's snippet is compared with the head: if the
// linter ran on a merge, whose line numbers differ, the result moves to the only line that contains the snippet.
func (r *Reader) addedLine(file string, s Result) (int, bool) {
	lines, at := r.lines[file], s.Line
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

// maxSearches is the number of times a file may be searched for a line.
const maxSearches = 2000

// maxRange is the number of lines that a result may extend beyond its first.
const maxRange = 20

// snippet returns the first line of what a linter saw, or "" if that does not distinguish lines.
func snippet(r Result) string {
	first, _, _ := strings.Cut(strings.TrimSpace(r.Snippet), "\n")
	if first = strings.TrimSpace(first); len(first) < 3 || hidden().MatchString(first) {
		return ""
	}
	return first
}

// add turns a result into a finding if it is about a line that the change adds, and counts it otherwise.
func (r *Reader) add(s Result) {
	file, changed := r.findFile(s.Path)
	at, ok := r.addedLine(file, s)
	switch {
	case s.Path == "" || s.Line < 1:
		r.Left.Unreadable++
		return
	case !changed:
		r.Left.Outside++
		return
	case !ok:
		r.Left.Elsewhere++
		return
	}
	s.clean()
	key := strings.Join([]string{file, strconv.Itoa(at), strings.ToLower(s.Tool), s.Rule, s.Message}, "\x00")
	switch {
	case s.Message == "" && s.Rule == "":
		r.Left.Unreadable++
	case r.seen[key]: // the same results in two formats, or from a matrix of jobs
	case len(r.Findings) >= maxResults:
		r.Left.Beyond++
	default:
		r.seen[key] = true
		r.Findings = append(r.Findings, r.finding(file, at, s))
	}
}

func (r *Reader) finding(file string, at int, s Result) finding.Finding {
	title, body := splitTitle(cmp.Or(s.Message, s.Rule))
	return finding.Finding{
		Path: file, Side: finding.Right, StartLine: at, Line: at, Severity: s.Severity, Category: finding.Lint,
		Confidence: confidence, Title: title, Body: body, Placement: finding.Inline, Source: finding.Linter,
		Rule: s.Rule, Origin: &finding.Origin{Tool: s.Tool, Help: s.Help, From: r.From},
	}
}

// confidence is that of a linter's finding: high enough to be shown.
const confidence = 0.8
