package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
)

// MaxDiff is the largest diff of a case, in bytes.
const MaxDiff = 1 << 20

// Read reads files of cases, one JSON object per line, or embedded sets by name. A diff is
// inline, or in a file within the folder of the case file. Read checks all files before it
// returns a case; its error is Problems, which lists all that is wrong.
func Read(paths ...string) ([]Case, error) {
	return ReadWith(nil, paths...)
}

// ReadWith is like Read, but also runs the check also on each case in which nothing else
// is wrong. A nil function checks nothing.
func ReadWith(also func(Case) error, paths ...string) ([]Case, error) {
	r := reader{seen: map[string]string{}, also: also}
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
	cases    []Case
	problems Problems
	seen     map[string]string // id to the file and line that used it first
	also     func(Case) error  // additional check of a case; may be nil
}

type source struct {
	name   string
	folder fs.FS
}

func (r *reader) addFile(name string) {
	text, err := os.ReadFile(name)
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
	line, empty := 0, true
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors write it
	for row := range bytes.Lines(text) {
		line++
		if row = bytes.TrimSpace(row); len(row) > 0 {
			empty = false
			r.addLine(s, line, row)
		}
	}
	if empty {
		r.addProblem(s.name, 1, "-", "the file contains no case")
	}
}

// addLine parses a case, and keeps it if nothing is wrong with it.
func (r *reader) addLine(s source, line int, row []byte) {
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
		r.cases = append(r.cases, c)
	}
}

// textOf returns the text of a file in the folder, or the reason why it cannot be read.
// key is the JSON key that names the file.
func textOf(folder fs.FS, key, name string) (text, reason string) {
	name = path.Clean(name)
	if !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return "", key + " is not a path within the folder of the file of cases"
	}
	if info, err := fs.Stat(folder, name); err == nil && info.Mode()&fs.ModeNamedPipe != 0 { // would wait for a writer
		return "", fmt.Sprintf("%s %.200q is not a file", key, name)
	}
	content, err := fs.ReadFile(folder, name)
	switch {
	case err != nil:
		return "", fmt.Sprintf("%s %.200q cannot be read: %s", key, name, cause(err))
	case len(content) == 0 || !utf8.Valid(content):
		return "", fmt.Sprintf("%s %.200q is empty or not UTF-8", key, name)
	}
	return string(content), ""
}

// cause returns an error without its path, which the problem already contains.
func cause(err error) string {
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		err = in.Err
	}
	return err.Error()
}
