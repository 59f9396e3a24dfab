// Package prompt holds the texts that a model is sent: the constant system turn,
// the schema of its answer, and the user turns with one file's change.
//
// Untrusted text stands between a boundary's marks and nowhere else, and never
// in the system turn. A pull request's title, body and branch are not taken:
// they frame a reviewer's judgement and prove nothing. Start reading at User.
package prompt

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the texts are files beside this one
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
)

//go:embed system.md
var system string

//go:embed user.md
var user string

//go:embed again.md
var again string

//go:embed repair.md
var repair string

//go:embed schema.json
var schema string

// SchemaName is the name under which a request carries the schema.
const SchemaName = "file_review"

// Input is the change to one file. All of it is untrusted text.
type Input struct {
	Path, OldPath string // OldPath of renames and copies
	Status        string // in GitHub's words
	Patch         string // hunks
}

// System returns the system turn, the same for every request.
func System() string { return system }

// Schema returns the JSON schema of the answer, compact.
func Schema() json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(schema)); err != nil {
		return json.RawMessage(schema)
	}
	return b.Bytes()
}

// User returns the user turn that asks for the review of a file.
func User(b guard.Boundary, in Input) string {
	return strings.NewReplacer(
		"{{status}}", happened(in),
		"{{path}}", paths(b, in),
		"{{diff}}", b.Wrap("diff", Number(in.Patch)),
	).Replace(user)
}

// Again returns the user turn that asks anew where the last answer held nothing
// to repair: prose, a refusal, no text.
func Again(b guard.Boundary, in Input) string { return User(b, in) + again }

// Repair returns the user turn that asks for a broken answer to be written
// again. Problem says in our own words what was wrong; the answer is untrusted
// text. The diff is not sent again.
func Repair(b guard.Boundary, path, problem, answer string) string {
	return strings.NewReplacer(
		"{{problem}}", problem,
		"{{path}}", b.Wrap("path", path),
		"{{answer}}", b.Wrap("answer", answer),
	).Replace(repair)
}

// Fingerprint is the SHA-256, in hex, over all texts and over a sample of what
// code writes into them. It changes with every change that a model can see.
func Fingerprint() string {
	const b = guard.Boundary("00000000000000000000000000000000")
	in := Input{Path: "b", OldPath: "a", Status: "renamed", Patch: "@@ -1,2 +1,2 @@ f\n x\n-y\n+z"}
	h := sha256.New()
	for _, s := range []string{System(), string(Schema()), User(b, in), Again(b, in), Repair(b, "b", "problem", "{}")} {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// happened says in a constant's words what became of the file: the status comes
// from outside.
func happened(in Input) string {
	switch in.Status {
	case "added", "renamed", "copied", "removed":
		return in.Status
	}
	return "modified"
}

func paths(b guard.Boundary, in Input) string {
	s := b.Wrap("path", in.Path)
	if in.OldPath != "" && in.OldPath != in.Path {
		s += "\n" + b.Wrap("old path", in.OldPath)
	}
	return s
}
