package githubtest

import (
	"fmt"
	"net/http"
	"strings"
)

// diffMedia reports whether the client asked for a unified diff.
func (c *call) diffMedia() bool { return strings.Contains(c.Header.Get("Accept"), "diff") }

// unified is a change as one unified diff; GitHub makes none above 300 files.
func unified(files []File, resource string) answer {
	if len(files) > 300 {
		return refusal(http.StatusNotAcceptable, "Sorry, the diff exceeded the maximum number of files (300). "+
			"Consider using 'List pull requests files' API or locally cloning the repository instead.",
			object{"resource": resource, "field": "diff", "code": "too_large"})
	}
	var b strings.Builder
	for _, f := range files {
		f.write(&b)
	}
	return answer{status: http.StatusOK, raw: []byte(b.String()), kind: "application/vnd.github.v3.diff; charset=utf-8"}
}

// write puts the file's header and hunks down as git does.
func (f File) write(b *strings.Builder) {
	from, to := "a/"+or(f.OldPath, f.Path), "b/"+f.Path
	fmt.Fprintf(b, "diff --git %s %s\n", from, to)
	switch f.Status {
	case "added":
		b.WriteString("new file mode 100644\n")
		from = "/dev/null"
	case "removed":
		b.WriteString("deleted file mode 100644\n")
		to = "/dev/null"
	case "renamed":
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", f.OldPath, f.Path)
	}
	if f.Patch != "" {
		fmt.Fprintf(b, "--- %s\n+++ %s\n%s\n", from, to, f.Patch)
	} else if f.binary() {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", from, to)
	}
}

// binary reports whether the content changed without changed lines. A pure
// rename and an empty file have none either.
func (f File) binary() bool {
	return f.Additions+f.Deletions == 0 && f.Status != "renamed" && f.SHA != blobSHA("")
}
