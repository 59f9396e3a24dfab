package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/org/pr-review-action/internal/pattern"
)

// Limits of the result files that are read.
const (
	maxResultFiles = 64
	maxResultBytes = 16 << 20 // of all files together
)

// readResults reports the files of a workspace that match a glob such as "**/junit-*.xml".
func readResults(workspace fs.FS, glob string) (string, error) {
	if !doublestar.ValidatePattern(glob) {
		return "", fmt.Errorf("the glob of test results, %q, is not a valid one", glob)
	}
	paths, more := pattern.Files(workspace, glob, maxResultFiles)
	var b strings.Builder
	fmt.Fprintf(&b, "Result files (%d):\n", len(paths))
	left := int64(maxResultBytes)
	for _, p := range paths {
		r, err := readResult(workspace, p, &left)
		b.WriteString(r.report(p, err))
	}
	if more {
		fmt.Fprintf(&b, "- there are more files than the %d that are read\n", maxResultFiles)
	}
	return b.String(), nil
}

// readResult reads one file within the rest of the limit for all.
func readResult(workspace fs.FS, p string, left *int64) (results, error) {
	file, err := workspace.Open(p)
	if err != nil {
		return results{}, errors.New("it cannot be opened")
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, *left+1))
	if err != nil {
		return results{}, errors.New("it cannot be read to its end")
	}
	if int64(len(content)) > *left {
		return results{}, fmt.Errorf("not read: all files together have more than %d MiB", maxResultBytes>>20)
	}
	*left -= int64(len(content))
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if path.Ext(p) == ".xml" || bytes.HasPrefix(bytes.TrimSpace(content), []byte("<")) {
		return parseJUnit(content)
	}
	return parseGoTest(content)
}
