package artifactstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/transport"
)

// Dir stores checkpoints as files <name>.zip in a folder, for servers without the
// runner's protocol. Who may write to it depends on what passes the folder from
// job to job. Its files are readable by all: a container action is root, and the steps that carry the folder are not.
type Dir struct {
	Path   string
	Prefix string // of the names to list
	Days   int    // for which the progress of a run that was killed stays; 0 for ever
}

const extension = ".zip"

// Put writes a file atomically and durably. It returns artifact.ErrExists if the folder has
// another file of that name: of two jobs that decide one draft, the second finds what the first
// decided. A file system without hard links cannot tell; there the second replaces the first.
func (d Dir) Put(_ context.Context, name string, zip []byte) error {
	if err := os.MkdirAll(d.Path, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := checkName(name); err != nil {
		return err
	}
	temporary := "." + name + "." + rand.Text()[:8] + ".tmp" // of this job: others may store the same name
	if err := write(root, temporary, zip); err != nil {
		return errors.Join(err, removeIfThere(root, temporary))
	}
	err = root.Link(temporary, name+extension)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = root.Rename(temporary, name+extension)
	}
	if errors.Is(err, fs.ErrExist) {
		if have, failed := root.ReadFile(name + extension); failed == nil && bytes.Equal(have, zip) {
			err = nil
		} else {
			err = artifact.ErrExists
		}
	}
	d.sweep(root)
	return errors.Join(err, removeIfThere(root, temporary), syncFolder(root))
}

// abandoned is the age at which an unfinished file must be from a process that was killed.
const abandoned = time.Hour

var (
	unfinished = pattern.Lazy(`^\.([^.].*)\.[A-Z2-7]{8}\.tmp$`)
	progress   = pattern.Lazy(`^(.+-partial-[0-9]+-[0-9a-f]{16})\.zip$`)
)

// sweep removes what killed jobs have left: unfinished files, and progress after its days. Drafts and records stay.
func (d Dir) sweep(root *os.Root) {
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		age, of := abandoned, unfinished().FindStringSubmatch(e.Name())
		if of == nil && d.Days > 0 {
			age, of = time.Duration(d.Days)*24*time.Hour, progress().FindStringSubmatch(e.Name())
		}
		if of == nil || !strings.HasPrefix(of[1], d.Prefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > age {
			_ = root.Remove(e.Name()) // another job may have been faster
		}
	}
}

func write(root *os.Root, name string, content []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFolder makes a rename durable.
func syncFolder(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// List returns the folder's regular files, newest first. A missing folder is
// empty.
func (d Dir) List(context.Context) ([]Item, error) {
	entries, err := os.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var items []Item
	for _, e := range entries {
		name, zip := strings.CutSuffix(e.Name(), extension)
		info, err := e.Info()
		if !zip || checkName(name) != nil || !strings.HasPrefix(name, d.Prefix) || err != nil ||
			!info.Mode().IsRegular() {
			continue
		}
		items = append(items, Item{Source: OfFolder,
			Artifact: github.Artifact{Name: name, Size: info.Size(), Created: info.ModTime()}})
	}
	order.Stable(items, func(a, b Item) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Name, a.Name))
	})
	return items, nil
}

// Get reads a file of the folder. Errors are fs.ErrNotExist and
// transport.ErrTooLarge, among others; a link is refused.
func (d Dir) Get(_ context.Context, i Item, max int64) ([]byte, error) {
	if err := checkName(i.Name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(i.Name + extension)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", i.Name+extension)
	}
	f, err := root.Open(i.Name + extension)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(zip)) > max {
		err = fmt.Errorf("%w: the limit is %d bytes", transport.ErrTooLarge, max)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", i.Name+extension, err)
	}
	return zip, i.check(zip)
}

// Delete removes a file.
func (d Dir) Delete(_ context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return removeIfThere(root, name+extension)
}

func removeIfThere(root *os.Root, name string) error {
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkName accepts what GitHub accepts as an artifact's name, but no path.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "\":<>|*?\r\n\\/\x00") {
		return fmt.Errorf("%q cannot name a checkpoint", name)
	}
	return nil
}
