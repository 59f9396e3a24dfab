package tree

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
)

// Files is a tree of what a map holds, text by path.
func Files(content map[string]string) Tree {
	m := newMemory()
	for _, path := range slices.Sorted(maps.Keys(content)) {
		m.put(path, []byte(content[path]))
	}
	return m
}

// Whole returns a tree that answers from memory, and why it may lack files, where
// all files of t can be read at once. Another tree, and one that cannot be read
// now, is returned as it is, and says itself what went wrong.
func Whole(ctx context.Context, t Tree) (Tree, string) {
	source, ok := t.(interface {
		all(ctx context.Context) (*memory, error)
	})
	if !ok {
		return t, ""
	}
	m, err := source.all(ctx)
	if err != nil {
		return t, ""
	}
	return m, m.rest
}

// Only is Whole, which of a clone reads the wanted files alone. It asks for each path
// once, in order.
func Only(ctx context.Context, t Tree, wanted func(path string) bool) (Tree, string) {
	c, ok := t.(*clone)
	if !ok {
		return Whole(ctx, t)
	}
	m, err := c.load(ctx, wanted)
	if err != nil {
		return t, ""
	}
	return m, m.rest
}

// memory is a tree whose files were read before. It is not changed once it is in use.
type memory struct {
	content map[string][]byte
	left    map[string]error // why a known path is not held
	size    int              // bytes of contents, paths and notes
	rest    string           // why others may be missing of which nothing is known
}

func newMemory() *memory {
	return &memory{content: map[string][]byte{}, left: map[string]error{}}
}

func (m *memory) Read(_ context.Context, path string) ([]byte, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	if content, ok := m.content[path]; ok {
		return content, nil
	}
	if err := m.left[path]; err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	if m.rest != "" {
		return nil, fmt.Errorf("%q: %w among those that were read: %s", path, ErrNoFile, m.rest)
	}
	return nil, fmt.Errorf("%q: %w", path, ErrNoFile)
}

func (m *memory) all(context.Context) (*memory, error) { return m, nil }

func (m *memory) Paths(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(m.content)), nil
}

// put takes a file in, or notes why not. A path that comes twice names no file
// anymore: readers of archives disagree about which of the two counts.
func (m *memory) put(path string, content []byte) {
	switch {
	case m.has(path):
		m.leave(path, fmt.Errorf("%w that could be told: the path stands twice in the source", ErrNoFile))
	case CheckPath(path) != nil:
		m.leave(path, ErrRefused)
	case len(content) > MaxFile:
		m.leave(path, tooLarge(int64(len(content))))
	case !isText(content):
		m.leave(path, ErrNotText)
	case len(m.content) >= MaxFiles || m.size+len(path)+len(content) > MaxTree:
		m.rest = fmt.Sprintf("the tree has more than %d files or %d MiB of text", MaxFiles, MaxTree>>20)
	default:
		m.content[path] = content
		m.size += len(path) + len(content)
	}
}

func (m *memory) has(path string) bool {
	_, held := m.content[path]
	return held || m.left[path] != nil
}

// leave notes why a path is not held, as far as there is room for notes. For a
// path that was held, or has a note, there is: it must not be held again.
func (m *memory) leave(path string, why error) {
	known := m.has(path)
	m.drop(path)
	note := len(path) + len(why.Error())
	if !known && (diff.CheckPath(path) != nil || len(m.left) >= MaxFiles || m.size+note > MaxTree) {
		m.rest = "some entries have paths that cannot be told, or are too many"
		return
	}
	m.left[path] = why
	m.size += note
}

// drop forgets a path, what was held and what was noted.
func (m *memory) drop(path string) {
	if held, ok := m.content[path]; ok {
		m.size -= len(path) + len(held)
		delete(m.content, path)
	}
	if why := m.left[path]; why != nil {
		m.size -= len(path) + len(why.Error())
		delete(m.left, path)
	}
}
