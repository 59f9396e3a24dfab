package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

const cloneAdvice = "go into the clone, or pass a pull request's address or a diff's file"

// Errors of Range that the caller can fix.
var (
	ErrNoRange = problem.Sentinel("not in this clone",
		"name two commits of this clone, such as main...HEAD; a shallow clone may need git fetch --unshallow")
	ErrNoClone = problem.Sentinel("this folder is not in a clone", cloneAdvice)
	ErrBare    = problem.Sentinel("this clone is bare, without a work tree", "name two commits, such as main...HEAD")
	ErrShut    = problem.Sentinel("this clone is bare, and Git's setting safe.bareRepository lets it open only those "+
		"that are named", "set GIT_DIR to its folder's absolute path, which names it")
	ErrOwner = problem.Sentinel("this clone belongs to another user, so Git does not open it",
		"git config --global --add safe.directory FOLDER opens it: only for a user whom you trust")
	ErrNoGit = problem.Sentinel("git is not in PATH",
		"install Git 2.34 or later, or pass a pull request's address or a diff's file")
	ErrPartial = problem.Sentinel("this clone is a partial one (git clone --filter), and lacks what is needed here",
		"nothing is fetched here by itself: git fetch --refetch --no-filter brings the rest")
)

// IsRange reports whether an argument has the form base..head or base...head.
func IsRange(arg string) bool {
	base, head, ok := strings.Cut(arg, "..")
	return ok && base != "" && strings.TrimPrefix(head, ".") != "" && !strings.ContainsAny(arg, " \t\n")
}

// Range reads the change between two commits of the clone in dir: base...head starts from the
// merge base, as a pull request does, base..head from base itself. A bad argument is ErrNoRange; a
// bad place is ErrNoClone, ErrNoGit or ErrPartial.
func Range(ctx context.Context, dir, arg string, file config.File) (Change, error) {
	g, err := OpenClone(ctx, dir)
	if err != nil {
		return Change{}, err
	}
	return g.Range(ctx, arg, file)
}

// Range is like the function Range, for an open clone.
func (g Clone) Range(ctx context.Context, arg string, file config.File) (Change, error) {
	baseName, headName, _ := strings.Cut(arg, "..")
	headName, fromMergeBase := strings.CutPrefix(headName, ".")
	head, err := g.Commit(ctx, headName)
	if err != nil {
		return Change{}, err
	}
	base, err := g.Commit(ctx, baseName)
	if err != nil {
		return Change{}, err
	}
	if fromMergeBase {
		if base, err = g.runLine(ctx, "merge-base", base, head); err != nil {
			return Change{}, fmt.Errorf("%s and %s have no common commit, or it is %w", baseName, headName, ErrNoRange)
		}
	}
	c := Change{
		Name: arg, Head: head, Settings: file.InRepository(), Clone: g,
		Thread: guard.Line(fmt.Sprintf("local/%s#%s..%s:%s", g.name(), baseName, headName, head), 0),
	}
	if headName == "HEAD" {
		c.Branch = g.branch(ctx)
	}
	err = g.read(ctx, base, head, file, &c)
	return c, err
}

// branch returns the ref that HEAD names, or "" if HEAD is detached.
func (g Clone) branch(ctx context.Context) string {
	text, _ := os.ReadFile(filepath.Join(g.Dir, "HEAD")) // Git has read it before
	name, symbolic := strings.CutPrefix(string(text), "ref:")
	if name = strings.TrimSpace(name); !symbolic || name == "refs/heads/.invalid" { // which reftable puts there
		name, _ = g.runLine(ctx, "symbolic-ref", "--quiet", "HEAD")
	}
	return name
}

// Clone is an open repository on this machine. Nothing that the reviewed change could configure
// (external diff programs, text conversions, hooks, pagers, attributes) takes effect: git runs in
// the .git folder, without work tree and index, so it finds no .gitattributes that could declare
// source to be binary.
type Clone struct {
	Dir string // the .git folder, absolute

	openedFrom   string // the folder from which it was opened
	extraObjects string // a folder with additional objects, or empty
	objects      *objects
}

// notGit is git's error for a folder outside any clone, notNamed for a bare clone that it does not open, notOwned for
// one of another user.
const (
	notGit   = "not a git repository"
	notNamed = "cannot use bare repository"
	notOwned = "dubious ownership"
)

