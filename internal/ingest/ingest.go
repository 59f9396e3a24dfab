// Package ingest reads a change: a pull request through the API, a range of a clone, or a diff.
//
// It returns the same Change for each and judges nothing. For a pull request nothing is checked
// out and nothing from its head is trusted: settings come from the base, or from the default branch
// if the base is another branch without protection. Start reading at Change.
package ingest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
)

// Change is what a review examines.
type Change struct {
	Name     string     // as people call it: #42, main...HEAD, demo
	Thread   string     // the thread's id
	Pull     *pull.Pull // nil for local input
	Head     string     // the reviewed commit; empty for a diff
	Files    []diff.File
	Unlisted int // changed files that GitHub does not list

	Config config.Config
	// path of the settings file in the repository; empty for a diff, which has no base to read it from
	Settings   string
	Attributes []byte // .gitattributes of the same commit as the settings, or empty
	// from that commit too: how to work on the repository; it guides a review but gives no
	// orders
	Guidance []prompt.Document
	rulesAt  string // the commit or branch of a pull request's settings
	Base     string // the commit that the change starts from, of a pull request GitHub's base; empty for a diff
	Branch   string // the branch of the clone, such as refs/heads/fix, where the thread's id says only HEAD or worktree
	Clone    Clone  // that the change was read from; zero for a diff or a pull request
	Tree     string // for a work tree: its files as a Git tree; otherwise empty
	Objects  string // for a work tree: the folder with the objects that the clone lacks; otherwise empty
}

// maxGuidance is the largest guidance file that is read, in bytes. Larger ones are left out.
const maxGuidance = 64 << 10

// parseSettings parses the text of the settings file, nil for none. list returns the names in a folder at the same
// commit: one that was perhaps meant to be the file is named in Overruled.
func parseSettings(file config.File, text []byte, list func(dir string) ([]string, error)) (config.Config, error) {
	c, err := file.Parse(text)
	if dir := path.Dir(file.Path); err == nil && text == nil && dir != "." {
		names, _ := list(dir) // it only serves a hint
		c.Overruled = append(c.Overruled, file.Misnamed(names)...)
	}
	return c, err
}

// readRules reads what one commit defines for reviews: settings and attributes.
// read returns nil for a missing file, list the names in a folder.
func (c *Change) readRules(file config.File, read func(path string, limit int64) ([]byte, error),
	list func(dir string) ([]string, error)) error {
	text, err := file.Here, error(nil)
	if text == nil {
		text, err = read(file.Path, config.MaxSize+1)
	}
	if err != nil {
		return err
	}
	if c.Config, err = parseSettings(file, text, list); err != nil {
		return err
	}
	c.Attributes, err = read(".gitattributes", 1<<20)
	return err
}

// maxGuides bounds the files that are read in addition to those that the settings name.
const maxGuides = 50

// readGuidance reads what guides the review of the change's files. mode returns the Git mode of a path that the
// settings do not name, "" if the commit does not have it.
func (c *Change) readGuidance(read func(path string, limit int64) ([]byte, error),
	mode func(path string) (string, error)) error {
	left := maxGuides
	for _, path := range c.instructions() {
		link := false
		if !slices.Contains(c.Config.Instructions, path) {
			if left == 0 {
				continue
			}
			kind, err := mode(path)
			if err != nil {
				return err
			}
			if link = kind == "120000"; !link && !strings.HasPrefix(kind, "100") {
				continue
			}
			left--
		}
		text, err := read(path, maxGuidance)
		if to := linkTarget(path, string(text)); to != "" {
			text, err = read(to, maxGuidance)
		} else if link && !bytes.Contains(text, []byte("\n")) {
			continue
		}
		if err != nil && !errors.Is(err, github.ErrTooLarge) {
			return err
		}
		if len(text) > 0 && len(text) <= maxGuidance {
			c.Guidance = append(c.Guidance, prompt.Document{Path: path, Text: string(text)})
		}
	}
	return nil
}

// linkTarget returns the path that a symbolic link leads to, or "" for the text of a file. Git has the target alone as
// a link's text, without a line feed; GitHub answers with the file that it leads to, if that is in the repository.
func linkTarget(link, text string) string {
	to := path.Join(path.Dir(link), text)
	if strings.ContainsAny(text, " \n") || path.Ext(to) != path.Ext(link) || diff.CheckPath(to) != nil {
		return ""
	}
	return to
}

// instructions returns where what guides the review may be, the nearest to a file first, because what does not fit a
// prompt is cut.
func (c *Change) instructions() []string {
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path)
	}
	return c.Config.InstructionsFor(paths)
}

// Digest returns the digest of the change's diff; see diff.Digest.
func (c Change) Digest() string { return diff.Digest(c.Files) }

// sortByPath sorts files into the order in which they are reviewed, shown and hashed.
func sortByPath(files []diff.File) []diff.File {
	order.Stable(files, func(a, b diff.File) int { return cmp.Compare(a.Path, b.Path) })
	return files
}

// MaxPatches bounds the patches of a change together, in bytes of JSON. A draft is stored in a
// file of at most 48 MiB, which must also hold the findings.
const MaxPatches = 32 << 20

// Fit removes patches until the rest is within limit: first those of files that are not needed,
// then of the others, the largest first. A file that lost its patch keeps its counts and has no
// Problem.
func Fit(files []diff.File, limit int, needed func(diff.File) bool) []diff.File {
	type patch struct {
		file, size int
		needed     bool
	}
	var patches []patch
	total := 0
	for i, f := range files {
		size := quotedSize(f.Patch)
		total += size
		patches = append(patches, patch{i, size, false})
	}
	if total <= limit {
		return files
	}
	for i := range patches {
		patches[i].needed = needed(files[patches[i].file])
	}
	order.Stable(patches, func(a, b patch) int {
		if a.needed != b.needed {
			return map[bool]int{false: -1, true: 1}[a.needed]
		}
		return cmp.Compare(b.size, a.size)
	})
	files = slices.Clone(files)
	for _, p := range patches {
		if total <= limit {
			break
		}
		files[p.file].Patch, total = "", total-p.size
	}
	return files
}

func quotedSize(text string) int {
	out, _ := jsontext.AppendQuote(nil, text) // the error is for invalid UTF-8, which is written nevertheless
	return len(out)
}

// MaxDiff is the size of the largest diff that is read, in bytes.
const MaxDiff = 256 << 20

//go:embed demo.diff
var demo []byte

// Diff reads a unified diff; name is its display name. The thread's id contains the SHA-256 of its bytes.
func Diff(name string, r io.Reader) (Change, error) {
	sum := sha256.New()
	c, err := localChange(name, io.TeeReader(r, sum))
	c.Thread = fmt.Sprintf("local/diff:%x", sum.Sum(nil))
	return c, err
}

// Demo returns a small change with seeded defects, for trying things out.
func Demo() (Change, error) {
	c, err := localChange("demo", bytes.NewReader(demo))
	c.Thread = "local/demo:" + c.Digest()
	return c, err
}

func localChange(name string, r io.Reader) (Change, error) {
	files, err := diff.Parse(r, MaxDiff)
	if err != nil {
		return Change{}, fmt.Errorf("reading %s: %w", name, err)
	}
	c := Change{Name: name, Files: sortByPath(files), Config: config.Default()}
	of, known := questions(c.Files, claims(c.Files))
	recordVouched(c.Files, of, known)
	return c, nil
}
