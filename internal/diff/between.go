package diff

import (
	"fmt"
	"strings"

	zdiff "znkr.io/diff"
	"znkr.io/diff/textdiff"
)

// fastFrom is the number of lines, both texts together, from which Between prefers speed to a
// short patch: two unrelated texts of that size take a quarter of a second.
const fastFrom = 100_000

// Between returns the patch from old to new in GitHub's form, and the number of lines added and
// deleted. Memory is linear in the texts. From fastFrom lines on, so is time, and the patch may be
// longer than necessary.
func Between(old, new string) (patch string, additions, deletions int) {
	var b strings.Builder
	options := []zdiff.Option{textdiff.IndentHeuristic()} // git's default
	if strings.Count(old, "\n")+strings.Count(new, "\n") >= fastFrom {
		options = append(options, zdiff.Fast())
	}
	above, section, passed := old, "", 0
	for _, h := range textdiff.Hunks(old, new, options...) {
		for ; passed < h.LineNoX; passed++ {
			var line string
			if line, above, _ = strings.Cut(above, "\n"); opensSection(line) {
				section = " " + strings.TrimRight(line[:min(len(line), maxSection)], " \t\r")
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@%s\n", lineRange(h.LineNoX, h.EndLineNoX), lineRange(h.LineNoY, h.EndLineNoY),
			strings.ToValidUTF8(section, ""))
		for _, e := range h.Edits {
			switch e.Op {
			case zdiff.Insert:
				additions++
				writeLine(&b, Add, e.Line)
			case zdiff.Delete:
				deletions++
				writeLine(&b, Delete, e.Line)
			default:
				writeLine(&b, Context, e.Line)
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), additions, deletions
}

// opensSection reports whether Git by default takes a line for the beginning of a function, which it
// names in the headers of the hunks that follow.
func opensSection(line string) bool {
	return line != "" && (line[0] == '_' || line[0] == '$' || 'a' <= line[0]|0x20 && line[0]|0x20 <= 'z')
}

const maxSection = 80 // bytes of that line, as Git shows

// lineRange formats a zero-based half-open range as a hunk header does: a count of one is omitted,
// and an empty range names the line before it.
func lineRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLine(b *strings.Builder, op Op, line string) {
	b.WriteByte(byte(op))
	b.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}
