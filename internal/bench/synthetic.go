package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// hunkWithFinding is a hunk in which a rule finds something. Every tenth file has it.
const hunkWithFinding = "@@ -0,0 +1 @@\n+\tjson.Unmarshal(text, &value)\n"

// newSyntheticPatch makes the patch of the i-th file: three hunks of 22 lines, about 4 KB.
func newSyntheticPatch(i int) (path, text string) {
	if i%10 == 0 {
		text = hunkWithFinding
	}
	s, from, to := newStream(fnv1a(fmt.Sprint("patch:", i))), 10, 10
	for range 3 {
		var body []byte
		before, after := 0, 0
		for range 22 {
			op := " +-"[s.draw()%3]
			if op != '+' {
				before++
			}
			if op != '-' {
				after++
			}
			body = append(s.text(append(body, op), 12), '\n')
		}
		text += fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s", from, before, to, after, body)
		from, to = from+before+100, to+after+100
	}
	return fmt.Sprintf("src/pkg%02d/file%05d.go", i%17, i), strings.TrimSuffix(text, "\n")
}

func writeDiff(path string, n int) (size int64, err error) {
	var text bytes.Buffer
	for i := range n {
		name, patch := newSyntheticPatch(i)
		fmt.Fprintf(&text, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n%[2]s\n", name, patch)
	}
	return int64(text.Len()), os.WriteFile(path, text.Bytes(), 0o600)
}
