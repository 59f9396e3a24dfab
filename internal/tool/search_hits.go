package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

const (
	maxHits    = 60      // lines shown
	maxPerFile = 12      // of them in one file of several
	maxExcerpt = 200     // characters of a line that are shown
	maxFull    = 3       // definitions, or pieces by rank, of which more lines are shown
	fullLines  = 30      // of one
	fullText   = 3 << 10 // bytes of these, without the last
)

// hits collects the lines to show, and counts the rest.
type hits struct {
	lines  []string
	total  int
	files  int
	path   string // the file whose hits are being added
	inFile int
	most   int // lines shown of a file
}

// add adds a line; at is the offset of the hit in it. For a definition, below is the text after it.
func (h *hits) add(path string, n int, line string, at int, below string) {
	if path != h.path {
		h.endFile()
		h.path, h.inFile = path, 0
		h.files++
	}
	h.total++
	h.inFile++
	if len(h.lines) < maxHits && h.inFile <= h.most {
		h.lines = append(h.lines, fmt.Sprintf("%s:%d: %s", onePath(path), n, excerpt(line, at)))
	}
	if h.total <= maxFull { // format leaves them out if there are more
		h.lines[h.total-1] += bodyOf(n, line, below)
	}
}

// atEdge matches lines of a body that are at the edge of the page: directives of C, and labels.
var atEdge = pattern.Lazy(`^#\s*(?:if|el|end|def|undef|pragma)|^\w+:$`)

// bodyOf returns the body of the definition that begins in line n, up to fullLines lines, each after a line break: the
// lines below that are indented deeper, or begin with a closing bracket at its depth. Blank lines are left out.
func bodyOf(n int, first, below string) (body string) {
	indentation := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	depth, shown := indentation(first), 0
	for line := range strings.Lines(below) {
		n++
		text, deeper := strings.TrimSpace(line), indentation(line)-depth
		switch {
		case text == "":
			continue
		case !atEdge().MatchString(text) &&
			(deeper < 0 || deeper == 0 && !strings.Contains("{}])", text[:1]) && text != "end"):
			return body
		case shown == fullLines, len(body) > fullText:
			return body + "\n       …"
		}
		body += "\n" + numbered(n, line, maxExcerpt)
		shown++
	}
	return body
}

// endFile adds how many hits of the last file are not shown.
func (h *hits) endFile() {
	if more := h.inFile - h.most; more > 0 && len(h.lines) < maxHits {
		h.lines = append(h.lines, fmt.Sprintf("%s: %d more", onePath(h.path), more))
	}
}

// format formats the hits, after a line that counts them.
func (h *hits) format(word string) string {
	h.endFile()
	h.inFile = 0
	if h.total == 0 {
		return "no " + word + "s\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", plural(h.total, word), plural(h.files, "file"))
	if h.total > maxHits {
		b.WriteString(", not all shown: give search_code a path or a longer query")
	}
	b.WriteString("\n")
	for _, line := range h.lines {
		if h.total > maxFull {
			line, _, _ = strings.Cut(line, "\n")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// excerpt returns a line without its indentation, cut around an offset if it is long.
func excerpt(line string, at int) string {
	trimmed := strings.TrimLeft(line, " \t")
	at = max(0, at-(len(line)-len(trimmed)))
	line = strings.TrimRight(trimmed, " \t")
	if len(line) <= maxExcerpt {
		return guard.Visible(line)
	}
	start := max(0, min(at-maxExcerpt/4, len(line)-maxExcerpt))
	end := start + maxExcerpt
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	cut := guard.Visible(line[start:end])
	if start > 0 {
		cut = "…" + cut
	}
	if end < len(line) {
		cut += "…"
	}
	return cut
}
