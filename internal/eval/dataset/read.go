package dataset

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The bounds of what is read.
const (
	MaxFile  = 64 << 20 // bytes of a file of cases
	MaxDiff  = 1 << 20  // bytes of a diff
	MaxCases = 20_000   // of all files together
	MaxDiffs = 1 << 30  // bytes of all diffs and trees together; many cases can name one file

	// maxLine fits a diff of MaxDiff bytes each of which JSON escapes as \u00xx.
	maxLine = 8 << 20
)

// Read reads files of cases, one JSON object a line; empty lines are passed over.
// The names "starter" and "tickets" stand for the embedded sets (./starter for a file
// of that name). A diff stands in its line, or in a file whose path, relative to the
// folder of the file of cases and never outside it, is the value of diff_file.
//
// An id has 1 to 200 bytes of visible ASCII, no slash and no backslash, so that a
// file or a folder can bear it. Everything of all files is checked first, and the
// error is a *Problems that lists all that is wrong.
func Read(paths ...string) ([]Case, error) {
	return ReadWith(nil, paths...)
}

// ReadWith reads files of cases as Read does, and asks of each case in which nothing
// else is wrong what is: a reason, or "". A nil function finds nothing.
func ReadWith(also func(Case) (reason string), paths ...string) ([]Case, error) {
	r := reader{room: MaxDiffs, seen: map[string]string{}, also: also}
	for _, name := range paths {
		if Embedded(name) {
			r.set(name)
		} else {
			r.file(name)
		}
	}
	if len(r.problems) > 0 {
		return nil, sorted(r.problems)
	}
	return r.cases, nil
}

// reader gathers the cases and problems of all files.
type reader struct {
	cases    []Case
	problems []Problem
	lines    int               // that hold a case
	room     int               // bytes of diffs that may still come
	seen     map[string]string // id to the file and line that had it first
	also     func(Case) string // what else is wrong with a case; nil for nothing
}

// source is one file of cases; diff files are read from its folder.
type source struct {
	name   string
	folder fs.FS
}

func (r *reader) file(name string) {
	text, err := readFile(name)
	if err != nil {
		r.unreadable(name, err)
		return
	}
	root, err := os.OpenRoot(filepath.Dir(name)) // follows no link out of the folder
	if err != nil {
		r.unreadable(name, err)
		return
	}
	defer root.Close()
	r.text(source{name, root.FS()}, text)
}

func (r *reader) unreadable(file string, err error) {
	r.add(file, 1, "-", "the file cannot be read: "+cause(err))
}

func (r *reader) add(file string, line int, id, reason string) {
	r.problems = append(r.problems, Problem{file, line, id, reason})
}

func (r *reader) text(s source, text []byte) {
	line, before := 0, r.lines
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as some editors write
	for row := range bytes.Lines(text) {
		line++
		if row = bytes.TrimSpace(row); len(row) == 0 {
			continue
		}
		if r.lines++; r.lines > MaxCases || r.room < 0 {
			r.add(s.name, line, "-", fmt.Sprintf("more than %d cases, or than %d bytes of diffs and trees; no further "+
				"ones were read", MaxCases, MaxDiffs))
			return
		}
		r.line(s, line, row)
	}
	if r.lines == before {
		r.add(s.name, 1, "-", "the file holds no case")
	}
}

// line reads a case, and keeps it where nothing is wrong with it.
func (r *reader) line(s source, line int, row []byte) {
	if len(row) > maxLine {
		r.add(s.name, line, "-", fmt.Sprintf("the line is longer than %d bytes", maxLine))
		return
	}
	c, id, reasons := decode(row, s.folder)
	if first, twice := r.seen[id]; twice {
		reasons = append(reasons, "the id stands in "+first+" already; give each case its own")
	} else if id != "-" {
		r.seen[id] = fmt.Sprintf("%s:%d", s.name, line)
	}
	if len(reasons) == 0 && r.also != nil {
		if reason := r.also(c); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	for _, reason := range reasons {
		r.add(s.name, line, id, reason)
	}
	if len(reasons) == 0 {
		r.cases, r.room = append(r.cases, c), r.room-len(c.Diff)-c.treeSize()
	}
}
