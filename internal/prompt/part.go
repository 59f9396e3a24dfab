package prompt

import (
	"strings"

	"github.com/org/pr-review-action/internal/diff"
)

// Parts cuts a patch between its hunks into patches whose numbered text has at
// most max bytes each. A hunk that is larger alone is a part of its own. Joined,
// the parts are the patch; one that cannot be read is a single part.
func Parts(patch string, max int) []string {
	if _, err := diff.Hunks(patch); err != nil || patch == "" {
		return []string{patch}
	}
	var parts []string
	begin, end, size := 0, 0, 0
	for hunk := range hunkTexts(patch) {
		n := len(Number(hunk)) + 1
		if end > begin && size+n-1 > max { // the last line feed is not written
			parts = append(parts, patch[begin:end])
			begin, size = end, 0
		}
		end, size = end+len(hunk), size+n
	}
	return append(parts, patch[begin:])
}

// hunkTexts yields the text of each hunk of a patch that can be read. In one, a
// line that begins with the mark is always a header.
func hunkTexts(patch string) func(func(string) bool) {
	return func(yield func(string) bool) {
		const mark = "\n@@ -"
		for {
			i := strings.Index(patch, mark)
			if i < 0 {
				yield(patch)
				return
			}
			if !yield(patch[:i+1]) {
				return
			}
			patch = patch[i+1:]
		}
	}
}
