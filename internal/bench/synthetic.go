package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// patched is one file of a synthetic diff, with the lines that a comment may
// stand on: of the new side all that are shown, of the old side the deleted.
type patched struct {
	path, patch string
	right, left []int
}

// dropped is a hunk in which a rule finds something; every tenth file has it.
const dropped = "@@ -0,0 +1 @@\n+\tjson.Unmarshal(text, &value)\n"

// newPatched makes the i-th file: three hunks of 22 lines, about 4 KB.
func newPatched(i int) patched {
	p := patched{path: fmt.Sprintf("src/pkg%02d/file%05d.go", i%17, i)}
	text := make([]byte, 0, 4400)
	if i%10 == 0 {
		text, p.right = append(text, dropped...), []int{1}
	}
	s := newStream(fnv1a(fmt.Sprint("patch:", i)))
	from, to := 10, 10
	for range 3 {
		text, from, to = p.hunk(text, &s, from, to)
		from, to = from+100, to+100
	}
	p.patch = strings.TrimSuffix(string(text), "\n")
	return p
}

// hunk appends one, and gives the lines behind it on both sides.
func (p *patched) hunk(text []byte, s *stream, from, to int) ([]byte, int, int) {
	var body []byte
	before, after := from, to
	for range 22 {
		op := " +-"[s.draw()%3]
		if op == '-' {
			p.left = append(p.left, before)
		} else {
			p.right = append(p.right, after)
			after++
		}
		if op != '+' {
			before++
		}
		body = append(s.text(append(body, op), 12), '\n')
	}
	text = fmt.Appendf(text, "@@ -%d,%d +%d,%d @@\n", from, before-from, to, after-to)
	return append(text, body...), before, after
}

// writeDiff writes a diff of n files and gives its size.
func writeDiff(path string, n int) (size int64, err error) {
	var text bytes.Buffer
	for i := range n {
		p := newPatched(i)
		fmt.Fprintf(&text, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n%[2]s\n", p.path, p.patch)
	}
	return int64(text.Len()), os.WriteFile(path, text.Bytes(), 0o600)
}
