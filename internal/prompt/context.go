package prompt

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/pattern"
)

// The limits of what is shown around a patch.
const (
	maxHead      = 2 << 20  // bytes of a file that is searched
	maxWalk      = 1_000    // lines up from a hunk to the start of its function
	maxLead      = 40       // lines from there to the hunk; if more, only the signature is shown
	maxSignature = 6        // lines of a signature
	maxContext   = 16 << 10 // bytes in total
)

// Context returns, numbered, the lines from the start of the function around a hunk to the hunk.
// It is a lexical guess from indentation and the hunk's section, and leaves out what it cannot
// tell. head is the new file's content, of any bytes.
func Context(patch string, head []byte) string {
	hunks, err := diff.Hunks(patch)
	if err != nil || len(head) == 0 || len(head) > maxHead {
		return ""
	}
	lines := source(strings.Split(string(head), "\n"))
	var b strings.Builder
	seen := 0 // the last line already shown, here or in a hunk
	for i, h := range hunks {
		if b.Len() > maxContext {
			fmt.Fprintf(&b, "… the functions around %d more hunks are not shown\n", len(hunks)-i)
			break
		}
		first := firstNew(h)
		if start := lines.function(h); start > 0 && start < first {
			lines.writeLead(&b, start, seen, first)
		}
		seen = max(seen, first+h.NewLines-1)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// firstNew returns the number of the new file's first line at or after a hunk's beginning.
func firstNew(h diff.Hunk) int {
	if h.NewLines == 0 {
		return h.NewStart + 1
	}
	return h.NewStart
}

type source []string

// writeLead writes the lines from a function's start to a hunk, or only its signature.
func (s source) writeLead(b *strings.Builder, start, seen, first int) {
	from, to, left := max(start, seen+1), first, 0
	if to-from > maxLead {
		to = s.signature(start)
		left = first - max(from, to)
	}
	if from >= to {
		return
	}
	fmt.Fprintf(b, "@@ above line %d\n", first)
	for n := from; n < to; n++ {
		fmt.Fprintf(b, "%6s %6d   %s\n", "", n, shorten(strings.TrimSuffix(s[n-1], "\r")))
	}
	if left > 0 {
		fmt.Fprintf(b, "%6s %6s   … %d lines left out\n", "", "", left)
	}
}

// signature returns the number of the line after the signature that begins at start.
func (s source) signature(start int) int {
	for n := start; n < start+maxSignature && n <= len(s); n++ {
		text := strings.TrimSpace(s[n-1])
		if strings.HasSuffix(text, "{") || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "=>") {
			return n + 1
		}
	}
	return start + 1
}

// function returns the line where the function around a hunk's first change begins, or 0 if there
// is none or the file is not the patch's.
func (s source) function(h diff.Hunk) int {
	change, above := firstChange(h)
	if above > len(s) || !s.fits(h) {
		return 0
	}
	depth := indentation(change)
	if start := s.declaration(above, depth); start > 0 || depth == 0 {
		return start
	}
	return s.section(h.Section, above, depth)
}

// firstChange returns a hunk's first changed line that is not blank, and the number of the line
// above it on the new side.
func firstChange(h diff.Hunk) (text string, above int) {
	above = firstNew(h) - 1
	for _, l := range h.Lines {
		if l.Op != diff.Context && strings.TrimSpace(l.Text) != "" {
			return l.Text, above
		}
		above = max(above, l.New)
	}
	return "", above
}

func (s source) fits(h diff.Hunk) bool {
	for _, l := range h.Lines {
		if l.Op == diff.Context {
			return l.New <= len(s) && strings.TrimRight(s[l.New-1], "\r") == strings.TrimRight(l.Text, "\r")
		}
	}
	return true
}

// declaration walks up from a line through ever less indented lines to the nearest that declares a
// name, or else to the nearest that passes a function.
func (s source) declaration(above, depth int) int {
	closure, open := 0, false
	for n := above; n > 0 && n > above-maxWalk && (depth > 0 || open); n-- {
		text := strings.TrimSpace(s[n-1])
		in := indentation(s[n-1])
		if text == "" || len(text) > maxLine || in > depth || in == depth && !open || asideLine().MatchString(text) {
			continue
		}
		switch {
		case declares(text, open):
			return n
		case closure == 0 && passesFunction().MatchString(text):
			closure = n
		}
		depth, open = in, strings.ContainsAny(text[:1], "{)")
	}
	return closure
}

// section searches the lines above for the one that a hunk's header names.
func (s source) section(name string, above, depth int) int {
	name = strings.TrimSpace(name)
	for n := above; n > 0 && n > above-maxWalk && len(name) > 2; n-- {
		if indentation(s[n-1]) < depth && strings.HasPrefix(strings.TrimSpace(s[n-1]), name) {
			return n
		}
	}
	return 0
}

// indentation returns the width of the white space before a line's text, a tab counting as four.
func indentation(line string) (width int) {
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			width++
		case '\t':
			width += 4
		default:
			return width
		}
	}
	return width
}

// declares reports whether a line declares a name.
func declares(text string, brace bool) bool {
	if statement().MatchString(text) {
		return false
	}
	return keyword().MatchString(text) || arrow().MatchString(text) ||
		!passesFunction().MatchString(text) && (signature().MatchString(text) || brace && called().MatchString(text))
}

var (
	// asideLine matches lines that may be less indented than the code around them: comments,
	// preprocessor lines and labels.
	asideLine = pattern.Lazy(`^(?:#|//|/\*|\*|--|<<|>>>|\|\|\||\w+:$)`)
	// keyword matches a declaration by its keyword.
	keyword = pattern.Lazy(`^(?:(?:export|default|public|private|protected|internal|static|abstract|final` +
		`|override|async|open|sealed|data|suspend|inline|` +
		`virtual|partial|unsafe|extern|const|local|pub(?:\([a-z: ]+\))?) +)*(?:func|function\*?|def|fn|fun|sub|proc` +
		`|class|struct|impl|trait|interface|object|module|enum|record|type)[ <]`)
	arrow     = pattern.Lazy(`^(?:export )?(?:const|let|var) [\w$]+.*=.*(?:=>|\bfunction\b)`)
	statement = pattern.Lazy(`^(?:if|else|elif|for|foreach|while|until|unless|switch|case|when|match|select` +
		`|catch|try|except|finally|with|using|lock|synchronized|` +
		`return|throw|raise|do|new|await|yield|go|defer|delete|assert|super|this|in|and|or|not)\b`)
	// signature matches a return type and a name, or a name and an opening brace.
	signature = pattern.Lazy(`^[\w$~@][\w$<>\[\],.*&:~@? ]*[ *&][\w$~:]+(?:<[^()]*>)? ?\([^;]*$|^[\w$~:]+` +
		` ?\([^;]*\{$|^\w+::[\w~]+ ?\([^;]*$`)
	called = pattern.Lazy(`^[\w$~:]+ ?\([^;]*$`)
	// passesFunction matches a call that is passed a function.
	passesFunction = pattern.Lazy(`\(.*(?:=>|\bfunc ?\(|\bfunction\b|\blambda\b|\|[\w, ]*\|)|\bdo(?: \|.*\|)?$`)
)
