package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
)

// Bounds of a tree.
const (
	MaxFile  = 1 << 20   // bytes of a file that is read
	MaxTree  = 128 << 20 // bytes of the files of a tree that is held in memory, and of their paths
	MaxFiles = 50_000    // files of such a tree, and notes on others

	maxTarget = 200 // bytes of a link's target that are told
)

// What a Tree says about a path that it does not read. The messages of errors
// that wrap these say what a model can do instead; they hold untrusted text.
var (
	ErrNoFile   = errors.New("there is no such file")
	ErrNotText  = errors.New("the file is not text")
	ErrTooLarge = errors.New("the file is too large to be read")
	ErrLink     = errors.New("links are not followed")
	ErrRefused  = errors.New("the path is not shown")
)

// Tree is the files of one commit. Implementations may be asked from many
// goroutines, never leave the commit whatever a path says, and follow no link.
type Tree interface {
	// Read returns a file's bytes, which must not be changed: ErrNoFile,
	// ErrNotText, ErrTooLarge, ErrLink, ErrRefused, or what the source answered.
	Read(ctx context.Context, path string) ([]byte, error)
	// Paths lists the files that may be read, sorted. What turns out not to be
	// text may be among them; what CheckPath refuses is not.
	Paths(ctx context.Context) ([]string, error)
}

// refused matches paths of git's own folder and of files that are made to hold
// credentials. Whatever their content, a review does without it.
var refused = regexp.MustCompile(`(?i)(?:^|/)(?:` +
	`\.git(?:/.*)?|\.(?:ssh|gnupg|aws|azure|kube|password-store)(?:/.*)?|` + // folders
	`[^/]*\.env|\.env[^/]*(?:/.*)?|` +
	`\.npmrc|\.yarnrc|[._]netrc|\.pypirc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.dockercfg|\.docker/config\.json|` +
	`\.vault-token|\.cargo/credentials(?:\.toml)?|\.gem/credentials|kubeconfig|credentials(?:\.json)?|service[-_]account[^/]*\.json|` +
	`id_(?:rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate|tfstate\.backup)` +
	`)$`)

// CheckPath refuses a path that could leave the tree (diff.CheckPath), and one
// that is not shown because of its name, with ErrRefused.
func CheckPath(path string) error {
	if err := diff.CheckPath(path); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if refused.MatchString(path) {
		return fmt.Errorf("%w: %q is git's own or may hold credentials by its name; do without it", ErrRefused, path)
	}
	return nil
}

// Files is a tree of what a map holds, text by path.
func Files(content map[string]string) Tree {
	m := newMemory()
	for _, path := range slices.Sorted(maps.Keys(content)) {
		m.put(path, []byte(content[path]))
	}
	return m
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

func tooLarge(size int64) error {
	return fmt.Errorf("%w: %d bytes, and at most %d are read", ErrTooLarge, size, MaxFile)
}

// isText goes by the first 8,000 bytes, as git does.
func isText(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0
}

// notFollowed is what is said about a link. Its target may be as long as its
// source likes, and is kept.
func notFollowed(target string) error {
	return fmt.Errorf("%w: it is a link to %q", ErrLink, head(target, maxTarget))
}