// OpenClone opens the clone around dir. It returns ErrNoClone or ErrNoGit if there is none, and ErrShut
// or ErrOwner if Git refuses it. The git process that serves the clone's objects ends with ctx.
func OpenClone(ctx context.Context, dir string) (Clone, error) {
	out, err := git(ctx, dir, nil, nil, "rev-parse", "--absolute-git-dir")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return Clone{}, ErrNoGit
	case err != nil && strings.Contains(err.Error(), notGit):
		return Clone{}, ErrNoClone
	case err != nil && strings.Contains(err.Error(), notNamed):
		return Clone{}, ErrShut
	case err != nil && strings.Contains(err.Error(), notOwned):
		return Clone{}, ErrOwner
	case err != nil:
		return Clone{}, err
	}
	return Clone{Dir: strings.TrimSuffix(string(out), "\n"), openedFrom: dir}.withObjects(ctx, ""), nil
}

// withObjects returns the clone with additional objects from a folder. Its git process ends when life is done.
func (g Clone) withObjects(life context.Context, folder string) Clone {
	g.extraObjects = folder
	g.objects = &objects{life: life, turn: make(chan struct{}, 1), command: func() *exec.Cmd {
		// no context: the asking call or the end of life ends it
		return prepare(exec.Command("git", g.args("cat-file", "--batch")...), g.Dir, g.env())
	}}
	return g
}

func (g Clone) name() string {
	if filepath.Base(g.Dir) == ".git" {
		return filepath.Base(filepath.Dir(g.Dir))
	}
	return strings.TrimSuffix(filepath.Base(g.Dir), ".git")
}

func (g Clone) read(ctx context.Context, base, head string, file config.File, c *Change) error {
	patch, err := g.Run(ctx, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames",
		"--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/", "--unified=3", base, head, "--")
	if err != nil {
		return fmt.Errorf("reading the range: %w", err)
	}
	files, err := diff.Parse(bytes.NewReader(patch), MaxDiff)
	if err != nil {
		return fmt.Errorf("reading the range's diff: %w", err)
	}
	c.Files = sortByPath(files)
	c.Base = base
	read := func(path string, _ int64) ([]byte, error) { return g.file(ctx, base, path) }
	if err = c.readRules(file, read, g.names(ctx, base)); err != nil {
		return err
	}
	err = c.readGuidance(read, func(name string) (string, error) {
		dir, file := path.Split(name)
		modes, err := g.modes(ctx, base, path.Join(dir)) // "" is the root, which Git does not call "."
		return modes[file], err
	})
	if err != nil {
		return err
	}
	return confirmClaims(ctx, c.Files, cloneBase{g, base, head})
}

// cloneBase is the commit at which a range starts.
type cloneBase struct {
	Clone
	baseCommit, headCommit string
}

func (b cloneBase) listFolder(ctx context.Context, path string) ([]string, error) {
	return b.names(ctx, b.baseCommit)(path)
}

// names returns a function that returns the names of a folder's entries at a commit.
func (g Clone) names(ctx context.Context, commit string) func(dir string) ([]string, error) {
	return func(dir string) ([]string, error) {
		modes, err := g.modes(ctx, commit, dir)
		return slices.Sorted(maps.Keys(modes)), err
	}
}

// modes returns the Git mode of each entry of a folder at a commit, by name.
func (g Clone) modes(ctx context.Context, commit, dir string) (map[string]string, error) {
	found, err := g.object(ctx, math.MaxInt64, commit+":"+dir)
	if err != nil || found.kind != "tree" {
		return nil, err
	}
	return treeModes(found.text, len(found.hash)/2), nil
}

// treeModes reads a tree object, each of whose entries is "mode name<nul>" and a hash of so many bytes.
func treeModes(text []byte, hashSize int) map[string]string {
	all := map[string]string{}
	for {
		entry, rest, whole := bytes.Cut(text, []byte{0})
		mode, name, named := bytes.Cut(entry, []byte{' '})
		if !whole || !named || len(rest) < hashSize {
			return all
		}
		all[string(name)], text = string(mode), rest[hashSize:]
	}
}

func (b cloneBase) readBase(ctx context.Context, path string) ([]byte, error) {
	return b.fileUpTo(ctx, maxBlob, b.baseCommit, path)
}

func (b cloneBase) readHead(ctx context.Context, path string) ([]byte, error) {
	return b.fileUpTo(ctx, maxBlob, b.headCommit, path)
}

