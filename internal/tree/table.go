package tree

import (
	"fmt"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
)

// table is what is known of the paths of a tree, and where put filled it, their texts.
// It is not changed once it is in use.
type table struct {
	entries map[string]entry
	rest    string // why others may be missing of which nothing is known
	unknown int    // how many of these are counted as left out

	size         int // bytes of texts, notes and their paths, of what put and leave took
	files, notes int // of that
}

// entry is a path of a commit. What a source does not know of it is zero.
type entry struct {
	diff.Entry
	size    int64  // bytes
	why     error  // it is not read; nil for a file
	content []byte // where it is held
}

func newTable() *table { return &table{entries: map[string]entry{}} }

// Files is a tree of what a map holds, text by path.
func Files(content map[string]string) *Tree {
	t := newTable()
	for _, path := range slices.Sorted(maps.Keys(content)) {
		t.put(path, []byte(content[path]))
	}
	return holding(t)
}

// readable are the paths of the files that may be read, sorted.
func (t *table) readable() []string {
	paths := make([]string, 0, len(t.entries))
	for path, e := range t.entries {
		if e.why == nil {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// put takes a file in, or notes why not. A path that comes twice names no file
// anymore: readers of archives disagree about which of the two counts.
func (t *table) put(path string, content []byte) {
	_, twice := t.entries[path]
	switch {
	case twice:
		t.leave(path, fmt.Errorf("%w that could be told: the path appears twice in the source", ErrNoFile))
	case CheckPath(path) != nil:
		t.leave(path, ErrRefused)
	case len(content) > MaxFile:
		t.leave(path, tooLarge(int64(len(content))))
	case !isText(content):
		t.leave(path, ErrNotText)
	case t.files >= MaxFiles || t.size+len(path)+len(content) > MaxTree:
		t.lack(fmt.Sprintf("the tree has more than %d files or %d MiB of text", MaxFiles, MaxTree>>20))
	default:
		e := fileOf(content)
		e.content = content
		t.set(path, e)
	}
}

// leave notes why a path is not held, as far as there is room for notes. For a
// path that was held, or has a note, there is: it must not be held again.
func (t *table) leave(path string, why error) {
	if _, known := t.entries[path]; !known && (diff.CheckPath(path) != nil || t.notes >= MaxFiles ||
		t.size+len(path)+len(why.Error()) > MaxTree) {
		t.lack("some entries have paths that cannot be told, or are too many")
		return
	}
	t.set(path, entry{why: why})
}

// lack says that there is more than the table knows.
func (t *table) lack(why string) { t.rest, t.unknown = why, 1 }

// set puts an entry in the place of what was known of its path.
func (t *table) set(path string, e entry) {
	if old, known := t.entries[path]; known {
		t.count(path, old, -1)
	}
	t.entries[path] = e
	t.count(path, e, 1)
}

func (t *table) count(path string, e entry, n int) {
	if t.size += n * (len(path) + len(e.content)); e.why == nil {
		t.files += n
		return
	}
	t.notes += n
	t.size += n * len(e.why.Error())
}
