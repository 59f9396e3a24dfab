package tree

import (
	"fmt"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
)

// table holds what is known about the paths of a tree, and their texts if put filled it.
// It does not change once it is in use.
type table struct {
	entries map[string]entry
	rest    string // why there may be more paths, of which nothing is known
	unknown int    // how many of these List counts

	size         int // bytes of the texts, notes and paths that put and leave recorded
	files, notes int // recorded by them
}

// entry is a path of a commit. Fields that the source does not know are zero.
type entry struct {
	diff.Entry
	size    int64  // bytes
	why     error  // why it is not read; nil for a readable file
	content []byte // nil if not held in memory
}

func newTable() *table { return &table{entries: map[string]entry{}} }

// Files returns a tree of the files in a map from path to text.
func Files(content map[string]string) *Tree { return newMemoryTree(tableOf(content)) }

func tableOf(content map[string]string) *table {
	t := newTable()
	for _, path := range slices.Sorted(maps.Keys(content)) {
		t.put(path, []byte(content[path]))
	}
	return t
}

// readablePaths returns the sorted paths of the files that may be read.
func (t *table) readablePaths() []string {
	all := slices.Sorted(maps.Keys(t.entries))
	return slices.DeleteFunc(all, func(path string) bool { return t.entries[path].why != nil })
}

// put records a file, or why it is not held. A path that appears twice no longer names
// a file: archive readers disagree about which of the two counts.
func (t *table) put(path string, content []byte) {
	_, twice := t.entries[path]
	switch {
	case twice:
		t.noteSkipped(path, fmt.Errorf("%w that could be told: the path appears twice in the source", ErrNoFile))
	case CheckPath(path) != nil:
		t.noteSkipped(path, ErrRefused)
	case len(content) > MaxFile:
		t.noteSkipped(path, tooLarge(int64(len(content))))
	case !isText(content):
		t.noteSkipped(path, ErrNotText)
	case t.files >= MaxFiles || t.size+len(path)+len(content) > MaxTree:
		t.markIncomplete(fmt.Sprintf("the tree has more than %d files or %d MiB of text", MaxFiles, MaxTree>>20))
	default:
		e := fileOf(content)
		e.content = content
		t.set(path, e)
	}
}

// noteSkipped notes why a path is not held, if there is room for the note. A path that is
// already held or noted always gets its note, so that it cannot be held again.
func (t *table) noteSkipped(path string, why error) {
	if _, known := t.entries[path]; !known && (diff.CheckPath(path) != nil || t.notes >= MaxFiles ||
		t.size+len(path)+len(why.Error()) > MaxTree) {
		t.markIncomplete("some entries have paths that cannot be told, or are too many")
		return
	}
	t.set(path, entry{why: why})
}

// markIncomplete records that the table is incomplete.
func (t *table) markIncomplete(why string) { t.rest, t.unknown = why, 1 }

// set replaces the entry of a path.
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
