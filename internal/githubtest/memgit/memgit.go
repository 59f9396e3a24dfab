// Package memgit is git in memory as far as GitHub shows it: commits with whole snapshots,
// what changed between two of them, tree objects, patches and archives. It knows no
// repository, no user and no HTTP. Start reading at Tree and Objects.
package memgit

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
	"time"
)

// Tree is the whole content of a commit: text by path.
type Tree map[string]string

// With returns a copy of the tree with other files on top.
func (t Tree) With(files Tree) Tree {
	out := maps.Clone(t)
	maps.Copy(out, files)
	return out
}

// Without returns a copy of the tree without some paths.
func (t Tree) Without(paths ...string) Tree {
	out := maps.Clone(t)
	for _, p := range paths {
		delete(out, p)
	}
	return out
}

// FS returns the tree as a file system; its paths must be valid for one.
func (t Tree) FS() fstest.MapFS {
	files := fstest.MapFS{}
	for path, text := range t {
		files[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

const linkTo = "\x00link to "

// Link returns the content of a file of a Tree that is a symbolic link.
func Link(target string) string { return linkTo + target }

// BlobSHA returns git's hash of a file.
func BlobSHA(content string) string { return hash("blob", content) }

func hash(kind, body string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(body), body))
	return hex.EncodeToString(sum[:])
}

// Commit is a snapshot with its history.
type Commit struct {
	SHA     string // set by Add if empty
	Parents []*Commit
	Tree    Tree
	Modes   map[string]string // of files other than ordinary ones, such as 100755
	Message string
	Author  string
	At      time.Time
}

// PlainMode is git's mode of an ordinary file.
const PlainMode = "100644"

// Mode returns git's mode of a file; "" if it does not exist.
func (c *Commit) Mode(path string) string {
	text, there := c.Tree[path]
	switch mode := c.Modes[path]; {
	case !there:
		return ""
	case strings.HasPrefix(text, linkTo):
		return "120000"
	case mode != "":
		return mode
	}
	return PlainMode
}

// History returns a commit and all its ancestors, nearest first.
func (c *Commit) History() []*Commit {
	seen := map[*Commit]bool{c: true}
	list := []*Commit{c}
	for i := 0; i < len(list); i++ {
		for _, p := range list[i].Parents {
			if !seen[p] {
				seen[p] = true
				list = append(list, p)
			}
		}
	}
	return list
}

// MergeBase returns the nearest ancestor of b that is also one of a; nil if there is none.
func MergeBase(a, b *Commit) *Commit {
	of := a.History()
	for _, c := range b.History() {
		if slices.Contains(of, c) {
			return c
		}
	}
	return nil
}

// Since lists the commits that b has and a lacks, oldest first.
func Since(a, b *Commit) []*Commit {
	of := a.History()
	list := slices.DeleteFunc(b.History(), func(c *Commit) bool { return slices.Contains(of, c) })
	slices.Reverse(list)
	return list
}

// Merge returns the content of a branch's head after the tip of its base is merged in.
func Merge(tip, head *Commit) Tree {
	tree, old := tip.Tree.With(nil), MergeBase(tip, head)
	for path, text := range head.Tree {
		if before, had := old.Tree[path]; !had || before != text {
			tree[path] = text
		}
	}
	for path := range old.Tree {
		if _, still := head.Tree[path]; !still {
			delete(tree, path)
		}
	}
	return tree
}
