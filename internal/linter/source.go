package linter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// Source says where linters' results are. The zero value means there are none.
type Source struct {
	Findings string        // glob of files, or WORKFLOW.yml/ARTIFACT
	Dir      string        // folder that the glob is relative to
	Within   bool          // the glob matches nothing outside of Dir
	Wait     time.Duration // how long to wait for the artifact

	API              *github.Client // nil if there is no pull request
	Owner, Repo, SHA string         // the head whose runs store the artifact
	Run              int64          // the calling run, which does not wait for its own artifact
	Tell             func(string)   // reports what is waited for; may be nil
}

var artifactOf = pattern.Lazy(`^(?:\.github/workflows/)?([A-Za-z0-9._-]+\.ya?ml)/([^/\\:*?"<>|\r\n]{1,255})$`)

// splitWorkflow splits WORKFLOW.yml/ARTIFACT. ok is false for a glob.
func splitWorkflow(findings string) (workflow, name string, ok bool) {
	m := artifactOf().FindStringSubmatch(findings)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// Read reads the results on a change's files, whose patches must be unredacted. What is
// missing or unreadable becomes a line of the report, not an error: a linter's failure does
// not fail the review. The error is only the context's.
func (s Source) Read(ctx context.Context, files []diff.File) (Report, error) {
	if s.Findings == "" {
		return Report{}, nil
	}
	r := NewReader(files, "")
	var err error
	if workflow, name, ok := splitWorkflow(s.Findings); ok {
		r.From = "by " + workflow + " of this change"
		err = s.artifact(ctx, r, workflow, name)
	} else {
		err = s.files(func(name string, content []byte, err error) {
			r.From = "in " + guard.Line(name, maxName)
			r.file(name, content, err)
		})
	}
	if err != nil {
		r.noteMissing(err)
	}
	r.Flags = flagsOf(r.Findings)
	return r.Report, ctx.Err()
}

// file reads one file, or notes why it cannot be read.
func (r *Reader) file(name string, content []byte, err error) {
	if err == nil {
		err = r.Read(name, content)
	}
	if err != nil {
		r.noteMissing(err)
	}
}

// maxMissing is the most lines about missing results.
const maxMissing = 5

func (r *Reader) noteMissing(err error) {
	switch n := len(r.Missing); {
	case n < maxMissing:
		r.Missing = append(r.Missing, "results of linters: "+guard.Line(err.Error(), 300))
	case n == maxMissing:
		r.Missing = append(r.Missing, "results of linters: more files that cannot be read")
	}
}

// Digest returns a digest of the files that a glob matches, or the setting itself if it is not a glob.
func (s Source) Digest() string {
	if _, _, ok := splitWorkflow(s.Findings); ok || s.Findings == "" {
		return s.Findings
	}
	h := sha256.New()
	err := s.files(func(name string, content []byte, err error) {
		fmt.Fprintf(h, "%q %q %v\n", name, content, err) // a hash never fails
	})
	fmt.Fprint(h, err)
	return hex.EncodeToString(h.Sum(nil))
}

// files calls each for the files that match the glob, in the order of their paths. No link
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
		return fmt.Errorf("there is no file in %q", s.Findings)
	}
	defer root.Close()
	return readFiles(root.FS(), glob, fmt.Sprintf("%q", s.Findings), each)
}

// readFiles calls each for the files of a folder that match the glob.
func readFiles(dir fs.FS, glob, what string, each func(name string, content []byte, err error)) error {
	names, more := []string{glob}, false
	if info, err := fs.Lstat(dir, glob); err != nil || !info.Mode().IsRegular() {
		names, more = pattern.Files(dir, glob, maxFiles)
	}
	for _, name := range names {
		content, err := readFile(dir, name)
		each(name, content, err)
	}
	switch {
	case len(names) == 0:
		return fmt.Errorf("there is no file in %s", what)
	case more:
		return fmt.Errorf("%s has more files than the %d that are read", what, maxFiles)
	}
	return nil
}

func readFile(dir fs.FS, name string) ([]byte, error) {
	file, err := dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened", name)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read to its end", name)
	case len(content) > MaxFile:
		return nil, fmt.Errorf("%s is larger than %d MB", name, MaxFile>>20)
	}
	return content, nil
}
