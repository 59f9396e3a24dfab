package setup

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/problem"
)

// File is a file that init writes.
type File struct {
	Path  string `json:"path"`  // from the top of the clone
	State string `json:"state"` // written, there, or kept: the repository's own settings
	text  string
	own   bool // once it is there it is the repository's
}

// maxFile bounds what is read of a file that is there.
const maxFile = 1 << 20

// put writes the files into the clone, all or, where one is in the way, none.
func put(top string, files []File, force bool) (err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var differ []string
	for i := range files {
		f := &files[i]
		if f.State, err = stateOf(root, *f); err != nil {
			return err
		}
		if f.State == "other" {
			differ = append(differ, f.Path)
		}
	}
	if len(differ) > 0 && !force {
		return inTheWay(differ)
	}
	for i := range files {
		if f := &files[i]; f.State == "" || f.State == "other" {
			if err := create(root, *f); err != nil {
				return err
			}
			f.State = "written"
		}
	}
	return nil
}

func inTheWay(paths []string) error {
	return problem.Usage("there is another "+strings.Join(paths, " and another ")+"; nothing was written",
		"compare it with the README's, and run init --force to replace it")
}

// stateOf is there or kept of a file that stays, other of one that is another, and empty
// where there is none.
func stateOf(root *os.Root, f File) (string, error) {
	for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", unwritable(f.Path, err)
		case !info.IsDir():
			return "", problem.Usage(dir+" is not a folder, or is a link to one",
				"GitHub follows no link there: make it a folder")
		}
	}
	text, err := readRoot(root, f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case f.own:
		return "kept", nil
	case text == f.text:
		return "there", nil
	}
	return "other", nil
}

// readIn reads a file of the clone; nil where there is none.
func readIn(top, name string) (text []byte, err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	read, err := readRoot(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return []byte(read), err
}

func readRoot(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", unwritable(name, err)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return "", problem.Usage(name+" is not a regular file", "take it away, then run init again")
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return "", unwritable(name, err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), nil // as Git for Windows writes it
}

// create makes a file in one step, so that nobody sees half of it.
func create(root *os.Root, f File) (err error) {
	if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
		return unwritable(f.Path, err)
	}
	aside := f.Path + "." + rand.Text()[:8] + ".tmp" // no workflow, whatever becomes of it
	if err = root.WriteFile(aside, []byte(f.text), 0o644); err == nil {
		err = root.Rename(aside, f.Path)
	}
	if err != nil {
		_ = root.Remove(aside) // which may not have come to be
		return unwritable(f.Path, err)
	}
	return nil
}

func unwritable(name string, err error) error {
	return problem.As(problem.Failed, fmt.Errorf("%s: %w", filepath.ToSlash(name), err),
		"see who owns the folder and whether it may be written; then run init again")
}
