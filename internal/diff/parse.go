package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// Errors of Parse that a caller may want to distinguish. They are wrapped with the line number.
var (
	ErrNotDiff  = errors.New("not a unified diff")
	ErrCombined = errors.New("a combined diff (diff --cc) has more than one old side and cannot be reviewed")
	ErrTooLarge = errors.New("diff is too large")
)

// Parse reads a unified diff of at most limit bytes, as git or "diff -u" write it. Patches are in
// GitHub's form: hunks only, no final line feed. Names are returned as written; use CheckPath to
// refuse one that leaves the tree. The error is ErrTooLarge, or it gives the line: ErrNotDiff,
// ErrCombined, or another for a malformed diff.
func Parse(r io.Reader, limit int64) ([]File, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading diff: %w", err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("text in UTF-16, as PowerShell's > may write it, is %w", ErrNotDiff)
	}
	p := parser{scanner: newScanner(stripColors(string(text))), prose: true, seen: map[string]int{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	if len(p.files) == 0 && p.offending > 0 {
		return nil, fmt.Errorf("line %d: %w", p.offending, ErrNotDiff)
	}
	return p.files, nil
}

func (p *parser) parse() error {
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		take, err := p.sectionReader(line)
		if err != nil {
			return err
		}
		if take == nil {
			p.next()
			continue
		}
		if err := p.readFile(take); err != nil {
			return err
		}
		p.prose = false
	}
	return nil
}

// sectionReader returns the function that reads the file beginning at line, or nil if no file begins
// there.
func (p *parser) sectionReader(line string) (func() (File, error), error) {
	switch {
	case strings.HasPrefix(line, "diff --git "):
		return p.readGitHeader, nil
	case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "),
		strings.HasPrefix(line, "@@@ "):
		return nil, p.errorf("%w", ErrCombined)
	case submoduleLine().MatchString(line):
		return p.readSubmodule, nil
	case p.atPlainHeader():
		return p.readPlainHeader, nil
	case p.offending == 0 && strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(p.header(), " differ"):
		return p.readPlainBinary, nil
	case isHunkHeader(line) && p.offending == 0:
		return nil, p.errorf("a hunk without a file's header: %w", ErrNotDiff)
	}
	return nil, p.checkProse(line)
}

// checkProse checks a line that belongs to no file. Right after a hunk, a line that looks like a
// hunk's means that the counts are wrong.
func (p *parser) checkProse(line string) error {
	begins := func(with string) bool { return strings.HasPrefix(line, with) }
	if strings.TrimSpace(line) == "" || slices.ContainsFunc(noise, begins) {
		return nil
	}
	if p.prose = p.prose || slices.ContainsFunc(prose, begins); !p.prose {
		return p.errorf("%.40q belongs to no hunk", line)
	}
	if p.offending == 0 {
		p.offending = p.n
	}
	return nil
}

var (
	// prose begins text before another diff: a mail signature, a commit, a submodule's log.
	prose = []string{"-- ", "commit ", "From ", "Submodule "}
	// noise begins what diff tools write between files.
	noise = []string{"diff ", "Index: ", "===", "Only in ", "Common subdirectories: ", "Property changes on: ", "___"}
)

func (p *parser) readFile(header func() (File, error)) error {
	at := p.n
	f, err := header()
	if err != nil {
		return err
	}
	if f.Path == "" {
		return fmt.Errorf("line %d: the header names no file", at)
	}
	if f.Patch == "" {
		err = p.readHunks(&f)
	}
	if err != nil {
		return err
	}
	return p.add(f, at)
}

func (p *parser) readHunks(f *File) error {
	start := p.pos
	var order hunkOrder
	for line, ok := p.peek(); ok && isHunkHeader(line); line, ok = p.peek() {
		_, err := readHunk(p.scanner, &order, func(l Line) {
			switch l.Op {
			case Add:
				f.Additions++
			case Delete:
				f.Deletions++
			}
		})
		if err != nil {
			return fmt.Errorf("%s: %w", quote(f.Path), err)
		}
	}
	f.Patch = trimPatch(p.text[start:p.pos])
	return nil
}

