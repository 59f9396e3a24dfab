// Package diff holds changed files and reads, makes and measures unified diffs.
//
// It does no I/O of its own. A patch is kept as GitHub's API gives it: hunks
// alone, without file headers. Start reading at File; Hunks and Anchor answer
// which lines a comment may stand on.
package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"sync"
	"unicode/utf8"
)

// Status says what happened to a file, in GitHub's words.
type Status string

// The statuses of a changed file.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Removed  Status = "removed"
	Renamed  Status = "renamed"
	Copied   Status = "copied"
	Changed  Status = "changed" // the mode alone
)

// File is one changed file. Path, OldPath and Patch are untrusted text.
type File struct {
	Path      string `json:"path"`
	OldPath   string `json:"old_path,omitempty"` // of renames and copies
	Status    Status `json:"status"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Patch     string `json:"patch,omitempty"`   // hunks, or empty
	Binary    bool   `json:"binary,omitempty"`  // no text to diff
	Problem   string `json:"problem,omitempty"` // why the file has changes but no patch; our own words
	Blob      string `json:"blob,omitempty"`    // Git's name of the new content, where GitHub gave no patch
	Vouched   string `json:"vouched,omitempty"` // what the file claims to be and is by the base too; see claim

	read *reading // of Read; nil for a file whose patch is parsed each time
}

// reading is a patch that is parsed when it is first asked about, and once.
type reading struct {
	patch   string
	hunks   func() ([]Hunk, error)
	anchors func() (Anchors, error)
}

// Read returns the file for use by those who ask for its hunks and anchors more
// than once: its patch is parsed once for all of them, and for all copies.
func (f File) Read() File {
	r := &reading{patch: f.Patch}
	r.hunks = sync.OnceValues(func() ([]Hunk, error) { return Hunks(r.patch) })
	r.anchors = sync.OnceValues(func() (Anchors, error) { return newAnchors(r.hunks()) })
	f.read = r
	return f
}

// Hunks are those of the file's patch, which must not be changed.
func (f File) Hunks() ([]Hunk, error) {
	if f.read != nil && f.read.patch == f.Patch {
		return f.read.hunks()
	}
	return Hunks(f.Patch)
}

// Anchors are those of the file's patch.
func (f File) Anchors() (Anchors, error) {
	if f.read != nil && f.read.patch == f.Patch {
		return f.read.anchors()
	}
	return NewAnchors(f.Patch)
}

// Shows reports whether the diff shows all of some lines, on one of its sides.
func (f File) Shows(start, end int) bool {
	anchors, err := f.Anchors()
	return err == nil && (anchors.Admit("RIGHT", start, end) || anchors.Admit("LEFT", start, end))
}

// Changes is the number of added and deleted lines.
func (f File) Changes() int { return f.Additions + f.Deletions }

// Digest is the SHA-256, in hex, over path, status and patch of every file in
// order. It names the diff that a review is about; commits are not in it. For a
// file that GitHub gave no patch for, its blob stands in the patch's place, so
// that the digest can be had without reading content.
func Digest(files []File) string {
	h := sha256.New()
	for _, f := range files {
		content := f.Patch
		if f.Blob != "" {
			content = "blob " + f.Blob
		}
		for _, s := range []string{f.Path, f.OldPath, string(f.Status), content} {
			fmt.Fprintf(h, "%d:%s,", len(s), s)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// maxPath is the length in bytes from which a path is refused; Linux has the
// same limit.
const maxPath = 4096

// CheckPath refuses a path of a diff that could leave the tree or name another
// file than it seems to: empty, absolute, unclean, with "..", a backslash, a
// NUL, a drive letter, or not UTF-8.
func CheckPath(p string) error {
	reason := ""
	switch {
	case p == "" || p == ".":
		reason = "names no file"
	case len(p) >= maxPath:
		reason = fmt.Sprintf("is longer than %d bytes", maxPath-1)
	case !utf8.ValidString(p):
		reason = "is not UTF-8"
	case strings.ContainsAny(p, "\x00\\"):
		reason = "holds a NUL or a backslash"
	case strings.HasPrefix(p, "/") || len(p) > 2 && p[1:3] == ":/":
		reason = "is absolute"
	case p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") || strings.HasSuffix(p, "/.."):
		reason = "leaves the tree"
	case path.Clean(p) != p:
		reason = "is not clean"
	default:
		return nil
	}
	return fmt.Errorf("path %.200q %s", p, reason)
}

// Entry is what a commit has at a path: of Git a mode (100644, 100755, 120000 for a link,
// 040000 for a folder, 160000 for a submodule) and its hash.
type Entry struct{ Mode, Blob string }
