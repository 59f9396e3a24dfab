package memgit

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"znkr.io/diff"
)

// File is a changed file as GitHub lists it.
type File struct {
	Path, OldPath        string
	SHA                  string
	Status               string // added, removed, modified or renamed
	Additions, Deletions int
	Patch                string // omitted if empty
}

// Changes compares two snapshots as GitHub does: without patches for binary files and from patchLines changed lines on.
func Changes(old, new Tree, patchLines int) []File {
	var files []File
	from := renames(old, new)
	for path, text := range new {
		f := File{Path: path, SHA: BlobSHA(text)}
		before, had := old[path]
		switch source, renamed := from[path]; {
		case renamed:
			f.Status, f.OldPath, before = "renamed", source, old[source]
		case !had:
			f.Status = "added"
		case before == text:
			continue
		default:
			f.Status = "modified"
		}
		f.diff(before, text, patchLines)
		files = append(files, f)
	}
	moved := slices.Collect(maps.Values(from))
	for path, text := range old {
		if _, still := new[path]; still || slices.Contains(moved, path) {
			continue
		}
		f := File{Path: path, Status: "removed", SHA: BlobSHA(text)}
		f.diff(text, "", patchLines)
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// renames maps new paths to the removed paths they came from: files that share more than half of their lines.
func renames(old, new Tree) map[string]string {
	from, paths := map[string]string{}, slices.Sorted(maps.Keys(new))
	for _, gone := range slices.Sorted(maps.Keys(old)) {
		if _, still := new[gone]; still || old[gone] == "" {
			continue
		}
		best, most := "", 0.5
		for _, path := range paths {
			if _, had := old[path]; had || from[path] != "" {
				continue
			}
			if like := similarity(old[gone], new[path]); like > most {
				best, most = path, like
			}
		}
		if best != "" {
			from[best] = gone
		}
	}
	return from
}

func similarity(a, b string) float64 {
	if a == b {
		return 1
	}
	count := map[string]int{}
	for line := range strings.Lines(a) {
		count[line]++
	}
	common, lines := 0, 0
	for line := range strings.Lines(b) {
		lines++
		if count[line] > 0 {
			count[line]--
			common++
		}
	}
	return float64(common) / float64(max(lines, strings.Count(a, "\n"), 1))
}

func binary(text string) bool {
	return strings.IndexByte(text[:min(len(text), 8000)], 0) >= 0
}

func (f *File) diff(old, new string, patchLines int) {
	if old == new || binary(old) || binary(new) {
		return
	}
	parts := strings.SplitN(strings.TrimSuffix(udiff.Unified("a", "b", old, new), "\n"), "\n", 3)
	lines, before := strings.Split(parts[2], "\n"), strings.Split(old, "\n") // after two lines of file names
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "@@ "):
			lines[i] = headed(line, before)
		case strings.HasPrefix(line, "+"):
			f.Additions++
		case strings.HasPrefix(line, "-"):
			f.Deletions++
		}
	}
	if f.Additions+f.Deletions < patchLines {
		f.Patch = strings.Join(lines, "\n")
	}
}

// Diff returns the file's header and hunks as git writes them.
func (f File) Diff() string {
	from, to := "a/"+cmp.Or(f.OldPath, f.Path), "b/"+f.Path
	out := fmt.Sprintf("diff --git %s %s\n", from, to)
	switch f.Status {
	case "added":
		out += "new file mode 100644\n"
		from = "/dev/null"
	case "removed":
		out += "deleted file mode 100644\n"
		to = "/dev/null"
	case "renamed":
		out += fmt.Sprintf("rename from %s\nrename to %s\n", f.OldPath, f.Path)
	}
	switch {
	case f.Patch != "":
		return out + fmt.Sprintf("--- %s\n+++ %s\n%s\n", from, to, f.Patch)
	case f.Additions+f.Deletions == 0 && f.Status != "renamed" && f.SHA != BlobSHA(""):
		return out + fmt.Sprintf("Binary files %s and %s differ\n", from, to)
	}
	return out
}

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
