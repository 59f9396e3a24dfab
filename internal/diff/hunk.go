package diff

import (
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// Op is the operator of a line of a hunk.
type Op byte

// The three kinds of lines.
const (
	Context Op = ' '
	Add     Op = '+'
	Delete  Op = '-'
)

// Line is one line of a hunk. Old and New are 1-based line numbers, or 0 if the line does not
// exist on that side. Text has no operator and no line feed.
type Line struct {
	Op       Op
	Old, New int
	Text     string
}

// Hunk is one hunk of a patch. The starts are 1-based; a side without lines starts at the line
// before (0 in an empty file). Section is the text after the second @@.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Section            string
	Lines              []Line
}

// Hunks parses one file's patch: hunks without file headers. An empty patch has no hunks. The
// error returns the number of the faulty line of the patch.
func Hunks(patch string) ([]Hunk, error) {
	var hunks []Hunk
	var order hunkOrder
	s, lines := newScanner(patch), make([]Line, 0, strings.Count(patch, "\n"))
	for line, ok := s.peek(); ok; line, ok = s.peek() {
		if !isHunkHeader(line) {
			return nil, s.errorf("%.40q stands where a hunk should begin", line)
		}
		from := len(lines)
		h, err := readHunk(s, &order, func(l Line) { lines = append(lines, l) })
		if err != nil {
			return nil, err
		}
		h.Lines = lines[from:len(lines):len(lines)]
		hunks = append(hunks, h)
	}
	return hunks, nil
}

var hunkHeader = pattern.Lazy(`^@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@ ?(.*)$`)

func isHunkHeader(line string) bool { return strings.HasPrefix(line, "@@ -") }

// hunkOrder holds the first line that the next hunk may touch on each side. Hunks out of order or
// overlapping would give one line two meanings.
type hunkOrder struct{ old, new int }

func (o *hunkOrder) admit(h Hunk) bool {
	return admit(&o.old, h.OldStart, h.OldLines) && admit(&o.new, h.NewStart, h.NewLines)
}

func admit(free *int, start, lines int) bool {
	if lines == 0 {
		return true
	}
	ok := start >= max(1, *free)
	*free = start + lines
	return ok
}

// readHunk reads a hunk: the header, as many lines as it counts, and the marker of a missing line
// feed. It leaves the scanner after the hunk.
func readHunk(s *scanner, order *hunkOrder, emit func(Line)) (Hunk, error) {
	h, err := parseHunkHeader(s)
	if err != nil {
		return Hunk{}, err
	}
	if !order.admit(h) {
		return Hunk{}, s.errorf("hunk starts before the end of the one above it")
	}
	if h.OldLines+h.NewLines == 0 {
		return Hunk{}, s.errorf("hunk has no lines")
	}
	first := s.n
	s.next()
	old, new := h.OldStart, h.NewStart
	oldEnd, newEnd := old+h.OldLines, new+h.NewLines
	for old < oldEnd || new < newEnd {
		line, ok := s.peek()
		if !ok {
			return Hunk{}, s.errorf("hunk of line %d is cut off: %d old and %d new lines are missing", first,
				oldEnd-old, newEnd-new)
		}
		op, text := cutOp(line)
		switch {
		case op == Context && old < oldEnd && new < newEnd:
			emit(Line{Context, old, new, text})
			old, new = old+1, new+1
		case op == Delete && old < oldEnd:
			emit(Line{Op: Delete, Old: old, Text: text})
			old++
		case op == Add && new < newEnd:
			emit(Line{Op: Add, New: new, Text: text})
			new++
		case op != '\\':
			return Hunk{}, s.errorf("%.40q does not fit into the hunk of line %d, which lacks %d old and %d new lines",
				line, first, oldEnd-old, newEnd-new)
		}
		s.next()
	}
	if line, ok := s.peek(); ok && strings.HasPrefix(line, `\ `) {
		s.next()
	}
	return h, nil
}

// cutOp cuts the operator off a line; a completely empty line is an empty context line.
func cutOp(line string) (Op, string) {
	if line == "" || line == "\r" {
		return Context, line
	}
	return Op(line[0]), line[1:]
}

func parseHunkHeader(s *scanner) (Hunk, error) {
	line := s.header()
	m := hunkHeader().FindStringSubmatch(line)
	if m == nil {
		return Hunk{}, s.errorf("%.60q is not a hunk header", line)
	}
	number := func(s string) int {
		if s == "" {
			return 1
		}
		n, _ := strconv.Atoi(s) // at most nine digits
		return n
	}
	return Hunk{
		OldStart: number(m[1]), OldLines: number(m[2]),
		NewStart: number(m[3]), NewLines: number(m[4]),
		Section: m[5],
	}, nil
}
