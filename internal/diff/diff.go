// Package diff models changed files and parses, creates and measures unified diffs.
//
// It does no I/O of its own. A patch is kept as GitHub's API returns it: hunks only, without file
// headers. Start reading at File; Hunks and Anchors tell which lines a comment may be placed on.
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

// Status says what happened to a file, in GitHub's terms.
type Status string

// The statuses of a changed file.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Removed  Status = "removed"
	Renamed  Status = "renamed"
	Copied   Status = "copied"
	Changed  Status = "changed" // only the mode
)

// File is one changed file. Path, OldPath and Patch are untrusted text.
type File struct {
	Path      string `json:"path"`
	OldPath   string `json:"old_path,omitempty"` // for renames and copies
	Status    Status `json:"status"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Patch     string `json:"patch,omitempty"`   // hunks, or empty
	Binary    bool   `json:"binary,omitempty"`  // no text to diff
	Problem   string `json:"problem,omitempty"` // why the file has changes but no patch; our own words
	Blob      string `json:"blob,omitempty"`    // Git's hash of the new content, if GitHub returned no patch
	Vouched   string `json:"vouched,omitempty"` // what the file claims to be, if the base confirms it; see claim

	parsed *parsedPatch // set by Read; if nil, every call parses the patch
}

// parsedPatch is a patch that is parsed once, on first use.
type parsedPatch struct {
	patch   string
	hunks   func() ([]Hunk, error)
	anchors func() (Anchors, error)
}

// Read returns the file with a patch that is parsed once, on first use, for all calls of Hunks and
// Anchors on it and on its copies.
func (f File) Read() File {
	r := &parsedPatch{patch: f.Patch}
	r.hunks = sync.OnceValues(func() ([]Hunk, error) { return Hunks(r.patch) })
	r.anchors = sync.OnceValues(func() (Anchors, error) { return newAnchors(r.hunks()) })
	f.parsed = r
	return f
}

// Hunks returns the hunks of the file's patch. The caller must not modify them.
func (f File) Hunks() ([]Hunk, error) {
	if f.parsed != nil && f.parsed.patch == f.Patch {
		return f.parsed.hunks()
	}
	return Hunks(f.Patch)
}

// Anchors returns the anchors of the file's patch.
func (f File) Anchors() (Anchors, error) {
	if f.parsed != nil && f.parsed.patch == f.Patch {
		return f.parsed.anchors()
	}
	return NewAnchors(f.Patch)
}

// Shows reports whether the diff shows the lines from start to end on one of its sides.
func (f File) Shows(start, end int) bool {
	anchors, err := f.Anchors()
	return err == nil && (anchors.Admit("RIGHT", start, end) || anchors.Admit("LEFT", start, end))
}

// Changes returns the number of added and deleted lines.
func (f File) Changes() int { return f.Additions + f.Deletions }

// Digest returns the SHA-256, in hex, of the path, status and patch of every file in order. It
// identifies the diff under review; commits are not part of it. If GitHub returned no patch for a
// file, its blob hash takes the patch's place, so that computing the digest needs no content.
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

// maxPath is the length in bytes from which a path is refused; Linux has the same limit.
const maxPath = 4096

// CheckPath returns an error for a path of a diff that could leave the tree or that names another
// file than it seems to: empty, absolute, unclean, with "..", a backslash, a NUL or a drive
// letter, or not UTF-8.
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

// Entry is what a commit has at a path: the Git mode (100644, 100755, 120000 for a symbolic link,
// 040000 for a folder, 160000 for a submodule) and the hash.
type Entry struct{ Mode, Blob string }