// trimPatch removes the last line feed, as GitHub does, unless the last line is empty and would be
// lost.
func trimPatch(patch string) string {
	if strings.HasSuffix(patch, "\n\n") {
		return patch
	}
	return strings.TrimSuffix(patch, "\n")
}

// add records a file. A path may occur twice only if git splits a change of type (a file that
// becomes a link) into a removal and an addition.
func (p *parser) add(f File, at int) error {
	i, twice := p.seen[f.Path]
	if !twice {
		p.seen[f.Path] = len(p.files)
		p.files = append(p.files, f)
		return nil
	}
	first := &p.files[i]
	if first.Status != Removed || f.Status != Added {
		return fmt.Errorf("line %d: %s comes a second time; the diffs of several commits are not one change", at,
			quote(f.Path))
	}
	first.Status = Modified
	first.Binary = first.Binary || f.Binary
	first.Additions += f.Additions
	first.Deletions += f.Deletions
	first.Patch = strings.TrimPrefix(first.Patch+"\n"+f.Patch, "\n")
	return nil
}

// scanner walks the lines of a text without copying them. It keeps carriage returns.
type scanner struct {
	text string
	pos  int // offset of the line that peek returns
	n    int // number of that line, 1-based
}

func newScanner(text string) *scanner { return &scanner{text: text, n: 1} }

func (s *scanner) peek() (string, bool) {
	if s.pos >= len(s.text) {
		return "", false
	}
	line, _, _ := strings.Cut(s.text[s.pos:], "\n")
	return line, true
}

func (s *scanner) next() {
	line, _ := s.peek()
	s.pos = min(s.pos+len(line)+len("\n"), len(s.text))
	s.n++
}

// header returns the current line as the diff tool wrote it: a carriage return at its end comes
// from a converted file and is not part of a name.
func (s *scanner) header() string {
	line, _ := s.peek()
	return strings.TrimSuffix(line, "\r")
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", s.n, fmt.Errorf(format, args...))
}

// submoduleLine matches the first line of a submodule's entry with --submodule=log or diff. The
// subjects of commits, or diffs of the submodule's files, follow it.
var submoduleLine = pattern.Lazy(
	`^Submodule (.+) (?:([0-9a-f]{7,64})\.\.\.?([0-9a-f]{7,64})(?: \((.+)\))?:?|contains (?:untracked|modified)` +
		` content)\r?$`)

// readSubmodule reads such a line as the file that --submodule=short makes of it, with the commits
// abbreviated as they are there. A submodule's uncommitted content is not a change.
func (p *parser) readSubmodule() (File, error) {
	m := submoduleLine().FindStringSubmatch(p.header())
	p.next()
	for line, ok := p.peek(); ok && (strings.HasPrefix(line, "  > ") || strings.HasPrefix(line, "  < ")); {
		p.next()
		line, ok = p.peek()
	}
	f := File{Path: m[1], Status: Modified}
	before, after := "-Subproject commit "+m[2], "+Subproject commit "+m[3]
	switch {
	case m[2] == "" || strings.Trim(m[2]+m[3], "0") == "":
		return f, nil
	case strings.Trim(m[2], "0") == "":
		f.Status, f.Additions, f.Patch = Added, 1, "@@ -0,0 +1 @@\n"+after
	case strings.Trim(m[3], "0") == "":
		f.Status, f.Deletions, f.Patch = Removed, 1, "@@ -1 +0,0 @@\n"+before
	default:
		f.Additions, f.Deletions, f.Patch = 1, 1, fmt.Sprintf("@@ -1 +1 @@\n%s\n%s", before, after)
	}
	return f, nil
}

var (
	coloredHeader = pattern.Lazy(`(?m)^\x1b\[[0-9;]*mdiff --git `)
	color         = pattern.Lazy(`\x1b\[[0-9;]*[mK]`)
)

// stripColors removes git's colors from a diff written for a terminal, recognized by its colored
// headers. In other diffs such a sequence is part of a file.
func stripColors(text string) string {
	if !coloredHeader().MatchString(text) {
		return text
	}
	return color().ReplaceAllString(text, "")
}
