package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ticket"
)

// Fingerprint returns the SHA-256, in hex, of all texts and schemas and of a sample of what code
// inserts into them. It changes with everything that a model can see.
func Fingerprint() string { return cachedFingerprint() }

var cachedFingerprint = sync.OnceValue(func() string { return fingerprint(files, samples()) })

func fingerprint(texts fs.FS, samples []string) string {
	h := sha256.New()
	for _, t := range []Task{Reviewing(true), Verifying(), Classifying(), Whole{}.Overviewing(),
		Whole{Judges: true, Tests: true, Style: true}.Overviewing(), Judging(), VerifyingWhole()} {
		write(h, t.SchemaName, string(t.Schema))
	}
	err := fs.WalkDir(texts, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(texts, path)
		write(h, path, string(data))
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("a prompt's text cannot be read: %v", err))
	}
	write(h, samples...)
	return hex.EncodeToString(h.Sum(nil))
}

func write(w io.Writer, texts ...string) {
	for _, s := range texts {
		fmt.Fprintf(w, "%d:%s,", len(s), s) // a hash's Write never fails
	}
}

// samples returns one turn of each kind, with everything that code may insert, and with long texts
// shortened.
func samples() []string {
	const b = guard.Boundary("00000000000000000000000000000000")
	patch := "@@ -3,2 +3,2 @@ func f() {\n x\n-y\n+z\n@@ -60 +60 @@ func g() {\n-\tw\n+\tv\n"
	in := Input{
		Path: "b.go", OldPath: "a.go", Status: "renamed", Patch: patch, Part: 1, Parts: 2,
		Guidelines: []string{"one", "two"}, Instructions: []Document{{"AGENTS.md", "three\nfour\n"}},
		Pages:    []Document{{"page 7, Terms", "five\n"}},
		Linters:  []string{"line 3: five"},
		Reported: []finding.Finding{{Side: finding.Right, Quote: "x", Title: "t"}},
		Pack:     []Piece{{Path: "d.go", StartLine: 1, Why: "calls", Changed: true, Text: "x\n"}},
		Language: "German", Style: true,
	}
	claims := []finding.Finding{{Side: finding.Right, StartLine: 1, Line: 2, Quote: "z", Title: "t", Body: "b",
		Suggestion: "v"}}
	whole := Whole{
		Title: "six", Description: "seven", Branch: "eight", Discussion: []Document{{"commits", "nine\n"}},
		Files: []WholeFile{{diff.File{Path: "b.go", OldPath: "a.go", Status: diff.Renamed, Additions: 2, Deletions: 2,
			Patch: patch}, "reviewed"}, {diff.File{Path: "c.png"}, "skipped"}},
		Found: claims, Reported: in.Reported,
		Tickets: []ticket.Ticket{{Key: "PAY-1", Type: "Story", Summary: "ten", Description: "eleven"}},
		Pages:   in.Pages, Criteria: []ticket.Criterion{{N: 1, Text: "twelve"}}, Judges: true, Tests: true,
	}
	return append(Parts(patch, 1), shorten(strings.Repeat("z", maxLine+1)), joinDocuments(in.Instructions, 20),
		fmt.Sprint(maxGuidance, maxSorted, maxHeads, minPerFile, maxFileList, maxSaid, maxFoundShown),
		User(b, in), Again(""), Redraft(b, in, Revision{claims, "feedback"}), Repair(b, "b", "problem", "{}"), Last(),
		ToolResult(b, "read_file", "1 x"), Verify(b, in, claims), Classify(b, in),
		whole.Overview(b), whole.Judge(b), whole.Verify(b, claims), whole.Repair(b, "problem", "{}"))
}
