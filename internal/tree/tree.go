// Package tree reads the files of one commit: out of a clone's objects, out of
// the archive that GitHub makes of a commit, or out of memory.
//
// It is bounded in files and bytes, starts no program, opens no address and writes
// nothing: who makes a tree hands in how git is run or the archive is fetched. No
// path leaves the commit, no link is followed, and what may hold credentials by
// its name is not shown. What it gives is untrusted text.
//
// Start reading at Tree; Clone, Archive and Files make one, Whole gives all of its
// files at once.
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
	MaxFile  = 1 << 20   // bytes of a file that is read
	MaxTree  = 128 << 20 // bytes of the files of a tree that is held in memory, and of their paths
	MaxFiles = 50_000    // files of such a tree, and notes on others
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

// AboutFile reports whether an error of Read is about one file, which is not
// there or has no text to show, and not about the source of the tree.
func AboutFile(err error) bool {
	return slices.ContainsFunc([]error{ErrNoFile, ErrNotText, ErrTooLarge, ErrLink, ErrRefused}, func(one error) bool {
		return errors.Is(err, one)
	})
}

// refused matches paths of git's own folder and of files that are made to hold
// credentials. Whatever their content, a review does without it.
var refused = pattern.Lazy(`(?i)(?:^|/)(?:` +
	`\.git(?:/.*)?|\.(?:ssh|gnupg|aws|azure|kube|password-store)(?:/.*)?|` + // folders
	`[^/]*\.env|\.env[^/]*(?:/.*)?|` +
	`\.npmrc|\.yarnrc|[._]netrc|\.pypirc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.dockercfg` +
	`|\.docker/config\.json|` +
	`\.vault-token|\.cargo/credentials(?:\.toml)?|\.gem/credentials|kubeconfig|credentials(?:\.json)?` +
	`|service[-_]account[^/]*\.json|` +
	`id_(?:rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate|tfstate\.backup)` +
	`)$`)

// CheckPath refuses a path that could leave the tree (diff.CheckPath), and one
// that is not shown because of its name, with ErrRefused.
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

// isText goes by the first 8,000 bytes, as git does.
func isText(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0
}

// notFollowed is what is said about a link. Its target may be as long as its
// source likes, so that little of it is kept.
func notFollowed(target string) error {
	return fmt.Errorf("%w: it is a link to %.200q", ErrLink, target)
}
