// Package tree reads the files of one commit from a clone's objects, from GitHub's
// archive of the commit, or from memory; or those of a folder as it is.
//
// It bounds files and bytes, starts no program, makes no request and writes nothing:
// the caller passes in how git is run or the archive is fetched. No path leaves the
// commit, no link is followed, and files whose names suggest credentials are not
// shown. The contents are untrusted text.
//
// Start reading at Tree. Clone, Archive, Folder and Files make one; Hold keeps files in
// memory.
package tree

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/pattern"
)

// Bounds of a tree.
const (
	MaxFile  = 1 << 20   // bytes of a single file
	MaxTree  = 128 << 20 // bytes of a tree held in memory: texts, paths and notes
	MaxFiles = 50_000    // files in such a tree, and as many notes on other paths
)

// Why a Tree does not read a path. Errors that wrap these contain untrusted text;
// they are shown to a model, so some say what to do instead.
var (
	ErrNoFile   = errors.New("there is no such file")
	ErrNotText  = errors.New("the file is not text")
	ErrTooLarge = errors.New("the file is too large to be read")
	ErrLink     = errors.New("links are not followed")
	ErrRefused  = errors.New("the path is not shown")
)

// AboutFile reports whether an error from Read concerns one file, which is missing
// or has no text to show, rather than the source of the tree.
func AboutFile(err error) bool {
	return slices.ContainsFunc([]error{ErrNoFile, ErrNotText, ErrTooLarge, ErrLink, ErrRefused}, func(one error) bool {
		return errors.Is(err, one)
	})
}

// refused matches paths in git's own folder and files that usually hold credentials.
// A review does without them, whatever they contain.
var refused = pattern.Lazy(`(?i)(?:^|/)(?:` +
	`\.git(?:/.*)?|\.(?:ssh|gnupg|aws|azure|kube|password-store)(?:/.*)?|` + // folders
	`[^/]*\.env|\.env[^/]*(?:/.*)?|` +
	`\.npmrc|\.yarnrc|[._]netrc|\.pypirc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.dockercfg` +
	`|\.docker/config\.json|` +
	`\.vault-token|\.cargo/credentials(?:\.toml)?|\.gem/credentials|kubeconfig|credentials(?:\.json)?` +
	`|service[-_]account[^/]*\.json|` +
	`id_(?:rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate|tfstate\.backup)` +
	`)$`)

// CheckPath returns ErrRefused for a path that could leave the tree (diff.CheckPath)
// and for one that is not shown because of its name.
func CheckPath(path string) error {
	if err := diff.CheckPath(path); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if refused().MatchString(path) {
		return fmt.Errorf("%w: %q belongs to Git, or may hold credentials by its name; do without it", ErrRefused, path)
	}
	return nil
}

func tooLarge(size int64) error {
	return fmt.Errorf("%w: %d bytes, and at most %d are read", ErrTooLarge, size, MaxFile)
}

// isText reports whether the first 8,000 bytes have no NUL, which is git's test for text.
func isText(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0
}

// notFollowed returns the error for a link. The target may be of any length, so it is
// truncated.
func notFollowed(target string) error {
	return fmt.Errorf("%w: it is a link to %.200q", ErrLink, target)
}
