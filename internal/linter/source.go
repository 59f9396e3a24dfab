package linter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// Source says where linters' results are. The zero value has none.
type Source struct {
	Findings string        // glob of files, or WORKFLOW.yml/ARTIFACT
	Dir      string        // folder that the glob begins in
	Within   bool          // the glob leads to nothing outside of Dir
	Wait     time.Duration // how long the artifact is waited for

	API              *github.Client // nil where there is no pull request
	Owner, Repo, SHA string         // the head whose runs store the artifact
	Run              int64          // that asks; it waits for no artifact of its own
	Tell             func(string)   // what is waited for; nil for nobody
}

var artifactOf = pattern.Lazy(`^(?:\.github/workflows/)?([A-Za-z0-9._-]+\.ya?ml)/([^/\\:*?"<>|\r\n]{1,255})$`)

// ofWorkflow tells WORKFLOW.yml/ARTIFACT from a glob.
func ofWorkflow(findings string) (workflow, name string, ok bool) {
	m := artifactOf().FindStringSubmatch(findings)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// Read reads the results on a change's files, whose patches are still as they were
// written. What is missing or cannot be read is a line of the report and no error: a
// linter's failure is none of the review's. The error is the context's.
func (s Source) Read(ctx context.Context, files []diff.File) (Report, error) {
	if s.Findings == "" {
		return Report{}, nil
	}
	r := NewReader(files, "")
	var err error
	if workflow, name, ok := ofWorkflow(s.Findings); ok {
		r.From = "by " + workflow + " of this change"
		err = s.artifact(ctx, r, workflow, name)
	} else {
		err = s.files(func(name string, content []byte, err error) {
			r.From = "in " + guard.Line(name, maxName)
			r.file(name, content, err)
		})
	}
	if err != nil {
		r.miss(err)
	}
	return Report{Findings: r.Findings, Left: r.Left, Flags: flagged(r.Findings), Missing: r.missing}, ctx.Err()
}

// file reads one file, or notes why it cannot be read.
func (r *Reader) file(name string, content []byte, err error) {
	if err == nil {
		err = r.Read(name, content)
	}
	if err != nil {
		r.miss(err)
	}
}

// maxMissing bounds the lines about what is missing.
const maxMissing = 5

func (r *Reader) miss(err error) {
	switch n := len(r.missing); {
	case n < maxMissing:
		r.missing = append(r.missing, "results of linters: "+guard.Line(err.Error(), 300))
	case n == maxMissing:
		r.missing = append(r.missing, "results of linters: more files that cannot be read")
	}
}

// Digest names what the files of a glob hold, and "" without a glob: a draft on the command line is for them.
func (s Source) Digest() string {
	if _, _, ok := ofWorkflow(s.Findings); ok || s.Findings == "" {
		return s.Findings
	}
	h := sha256.New()
	err := s.files(func(name string, content []byte, err error) {
		fmt.Fprintf(h, "%q %q %v\n", name, content, err) // a hash takes everything
	})
	fmt.Fprint(h, err)
	return hex.EncodeToString(h.Sum(nil))
}

// files hands over the files that match the glob, in the order of their paths. No link
// leads out of the folder that the glob begins in.
func (s Source) files(each func(name string, content []byte, err error)) error {
	dir, glob := s.Dir, path.Clean(filepath.ToSlash(s.Findings))
	if filepath.IsAbs(glob) && s.Within {
		if inside, err := filepath.Rel(dir, glob); err == nil {
			glob = filepath.ToSlash(inside)
		}
	} else if !s.Within {
		var begin string
		begin, glob = doublestar.SplitPattern(glob)
		if dir = begin; !filepath.IsAbs(begin) {
			dir = filepath.Join(s.Dir, begin)
		}
	}
	if !doublestar.ValidatePattern(glob) {
		return fmt.Errorf("%q is not a valid glob", s.Findings)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("no file matches %q", s.Findings)
	}
	defer root.Close()
	names := []string{glob}
	if info, err := root.Lstat(glob); err != nil || !info.Mode().IsRegular() {
		names = matching(root.FS(), glob)
	}
	for _, name := range names[:min(len(names), maxFiles)] {
		content, err := readFile(root.FS(), name)
		each(name, content, err)
	}
	switch {
	case len(names) == 0:
		return fmt.Errorf("no file matches %q", s.Findings)
	case len(names) > maxFiles:
		return fmt.Errorf("more files match %q than the %d that are read", s.Findings, maxFiles)
	}
	return nil
}

// maxSeen is how many files and folders are looked at for a glob.
const maxSeen = 100_000

var errEnough = errors.New("enough was seen")

// matching are the regular files that match, one more than are read at most. Git's own
// folder, where a job's token may lie, is not looked into.
func matching(dir fs.FS, glob string) (names []string) {
	seen := 0
	_ = fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error { // what cannot be listed is not there
		seen++
		switch {
		case seen > maxSeen || len(names) > maxFiles:
			return errEnough
		case err != nil && d != nil && d.IsDir(), d != nil && d.IsDir() &&
			(d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case err == nil && d.Type().IsRegular() && doublestar.MatchUnvalidated(glob, name):
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names
}

func readFile(dir fs.FS, name string) ([]byte, error) {
	file, err := dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened", name)
	}
	defer file.Close()
	return contentOf(name, file)
}

// contentOf reads a file of at most MaxFile bytes.
func contentOf(name string, file io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read to its end", name)
	case len(content) > MaxFile:
		return nil, fmt.Errorf("%s is larger than %d MB", name, MaxFile>>20)
	}
	return content, nil
}
