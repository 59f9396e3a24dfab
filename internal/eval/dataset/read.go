package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
)

// The bounds for reading.
const (
	MaxFile  = 64 << 20 // bytes of a file of cases
	MaxDiff  = 1 << 20  // bytes of a diff
	MaxCases = 20_000   // in all files together
	MaxDiffs = 1 << 30  // bytes of all diffs and trees together; many cases can name one file

	// maxLine has room for a diff of MaxDiff bytes that JSON all escapes as \u00xx.
	maxLine = 8 << 20
)

// Read reads files of cases, one JSON object per line, or embedded sets by name. A diff is
// inline, or in a file within the folder of the case file. Read checks all files before it
// returns a case; its error is Problems, which lists all that is wrong.
func Read(paths ...string) ([]Case, error) {
	return ReadWith(nil, paths...)
}

// ReadWith is like Read, but also runs the check also on each case in which nothing else
// is wrong. A nil function checks nothing.
func ReadWith(also func(Case) error, paths ...string) ([]Case, error) {
	r := reader{bytesLeft: MaxDiffs, seen: map[string]string{}, also: also}
	for _, name := range paths {
		if Embedded(name) {
			r.addSet(name)
		} else {
			r.addFile(name)
		}
	}
	if len(r.problems) > 0 {
		order.Stable(r.problems, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
		return nil, r.problems
	}
	return r.cases, nil
}

type reader struct {
	cases     []Case
	problems  Problems
	lines     int               // number of lines with a case
	bytesLeft int               // bytes of diffs and trees left of MaxDiffs
	seen      map[string]string // id to the file and line that used it first
	also      func(Case) error  // additional check of a case; may be nil
}

type source struct {
	name   string
	folder fs.FS
}

func (r *reader) addFile(name string) {
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
	r.addText(source{name, root.FS()}, text)
}

func (r *reader) unreadable(file string, err error) {
	r.addProblem(file, 1, "-", "the file cannot be read: "+cause(err))
}

func (r *reader) addProblem(file string, line int, id, reason string) {
	r.problems = append(r.problems, Problem{file, line, id, reason})
}

func (r *reader) addText(s source, text []byte) {
	line, before := 0, r.lines
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors write it
	for row := range bytes.Lines(text) {
		line++
		if row = bytes.TrimSpace(row); len(row) == 0 {
			continue
		}
		if r.lines++; r.lines > MaxCases || r.bytesLeft < 0 {
			r.addProblem(s.name, line, "-", fmt.Sprintf("more than %d cases, or than %d bytes of diffs and trees; no "+
				"further ones were read", MaxCases, MaxDiffs))
			return
		}
		r.addLine(s, line, row)
	}
	if r.lines == before {
		r.addProblem(s.name, 1, "-", "the file contains no case")
	}
}

// addLine parses a case, and keeps it if nothing is wrong with it.
func (r *reader) addLine(s source, line int, row []byte) {
	if len(row) > maxLine {
		r.addProblem(s.name, line, "-", fmt.Sprintf("the line is longer than %d bytes", maxLine))
		return
	}
	c, id, reasons := decode(row, s.folder)
	if first, twice := r.seen[id]; twice {
		reasons = append(reasons, "the id is already used in "+first+"; give each case its own")
	} else if id != "-" {
		r.seen[id] = fmt.Sprintf("%s:%d", s.name, line)
	}
	if len(reasons) == 0 && r.also != nil {
		if err := r.also(c); err != nil {
			reasons = append(reasons, err.Error())
		}
	}
	for _, reason := range reasons {
		r.addProblem(s.name, line, id, reason)
	}
	if len(reasons) == 0 {
		r.cases, r.bytesLeft = append(r.cases, c), r.bytesLeft-len(c.Diff)-c.treeSize()
	}
}

// textOf returns the text of a file in the folder, or the reason why it cannot be read.
// key is the JSON key that names the file.
func textOf(folder fs.FS, key, name string, limit int64) (text, reason string) {
	name = path.Clean(name)
	if !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return "", key + " is not a path within the folder of the file of cases"
	}
	content, err := readText(folder, name, limit)
	switch {
	case err != nil:
		return "", fmt.Sprintf("%s %.200q cannot be read: %s", key, name, cause(err))
	case len(content) == 0:
		return "", fmt.Sprintf("%s %.200q is empty", key, name)
	case !utf8.Valid(content):
		return "", fmt.Sprintf("%s %.200q is not UTF-8", key, name)
	}
	return string(content), ""
}

func readText(folder fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would block
		return nil, errors.New("it is not a regular file")
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLimited(f, limit)
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLimited(f, MaxFile)
}

func readLimited(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	return text, err
}

// cause returns an error without its path, which the problem already contains.
func cause(err error) string {
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		err = in.Err
	}
	return err.Error()
}
