package prompt

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
)

// Number writes a patch with the line numbers of both sides before each line,
// so that a model can cite them. A patch that cannot be read stays as it is.
// Carriage returns at the end of every line are left out.
func Number(patch string) string {
	hunks, err := diff.Hunks(patch)
	if err != nil {
		return patch
	}
	end := ""
	if crlf(hunks) {
		end = "\r"
	}
	var b strings.Builder
	for _, h := range hunks {
		b.WriteString(strings.TrimRight("@@ "+h.Section, " \r") + "\n")
		for _, l := range h.Lines {
			fmt.Fprintf(&b, "%6s %6s %c %s\n", number(l.Old), number(l.New), l.Op, strings.TrimSuffix(l.Text, end))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// crlf reports whether every line ends in a carriage return. Where only some do,
// that is part of the change and stays visible.
func crlf(hunks []diff.Hunk) bool {
	lines := 0
	for _, h := range hunks {
		for _, l := range h.Lines {
			if !strings.HasSuffix(l.Text, "\r") {
				return false
			}
			lines++
		}
	}
	return lines > 0
}
