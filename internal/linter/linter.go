// Package linter reads what linters say of a change, out of SARIF 2.1.0, rdjson and
// checkstyle files, and keeps what is on lines that the change adds.
//
// Whoever wrote the change wrote these files too (T40): their texts are bounded and redacted, a result is never a
// blocker and never has a suggestion, and a path counts only as the changed file that it ends with. No linter is run
// here. Start reading at Reader; each format has a file, place.go says where a result belongs.
package linter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Bounds of what is read.
const (
	MaxFile    = 10 << 20 // bytes of a file
	maxFiles   = 20       // of a glob or an artifact
	maxResults = 1000     // of all files, on lines that the change adds
	maxLooked  = 100_000  // results of all files that are looked at
)

// Category is that of every finding of a linter.
const Category = "lint"

// Result is one thing that a linter says of one place. All texts are untrusted.
type Result struct {
	Tool, Rule string
	Message    string
	Help       string // address of the rule's page; empty where it is not https
	Severity   finding.Severity
	Path       string // as the file has it, behind what it is relative to
	Line, End  int    // 1-based; End is Line for one line
	Snippet    string // what the linter saw there; empty where it does not say
}

// Left counts the results that are not shown, by why.
type Left struct {
	Outside    int `json:"outside,omitempty"`    // in no changed file
	Elsewhere  int `json:"elsewhere,omitempty"`  // not on a line that the change adds
	Suppressed int `json:"suppressed,omitempty"` // by the code or the tool's own settings
	Unreadable int `json:"unreadable,omitempty"` // without place or words
	Beyond     int `json:"beyond,omitempty"`     // more than are kept
}

// Reader collects the findings of several files, each once.
type Reader struct {
	From     string // where the file is from, such as "by ci.yml of this change"
	Findings []finding.Finding
	Left     Left

	change   change
	seen     map[string]bool
	looked   int
	searches int
	missing  []string
}

// NewReader makes a reader of results on a change's files, whose patches are still as they were written.
func NewReader(files []diff.File, from string) *Reader {
	return &Reader{From: from, change: newChange(files), seen: map[string]bool{}}
}

// Read takes a file's results, whatever their format. name is the file's, for errors, which tell line and column.
func (r *Reader) Read(name string, content []byte) error {
	content = bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff")))
	var err error
	switch {
	case len(content) > MaxFile:
		err = fmt.Errorf("it is larger than %d MB", MaxFile>>20)
	case len(content) == 0:
		err = errors.New("it is empty")
	case content[0] == '<':
		err = r.checkstyle(name, content)
	case content[0] == '{':
		err = r.json(name, content)
	default:
		err = errors.New("it is neither SARIF nor rdjson nor checkstyle")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// json tells SARIF and rdjson apart by their members.
func (r *Reader) json(name string, content []byte) error {
	var first struct {
		Runs        jsontext.Value `json:"runs"`
		Diagnostics jsontext.Value `json:"diagnostics"`
	}
	if err := json.UnmarshalDecode(jsontext.NewDecoder(bytes.NewReader(content), lenient), &first); err != nil {
		return at(content, err)
	}
	switch {
	case first.Runs != nil:
		return r.sarif(content)
	case first.Diagnostics != nil:
		return r.rdjson(name, content)
	}
	return errors.New("its JSON is neither SARIF (runs) nor rdjson (diagnostics)")
}

// looks reports whether one more result is looked at, and counts it where none is.
func (r *Reader) looks() bool {
	if r.looked++; r.looked <= maxLooked {
		return true
	}
	r.Left.Beyond++
	return false
}

// lenient takes what tools write that is not quite JSON.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// at says in an error where in a file it is.
func at(content []byte, err error) error {
	var offset int64
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic):
		offset, err = syntactic.ByteOffset, syntactic.Err
	case errors.As(err, &semantic):
		offset = semantic.ByteOffset
		err = fmt.Errorf("a %s stands where it has no place", semantic.JSONKind)
	}
	before := content[:min(max(offset, 0), int64(len(content)))]
	line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// bounded is what lists of T hold at most.
type bounded interface{ most() int }

// few is a JSON list of which the first entries are kept: a file's size alone would let many small entries take a
// hundred times its bytes of memory. What is no list is an empty one, and entries of another form are counted.
type few[T bounded] struct {
	list []T
	bad  int
}

// UnmarshalJSONFrom reads a list.
func (f *few[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var entry T
	return each(dec, func(v jsontext.Value) {
		if len(f.list) >= entry.most() {
			return
		}
		var one T
		if json.Unmarshal(v, &one, lenient) != nil {
			f.bad++
			return
		}
		f.list = append(f.list, one)
	})
}

// first is the first entry, or a zero one.
func (f few[T]) first() (zero T) {
	if len(f.list) == 0 {
		return zero
	}
	return f.list[0]
}

// each hands over the entries of a list; of anything else none.
func each(dec *jsontext.Decoder, entry func(jsontext.Value)) error {
	if dec.PeekKind() != '[' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		entry(v)
	}
	_, err := dec.ReadToken()
	return err
}

// severityOf is the severity of a linter's level: never blocker, which a person alone makes of it.
func severityOf(level string) finding.Severity {
	switch strings.ToLower(level) {
	case "error", "fatal":
		return finding.Major
	case "note", "none", "info", "information", "hint":
		return finding.Nit
	}
	return finding.Minor
}
