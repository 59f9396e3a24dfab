// Package ingest reads a change: a pull request through the API, a range of a
// clone, or a diff.
//
// It gives back the same shape for each and judges nothing. Of a pull request
// nothing is checked out and nothing from its head is trusted: settings come
// from the base. Start reading at Change.
package ingest

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
)

// Change is what a review is about.
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
	Attributes []byte // .gitattributes of the base, or empty
	// of the trusted commit: how to work on the repository; it guides a review and orders nothing
	Guidance []prompt.Document
	Base     string // the commit that the change starts from; empty for a diff
	Clone    Clone  // that the change was read of; of a diff and a pull request none
	Tree     string // of a work tree: its files as a tree of Git's; else empty
	Objects  string // of a work tree: the folder that holds what the clone does not; else empty
}

// maxGuidance bounds a file of guidance, in bytes. A larger one is left out.
const maxGuidance = 64 << 10

// governed reads what the trusted commit says of reviews: settings, guidance, attributes. A
// file that is not there is nil.
func (c *Change) governed(file config.File, read func(path string, limit int64) ([]byte, error)) error {
	text, err := read(file.Path, config.MaxSize+1)
	if err != nil {
		return err
	}
	if c.Config, err = file.Parse(text); err != nil {
		return err
	}
	for _, path := range c.Config.Instructions {
		text, err := read(path, maxGuidance)
		if err != nil && !errors.Is(err, github.ErrTooLarge) {
			return err
		}
		if len(text) > 0 && len(text) <= maxGuidance {
			c.Guidance = append(c.Guidance, prompt.Document{Path: path, Text: string(text)})
		}
	}
	c.Attributes, err = read(".gitattributes", 1<<20)
	return err
}

// Digest names the change's diff; see diff.Digest.
func (c Change) Digest() string { return diff.Digest(c.Files) }

// byPath puts files in the order in which they are reviewed, shown and hashed.
func byPath(files []diff.File) []diff.File {
	order.Stable(files, func(a, b diff.File) int { return cmp.Compare(a.Path, b.Path) })
	return files
}

// MaxPatches bounds the patches of a change together, in bytes of JSON. A draft
// travels in a file of at most 48 MiB, and what is found is to fit in as well.
const MaxPatches = 32 << 20

// Fit leaves out patches until the others are within limit: first those of files
// that are not needed, then of the others, the largest first. A file that lost
// its patch keeps its counts, and has no Problem.
func Fit(files []diff.File, limit int, needed func(diff.File) bool) []diff.File {
	type patch struct {
		file, size int
		needed     bool
	}
	var patches []patch
	total := 0
	for i, f := range files {
		size := quoted(f.Patch)
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

func quoted(text string) int {
	out, _ := jsontext.AppendQuote(nil, text) // the error is of text that is no UTF-8, and is written all the same
	return len(out)
}

// MaxDiff is the largest diff that is read, in bytes.
const MaxDiff = 256 << 20

//go:embed demo.diff
var demo []byte

// Diff reads a unified diff; name is what people call it. The thread is named
// after the diff's digest.
func Diff(name string, r io.Reader) (Change, error) {
	return local(name, "diff", r)
}

// Demo gives a small change with seeded defects, made for trying things out.
func Demo() (Change, error) {
	return local("demo", "demo", bytes.NewReader(demo))
}

func local(name, kind string, r io.Reader) (Change, error) {
	files, err := diff.Parse(r, MaxDiff)
	if err != nil {
		return Change{}, fmt.Errorf("reading %s: %w", name, err)
	}
	c := Change{Name: name, Files: byPath(files), Config: config.Default()}
	c.Thread = "local/" + kind + ":" + c.Digest()
	of, known := questions(c.Files, claims(c.Files))
	note(c.Files, of, known)
	return c, nil
}
