package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tree"
)

// Limits of what read_file shows.
const (
	maxWindow = 400    // lines
	maxPage   = 14_000 // bytes of them, and of one more
	maxColumn = 500    // characters of a line
)

type readArgs struct {
	Path      string `json:"path" description:"From the top of the repository, such as internal/store/store.go."`
	Side      string `json:"side" enum:"head,base" description:"head: with the change; base: before it."`
	StartLine int    `json:"start_line" description:"First line to show, counted from 1; 0 for the start of the file."`
	EndLine   int    `json:"end_line" description:"Last line to show; 0 for as much as fits, 400 lines or 14 KB."`
}

// Files gives access to the files of a commit, as tree.Tree does.
type Files interface {
	Read(ctx context.Context, path string) ([]byte, error)
	List(ctx context.Context) (tree.Listing, error)
	Hold(ctx context.Context, paths []string) ([][]byte, error)
}

// ReadFile returns the tool read_file: a window of a file's lines, numbered. base may be nil if
// only the head is available.
func ReadFile(head, base Files) Tool {
	return New("read_file", "Shows lines of a text file of the repository, numbered, as it is with the change or "+
		"was before it.",
		func(ctx context.Context, a readArgs) (string, error) {
			files := head
			switch {
			case a.Side == "base" && base == nil:
				return "", errors.New("the files before the change are not at hand; only side head is")
			case a.Side == "base":
				files = base
			case a.Side != "" && a.Side != "head":
				return "", errors.New("side is neither head nor base")
			}
			if err := tree.CheckPath(a.Path); err != nil {
				return "", err
			}
			content, err := files.Read(ctx, a.Path)
			if err != nil {
				return "", err
			}
			return window(string(content), a.StartLine, a.EndLine)
		})
}

// window returns lines start to end of a text, numbered.
func window(text string, start, end int) (string, error) {
	lines := strings.Split(strings.TrimSuffix(secret.Redact(text), "\n"), "\n")
	start = max(start, 1)
	switch {
	case text == "":
		return "the file is empty", nil
	case start > len(lines):
		return "", fmt.Errorf("the file has %d lines, so it has none at %d", len(lines), start)
	case end != 0 && end < start:
		return "", fmt.Errorf("end_line %d is before start_line %d", end, start)
	case end == 0:
		end = len(lines)
	}
	end = min(end, len(lines))
	var b strings.Builder
	n := start
	for ; n <= end && n-start < maxWindow && b.Len() < maxPage; n++ {
		b.WriteString(numbered(n, lines[n-1], maxColumn) + "\n")
	}
	if n <= end {
		fmt.Fprintf(&b, "[continue at line %d]\n", n)
	}
	return fmt.Sprintf("lines %d to %d of %d\n", start, n-1, len(lines)) + b.String(), nil
}

// numbered returns a line with its number, cut at max characters.
func numbered(n int, line string, max int) string {
	return fmt.Sprintf("%6d %s", n, cutLine(guard.Visible(strings.TrimRight(line, "\r\n")), max))
}
