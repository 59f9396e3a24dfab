// Package prompt provides the texts that a model is sent: the constant system turn of each task,
// the schema of its answer, and the user turns with one file's change.
//
// Untrusted text only occurs between a boundary's marks, and never in a system turn. A file's
// turns do not include a pull request's title, body, branch or commits: they frame a reviewer's
// judgment and prove nothing. Everything is pure: equal inputs give equal bytes. Start reading at
// Input, then User.
package prompt

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/org/pr-review-action/internal/finding"
)

//go:embed text
var files embed.FS

// text returns an embedded file's content; name is without the folder.
func text(name string) string {
	data, err := fs.ReadFile(files, "text/"+name)
	if err != nil {
		panic(fmt.Sprintf("a prompt's text is not in the binary: %v", err))
	}
	return string(data)
}

// Task is what all requests of one kind have in common, byte for byte: a server that caches
// prefixes charges less for it. Tools, if offered, are constant too.
type Task struct {
	System     string
	SchemaName string
	Schema     json.RawMessage // of the answer, compact, in the order of its keys
}

// Reviewing returns the task of finding defects in one file, and matters of style if they are asked for.
func Reviewing(style bool) Task {
	return Task{text("review.md"), SchemaName, object(list("findings", findingKeys(false, style)...))}
}

// Verifying returns the task of giving verdicts on findings.
func Verifying() Task { return Task{text("verify.md"), "finding_verification", verdictSchema()} }

// Classifying returns the task of giving one file's Label.
func Classifying() Task {
	return Task{text("classify.md"), "file_label", object(oneOf("kind", Kinds()...),
		oneOf("depth", "deep", "normal", "light"))}
}

// SchemaName is the name of the schema in a review's request.
const SchemaName = "file_review"

// Input is the change to one file. All of it is treated as untrusted text, except Part, Parts,
// Language and Style.
type Input struct {
	Path, OldPath string // OldPath is set for renames and copies
	Status        string // in GitHub's terms
	Patch         string // hunks; those of the part if there are several
	Part, Parts   int    // of a file that is reviewed in several parts, 1-based
	Pack          []Piece

	Guidelines   []string   // from the configuration, for this path
	Instructions []Document // from the repository's base commit
	Pages        []Document // from the team's wiki, linked by the ticket or the description
	Linters      []string   // what linters report on the file, one line each
	// of the file, by earlier reviews of the pull request, in the model's own words
	Reported []finding.Finding

	Language string // of the findings' text, such as German; "" for English
	Style    bool   // whether matters of style are findings
}

// Document is a titled text, such as an instruction file of the repository.
type Document struct{ Path, Text string }
