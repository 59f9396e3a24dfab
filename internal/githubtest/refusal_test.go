package githubtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// The new file has lines 1 to 5 and 20 to 22, of which 2, 3 and 21 are added; the
// old one lost its lines 2 and 20.
const twoHunks = "@@ -1,4 +1,5 @@ func f()\n a\n-b\n+B\n+c\n d\n e\r\n@@ -19,3 +20,3 @@\n x\n-y\n+Y\n z\n\\ No " +
	"newline at end of file"

func on(path, side string, start, line int) githubtest.Comment {
	return githubtest.Comment{Path: path, Side: side, StartLine: start, Line: line, Body: "text"}
}

// TestP7_TheRefusalsAreThoseThatAreKnown holds the fake to what is known of
// createReview: agreement with it means something only then.
func TestP7_TheRefusalsAreThoseThatAreKnown(t *testing.T) {
	t.Parallel()
	files := []githubtest.File{{Path: "new.go", OldPath: "old.go", Status: "renamed", Patch: twoHunks},
		{Path: "big.go", Status: "modified", Additions: 30_000}}
	crossed := on("new.go", "RIGHT", 2, 2)
	crossed.StartSide = "LEFT"
	said := func(body string) githubtest.Comment { k := on("new.go", "RIGHT", 0, 2); k.Body = body; return k }
	const off = "line must be part of the diff"
	for name, c := range map[string]struct {
		sent []githubtest.Comment
		want string // empty where it is taken
	}{
		"an added line":                  {[]githubtest.Comment{on("new.go", "RIGHT", 0, 2)}, ""},
		"a context line":                 {[]githubtest.Comment{on("new.go", "RIGHT", 0, 1)}, ""},
		"a context line behind a change": {[]githubtest.Comment{on("new.go", "RIGHT", 0, 22)}, ""},
		"no side is the right one":       {[]githubtest.Comment{on("new.go", "", 0, 3)}, ""},
		"a deleted line":                 {[]githubtest.Comment{on("new.go", "LEFT", 0, 2)}, ""},
		"a deleted line of another hunk": {[]githubtest.Comment{on("new.go", "LEFT", 0, 20)}, ""},
		"a range":                        {[]githubtest.Comment{on("new.go", "RIGHT", 1, 5)}, ""},
		"a range from old to new":        {[]githubtest.Comment{crossed}, ""},
		"several": {[]githubtest.Comment{on("new.go", "RIGHT", 0, 2),
			on("new.go", "RIGHT", 0, 2), on("new.go", "LEFT", 0, 2)}, ""},
		"a context line on the left":   {[]githubtest.Comment{on("new.go", "LEFT", 0, 1)}, off},
		"an added line's number, left": {[]githubtest.Comment{on("new.go", "LEFT", 0, 21)}, off},
		"between the hunks":            {[]githubtest.Comment{on("new.go", "RIGHT", 0, 6)}, off},
		"behind the last":              {[]githubtest.Comment{on("new.go", "RIGHT", 0, 23)}, off},
		"line zero":                    {[]githubtest.Comment{on("new.go", "RIGHT", 0, 0)}, off},
		"a negative line":              {[]githubtest.Comment{on("new.go", "RIGHT", 0, -1)}, off},
		"no such side":                 {[]githubtest.Comment{on("new.go", "right", 0, 2)}, off},
		"a file without a patch": {[]githubtest.Comment{on("big.go", "RIGHT", 0, 1)},
			"diff hunk can't be blank"},
		"the old name": {[]githubtest.Comment{on("old.go", "LEFT", 0, 2)},
			"Path could not be resolved"},
		"no path": {[]githubtest.Comment{on("", "RIGHT", 0, 2)}, "Path could not be resolved"},
		"a start off the diff": {[]githubtest.Comment{on("new.go", "RIGHT", 6, 20)},
			"start line must be part of the diff"},
		"a start in another hunk": {[]githubtest.Comment{on("new.go", "RIGHT", 5, 20)},
			"start line must be part of the same hunk"},
		"a start that is the line": {[]githubtest.Comment{on("new.go", "RIGHT", 2, 2)},
			"start line must precede"},
		"a start behind the line": {[]githubtest.Comment{on("new.go", "RIGHT", 3, 2)},
			"start line must precede"},
		"no text":          {[]githubtest.Comment{said(" \n")}, "Body can't be blank"},
		"the longest text": {[]githubtest.Comment{said(strings.Repeat("x", 65536))}, ""},
		"a longer one": {[]githubtest.Comment{said(strings.Repeat("x", 65537))},
			"Body is too long"},
		"one bad one among good ones": {[]githubtest.Comment{on("new.go", "RIGHT", 0, 2),
			on("new.go", "RIGHT", 0, 9), on("new.go", "LEFT", 0, 2)}, off},
		"a whole file, which has no lines": {[]githubtest.Comment{{Path: "new.go", Body: "text"}}, off},
	} {
		reasons := strings.Join(githubtest.ValidateReview(files, c.sent...), "; ")
		if c.want == "" {
			require.Empty(t, reasons, name)
		} else {
			require.Contains(t, reasons, c.want, name)
		}
	}
}
