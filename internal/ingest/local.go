package ingest

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
)

// MaxDiff is the largest diff that is read, in bytes.
const MaxDiff = 256 << 20

//go:embed demo.diff
var demo []byte

// Diff reads a unified diff; name is what people call it. The thread is named
// after the diff's digest.
func Diff(name string, r io.Reader) (Change, error) {
	return local(name, "diff", r)
}

// Demo gives a small change with seeded defects, made for trying things out.
func Demo() (Change, error) {
	return local("demo", "demo", bytes.NewReader(demo))
}

func local(name, kind string, r io.Reader) (Change, error) {
	files, err := diff.Parse(r, MaxDiff)
	if err != nil {
		return Change{}, fmt.Errorf("reading %s: %w", name, err)
	}
	c := Change{Name: name, Files: byPath(files), Config: config.Default()}
	c.Thread = "local/" + kind + ":" + c.Digest()
	of, known := questions(c.Files, claims(c.Files))
	note(c.Files, of, known)
	return c, nil
}
