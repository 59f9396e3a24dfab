// Package prompt holds the texts that a model is sent: the constant system turn
// of each task, the schema of its answer, and the user turns with one file's
// change.
//
// Untrusted text stands between a boundary's marks and nowhere else, and never
// in a system turn. A pull request's title, body, branch and commits are not
// taken: they frame a reviewer's judgement and prove nothing. All of it is pure:
// equal inputs give equal bytes. Start reading at Input, then User.
package prompt

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

//go:embed text
var files embed.FS

// text is an embedded file, without the folder's name.
func text(name string) string {
	data, err := fs.ReadFile(files, "text/"+name)
	if err != nil {
		panic(fmt.Sprintf("a prompt's text is not in the binary: %v", err))
	}
	return string(data)
}

// Task is what the requests of one kind have in common, to the byte: a server
// that caches prefixes charges less for it. Tools, where they are offered, are
// constant beside it.
type Task struct {
	System     string
	SchemaName string
	Schema     json.RawMessage // of the answer, compact, in the order of its keys
}

// Reviewing asks for the findings on one file.
func Reviewing() Task { return Task{text("review.md"), SchemaName, reviewSchema()} }

// Verifying asks for verdicts on findings.
func Verifying() Task { return Task{text("verify.md"), "finding_verification", verdictSchema()} }

// Classifying asks for the Label of one file.
func Classifying() Task {
	return Task{text("classify.md"), "file_label", object(oneOf("kind", Kinds()...),
		oneOf("depth", "deep", "normal", "light"))}
}

// SchemaName is the name under which a review's request carries the schema.
const SchemaName = "file_review"

// Input is the change to one file. All of it is taken for untrusted text, but
// Part, Parts, Language and Style.
type Input struct {
	Path, OldPath string // OldPath of renames and copies
	Status        string // in GitHub's words
	Patch         string // hunks, of the part where there are several
	Part, Parts   int    // of a file that is reviewed in several parts, from 1
	Context       string // the functions around the hunks, as Context gives them
	Pack          []Piece

	Guidelines   []string   // of the configuration, for this path
	Instructions []Document // of the repository, from the base commit
	Pages        []Document // of the team's wiki, that the ticket or the description leads to
	Linters      []string   // what linters say of the file, one line each

	Language string // of the findings' text, such as German; "" for English
	Style    bool   // whether matters of style are findings
}

// Document is a file of the repository that instructs who works on it.
type Document struct{ Path, Text string }
