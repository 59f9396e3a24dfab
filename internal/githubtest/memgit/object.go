package memgit

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Entry is an entry of a git tree: a blob or another tree. Name is a path if entries of several folders are listed.
type Entry struct{ Mode, Kind, Name, SHA string }

// Objects holds the commits that a repository and its forks share.
type Objects struct {
	Commits map[string]*Commit
	trees   map[string][]Entry // those requested so far
}

// NewObjects returns an empty store.
func NewObjects() *Objects { return &Objects{map[string]*Commit{}, map[string][]Entry{}} }

// Add stores a commit under a unique hash, even if another one is equal.
func (o *Objects) Add(c Commit) *Commit {
	c.Tree, c.Modes = maps.Clone(c.Tree), maps.Clone(c.Modes)
	if c.SHA == "" {
		h := sha1.New()
		fmt.Fprintln(h, len(o.Commits), c.Message, c.Author)
		for _, path := range slices.Sorted(maps.Keys(c.Tree)) {
			fmt.Fprintln(h, path, BlobSHA(c.Tree[path]))
		}
		c.SHA = hex.EncodeToString(h.Sum(nil))
	}
	o.Commits[c.SHA] = &c
	return &c
}

// Entries returns a tree's entries by the tree's hash, or those of a commit's top tree; with deep also those of all
// folders below. It also returns the tree's hash, "" if there is no such tree.
func (o *Objects) Entries(sha string, deep bool) (string, []Entry) {
	if c := o.Commits[sha]; c != nil {
		sha = o.plant(c, "")
	}
	entries, found := o.trees[sha]
	switch {
	case !found:
		return "", nil
	case deep:
		return sha, o.deep(sha, "")
	}
	return sha, entries
}

// plant makes the tree objects of a folder of a commit, and returns its hash.
func (o *Objects) plant(c *Commit, folder string) string {
	found := map[string]Entry{}
	for path, text := range c.Tree {
		rest, inside := strings.CutPrefix(path, folder)
		if !inside {
			continue
		}
		if name, _, deeper := strings.Cut(rest, "/"); !deeper {
			found[name] = Entry{c.Mode(path), "blob", name, BlobSHA(strings.TrimPrefix(text, linkTo))}
		} else if found[name].SHA == "" {
			found[name] = Entry{"40000", "tree", name, o.plant(c, folder+name+"/")}
		}
	}
	// git sorts folders as though their names ended in a slash
	key := func(e Entry) string { return e.Name + map[string]string{"tree": "/"}[e.Kind] }
	entries := slices.SortedFunc(maps.Values(found), func(a, b Entry) int { return strings.Compare(key(a), key(b)) })
	var body strings.Builder
	for _, e := range entries {
		raw, _ := hex.DecodeString(e.SHA) // our own digits
		fmt.Fprintf(&body, "%s %s\x00%s", e.Mode, e.Name, raw)
	}
	sha := hash("tree", body.String())
	o.trees[sha] = entries
	return sha
}

func (o *Objects) deep(sha, folder string) (all []Entry) {
	for _, e := range o.trees[sha] {
		e.Name = folder + e.Name
		if all = append(all, e); e.Kind == "tree" {
			all = append(all, o.deep(e.SHA, e.Name+"/")...)
		}
	}
	return all
}

// packers are used again: each has a megabyte of tables.
var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is one
	return w
}}

// Archive returns the tar.gz that git makes of a commit: a note with its id, the folder and the files, with any paths.
func (c *Commit) Archive(folder string) []byte {
	var packed bytes.Buffer
	compressed := packers.Get().(*gzip.Writer)
	defer packers.Put(compressed)
	compressed.Reset(&packed)
	w := tar.NewWriter(compressed)
	headers := []tar.Header{
		{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": c.SHA}},
		{Typeflag: tar.TypeDir, Name: folder, Mode: 0o775, ModTime: c.At},
	}
	bits := map[string]int64{PlainMode: 0o664, "100755": 0o775}
	for _, path := range slices.Sorted(maps.Keys(c.Tree)) {
		h := tar.Header{Typeflag: tar.TypeReg, Name: folder + path, Mode: bits[c.Mode(path)], ModTime: c.At,
			Size: int64(len(c.Tree[path]))}
		if target, link := strings.CutPrefix(c.Tree[path], linkTo); link {
			h.Typeflag, h.Linkname, h.Mode, h.Size = tar.TypeSymlink, target, 0o777, 0
		}
		headers = append(headers, h)
	}
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			panic(fmt.Sprintf("memgit: packing %s: %v", h.Name, err))
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = w.Write([]byte(c.Tree[strings.TrimPrefix(h.Name, folder)])) // into memory
		}
	}
	_, _ = w.Close(), compressed.Close()
	return packed.Bytes()
}
