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

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
)

// File is a file that init writes.
type File struct {
	Path  string `json:"path"`  // relative to the top of the clone
	State string `json:"state"` // written, there (the same), or kept (the repository's own settings)
	text  string
	own   bool // belongs to the repository once it exists
}

// maxFile is the largest existing file that is read, in bytes.
const maxFile = 1 << 20

// writeFiles writes the files into the clone: all of them, or none if another file is in the way.
func writeFiles(top string, files []File, force bool) (err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var differ, foreign []string
	for i := range files {
		f := &files[i]
		if f.State, err = stateOf(root, *f); err != nil {
			return err
		}
		if f.State == "other" {
			differ = append(differ, f.Path)
			if text, _ := readRoot(root, f.Path); !strings.Contains(text, "org/pr-review-action") {
				foreign = append(foreign, f.Path)
			}
		}
	}
	switch {
	case len(foreign) > 0 && !force:
		return problem.Usage("there is another "+strings.Join(foreign, " and another ")+", which does not use this "+
			"action; nothing was written", "rename it, then run init again; --force replaces it")
	case len(differ) > 0 && !force:
		return problem.Usage("there is another "+strings.Join(differ, " and another ")+"; nothing was written",
			"commit it, run init --force to replace it, and see with git diff what that changed")
	}
	for i := range files {
		if f := &files[i]; f.State == "" || f.State == "other" {
			if err := writeFile(root, *f); err != nil {
				return err
			}
			f.State = "written"
		}
	}
	return nil
}

// stateOf returns "" if the file does not exist, "kept" or "there" if the existing one
// stays, and "other" if it differs in more than the tag or commit of our action.
func stateOf(root *os.Root, f File) (string, error) {
	for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
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
	case unpinned(text) == unpinned(f.text):
		return "there", nil
	}
	return "other", nil
}

var ownAction = pattern.Lazy(`(?m)(uses: org/pr-review-action)@[\w.-]+( +#.*)?$`)

// unpinned returns a workflow as it would be without a tag or commit of our action.
func unpinned(text string) string { return ownAction().ReplaceAllString(text, "$1") }

// readIn reads a file of the clone. It returns nil if there is none.
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
	text, err := root.ReadFile(name)
	if err != nil {
		return "", unwritable(name, err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), nil // Git for Windows writes CRLF
}

// writeFile writes a file atomically, so that no reader sees half of it.
func writeFile(root *os.Root, f File) (err error) {
	if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
		return unwritable(f.Path, err)
	}
	aside := f.Path + "." + rand.Text()[:8] + ".tmp" // GitHub ignores this name if the file stays behind
	if err = root.WriteFile(aside, []byte(f.text), 0o644); err == nil {
		err = root.Rename(aside, f.Path)
	}
	if err != nil {
		_ = root.Remove(aside) // it may not exist
		return unwritable(f.Path, err)
	}
	return nil
}

func unwritable(name string, err error) error {
	return problem.As(problem.Failed, fmt.Errorf("%s: %w", filepath.ToSlash(name), err),
		"see who owns the folder and whether it may be written; then run init again")
}
