package githubtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// File is a changed file as the API lists it.
type File struct {
	Path, OldPath        string
	SHA                  string
	Status               string // added, removed, modified, renamed, copied, changed
	Additions, Deletions int
	Patch                string // left out where empty
}

// changes compares two snapshots as GitHub does: binary files and files of
// patchLines changed lines or more have no patch.
func changes(old, new Tree, patchLines int) []File {
	var files []File
	from := renames(old, new)
	for _, path := range slices.Sorted(maps.Keys(new)) {
		f := File{Path: path, SHA: blobSHA(new[path])}
		before, had := old[path]
		switch source, renamed := from[path]; {
		case renamed:
			f.Status, f.OldPath, before = "renamed", source, old[source]
		case !had:
			f.Status = "added"
		case before == new[path]:
			continue
		default:
			f.Status = "modified"
		}
		f.diff(before, new[path], patchLines)
		files = append(files, f)
	}
	moved := slices.Collect(maps.Values(from))
	for _, path := range slices.Sorted(maps.Keys(old)) {
		if _, still := new[path]; still || slices.Contains(moved, path) {
			continue
		}
		f := File{Path: path, Status: "removed", SHA: blobSHA(old[path])}
		f.diff(old[path], "", patchLines)
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// renames maps new paths to the removed paths they came from.
func renames(old, new Tree) map[string]string {
	from := map[string]string{}
	for _, gone := range slices.Sorted(maps.Keys(old)) {
		if _, still := new[gone]; still || old[gone] == "" {
			continue
		}
		best, most := "", 0.5
		for path, text := range new {
			_, had := old[path]
			_, taken := from[path]
			if had || taken {
				continue
			}
			if like := similarity(old[gone], text); like > most || like == most && best != "" && path < best {
				best, most = path, like
			}
		}
		if best != "" {
			from[best] = gone
		}
	}
	return from
}

// similarity is the share of lines that two texts have in common.
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
	unified := udiff.Unified("a", "b", old, new)
	_, unified, _ = strings.Cut(unified, "\n")
	_, unified, _ = strings.Cut(unified, "\n")
	lines := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	before := strings.Split(old, "\n")
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

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// headerOf are the numbers of a hunk's header; nil for another line.
func headerOf(line string) []string {
	if !strings.HasPrefix(line, "@@ ") {
		return nil
	}
	return hunkHeader.FindStringSubmatch(line)
}

// blockStart is how a line begins that git names in a hunk's header.
var blockStart = regexp.MustCompile(`^[A-Za-z_$]`)

// headed adds the nearest line above the hunk that opens a block, as git does.
func headed(header string, before []string) string {
	m := headerOf(header)
	if m == nil {
		return header
	}
	start, _ := strconv.Atoi(m[1])
	for i := min(start-2, len(before)-1); i >= 0; i-- {
		if line := before[i]; line != "" && blockStart.MatchString(line) {
			return fmt.Sprintf("%s %s", header, line[:min(len(line), 80)])
		}
	}
	return header
}

// number reads a decimal number; 0 where it is none.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// place is where a line of a patch stands: hunk and position count from 1.
type place struct{ hunk, position int }

// places maps the lines of one side that a comment may name to their place, and
// gives the text of each hunk. The left side has the deleted lines alone.
func places(patch, side string) (map[int]place, []string) {
	at := map[int]place{}
	var hunks []string
	old, new, position := 0, 0, -1
	for line := range strings.SplitSeq(patch, "\n") {
		position++
		if m := headerOf(line); m != nil {
			old, new = number(m[1]), number(m[3])
			hunks = append(hunks, line)
			continue
		}
		if len(hunks) == 0 || line == "" || line[0] == '\\' {
			continue
		}
		hunks[len(hunks)-1] += "\n" + line
		if side == "LEFT" && line[0] == '-' {
			at[old] = place{len(hunks), position}
		}
		if side == "RIGHT" && line[0] != '-' {
			at[new] = place{len(hunks), position}
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

// write puts the file's header and hunks down as git does.
func (f File) write(b *strings.Builder) {
	from, to := "a/"+or(f.OldPath, f.Path), "b/"+f.Path
	fmt.Fprintf(b, "diff --git %s %s\n", from, to)
	switch f.Status {
	case "added":
		b.WriteString("new file mode 100644\n")
		from = "/dev/null"
	case "removed":
		b.WriteString("deleted file mode 100644\n")
		to = "/dev/null"
	case "renamed":
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", f.OldPath, f.Path)
	}
	if f.Patch != "" {
		fmt.Fprintf(b, "--- %s\n+++ %s\n%s\n", from, to, f.Patch)
	} else if f.binary() {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", from, to)
	}
}

// binary reports whether the content changed without changed lines. A pure
// rename and an empty file have none either.
func (f File) binary() bool {
	return f.Additions+f.Deletions == 0 && f.Status != "renamed" && f.SHA != blobSHA("")
}
