package memgit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"znkr.io/diff"
)

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// headerOf returns the first lines, old and new, in a hunk's header.
func headerOf(line string) (old, new int, ok bool) {
	m := hunkHeader.FindStringSubmatch(line)
	if m == nil {
		return 0, 0, false
	}
	old, _ = strconv.Atoi(m[1]) // the expression matches digits
	new, _ = strconv.Atoi(m[3])
	return old, new, true
}

var blockStart = regexp.MustCompile(`^[A-Za-z_$]`)

// headed adds the nearest line above the hunk that opens a block, as git does.
func headed(header string, before []string) string {
	start, _, _ := headerOf(header)
	for i := min(start-2, len(before)-1); i >= 0; i-- {
		if line := before[i]; blockStart.MatchString(line) {
			return fmt.Sprintf("%s %s", header, line[:min(len(line), 80)])
		}
	}
	return header
}

// Place is the position of a line in a patch: Hunk and Position count from 1.
type Place struct{ Hunk, Position int }

// Places maps the lines of one side that a comment may name to their places, and returns the
// text of each hunk. The left side only has the deleted lines.
func Places(patch, side string) (map[int]Place, []string) {
	at := map[int]Place{}
	var hunks []string
	old, new, position := 0, 0, -1
	for line := range strings.SplitSeq(patch, "\n") {
		position++
		if o, n, ok := headerOf(line); ok {
			old, new = o, n
			hunks = append(hunks, line)
			continue
		}
		if len(hunks) == 0 || line == "" || line[0] == '\\' {
			continue
		}
		hunks[len(hunks)-1] += "\n" + line
		if side == "LEFT" && line[0] == '-' {
			at[old] = Place{len(hunks), position}
		}
		if side == "RIGHT" && line[0] != '-' {
			at[new] = Place{len(hunks), position}
		}
		if line[0] != '+' {
			old++
		}
		if line[0] != '-' {
			new++
		}
	}
	return at, hunks
}

// Follow returns the number of a line after its file changed; 0 if it is gone.
func Follow(before, after string, line int) int {
	old, new := 0, 0
	for _, e := range diff.Edits(strings.Split(before, "\n"), strings.Split(after, "\n")) {
		if e.Op != diff.Insert {
			old++
		}
		if e.Op != diff.Delete {
			new++
		}
		if e.Op == diff.Match && old == line {
			return new
		}
	}
	return 0
}