// Commit returns the full hash of the commit that a name resolves to, or ErrNoRange if it does
// not.
func (g Clone) Commit(ctx context.Context, name string) (string, error) {
	found, err := g.object(ctx, maxBlob, name+"^{commit}")
	switch {
	case err != nil:
		return "", fmt.Errorf("looking for the commit %q: %w", name, err)
	case found.kind == "":
		return "", fmt.Errorf("the commit %q is %w", name, ErrNoRange)
	}
	return found.hash, nil
}

// file returns a file's content at a commit, or nil if it does not exist.
func (g Clone) file(ctx context.Context, commit, path string) ([]byte, error) {
	return g.fileUpTo(ctx, math.MaxInt64, commit, path)
}

// fileUpTo is like file, but also returns nil for a file of more than limit bytes.
func (g Clone) fileUpTo(ctx context.Context, limit int64, commit, path string) ([]byte, error) {
	found, err := g.object(ctx, limit, commit+":"+path)
	if err == nil && found.kind != "" && found.kind != "blob" {
		err = fmt.Errorf("it is a %s", found.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s at the base: %w", path, err)
	}
	return found.text, nil
}

// object returns the object that a name resolves to.
func (g Clone) object(ctx context.Context, limit int64, name string) (object, error) {
	if strings.ContainsAny(name, "\r\n") { // cat-file reads one name a line
		hash, err := g.runLine(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
		switch {
		case errors.Is(err, ErrPartial) || ctx.Err() != nil:
			return object{}, err
		case err != nil:
			return object{}, nil
		}
		name = hash
	}
	found, err := g.objects.read(ctx, limit, name)
	if err != nil {
		return object{}, err
	}
	return found[0], nil
}

// Blobs returns the contents of blobs, in the order of their hashes. A missing blob is an error.
func (g Clone) Blobs(ctx context.Context, hashes []string) ([][]byte, error) {
	all, err := g.objects.read(ctx, math.MaxInt64, hashes...)
	if err != nil {
		return nil, err
	}
	texts := make([][]byte, len(all))
	for i, o := range all {
		if o.kind != "blob" {
			return nil, fmt.Errorf("git has no file %s", hashes[i])
		}
		texts[i] = o.text
	}
	return texts, nil
}

func (g Clone) runLine(ctx context.Context, args ...string) (string, error) {
	out, err := g.Run(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// Run runs git on the clone, isolated as Clone describes, and returns its standard output.
func (g Clone) Run(ctx context.Context, args ...string) ([]byte, error) {
	return git(ctx, g.Dir, nil, g.env(), g.args(args...)...)
}

func (g Clone) env() []string {
	env := []string{"GIT_DIR=" + g.Dir, "GIT_WORK_TREE=" + g.Dir, "GIT_INDEX_FILE=" + filepath.Join(g.Dir, "no-index")}
	if g.extraObjects != "" {
		env = append(env, g.objectEnv(g.extraObjects)...)
	}
	return env
}

func (g Clone) args(args ...string) []string {
	return append([]string{
		"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.quotePath=true",
		"-c", "diff.suppressBlankEmpty=false", "-c", "diff.interHunkContext=0",
	}, args...)
}

// unfetched is git's wording for an object that a partial clone lacks.
const unfetched = "promisor remote"

// git runs git, which starts no hook and no monitor of the clone, and returns its standard output.
func git(ctx context.Context, dir string, input io.Reader, env []string, args ...string) ([]byte, error) {
	args = append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)
	cmd := prepare(exec.CommandContext(ctx, "git", args...), dir, env)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = input, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, gitError(err, stderr.String())
	}
	return out, nil
}

// prepare prevents git from starting a transport, so that what a partial clone lacks is an error, and from showing
// another object in place of the one that a hash names (git replace). GIT_NO_LAZY_FETCH is off: with it Git 2.45 and
// later answer that such an object does not exist.
func prepare(cmd *exec.Cmd, dir string, env []string) *exec.Cmd {
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "LC_ALL=C", "GIT_NO_LAZY_FETCH=0", "GIT_ALLOW_PROTOCOL=none",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1")...)
	return cmd
}

// gitError returns git's error with its standard error, or ErrPartial.
func gitError(err error, stderr string) error {
	switch {
	case strings.Contains(stderr, unfetched):
		return ErrPartial
	case stderr != "":
		return fmt.Errorf("running git: %s: %w", strings.TrimSpace(stderr), err)
	}
	return err
}
