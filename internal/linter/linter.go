// Package linter reads linters' results on a change from SARIF 2.1.0, rdjson and checkstyle files, and keeps those
// on lines that the change adds.
//
// Whoever wrote the change also wrote these files (T40): their texts are bounded and redacted, a result is never a
// blocker and never has a suggestion, and a path only counts as the changed file that it ends with. The package
// runs no linter. Start reading at Reader; each format has a file, place.go decides where a result belongs.
package linter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Limits of what is read.
const (
	MaxFile    = 10 << 20 // bytes of a file
	maxFiles   = 20       // per glob or artifact
	maxResults = 1000     // findings from all files, on lines that the change adds
	maxLooked  = 100_000  // results from all files that are examined
)

// Result is one result of a linter about one place. All texts are untrusted.
type Result struct {
	Tool, Rule string
	Message    string
	Help       string // address of the rule's page; empty if it is not https
	Severity   finding.Severity
	Path       string // as in the file, after the base that it is relative to
	Line, End  int    // 1-based; End is Line for one line
	Snippet    string // what the linter saw there; empty if it does not say
}

// Left counts the results that are not shown, by reason.
type Left struct {
	Outside    int `json:"outside,omitempty"`    // in no changed file
	Elsewhere  int `json:"elsewhere,omitempty"`  // not on a line that the change adds
	Suppressed int `json:"suppressed,omitempty"` // suppressed by the code or the tool's settings
	Unreadable int `json:"unreadable,omitempty"` // malformed, or without place or text
	Beyond     int `json:"beyond,omitempty"`     // more than are kept
}

// Reader collects the findings of several files, each once.
type Reader struct {
	Report
	From string // where the results are from, such as "by ci.yml of this change"

	lines    map[string]map[int]line // of the changed files at the head, by path and number
	seen     map[string]bool
	looked   int
	searches int
}

// NewReader returns a Reader for results on a change's files, whose patches must be unredacted.
func NewReader(files []diff.File, from string) *Reader {
	return &Reader{From: from, lines: shownLines(files), seen: map[string]bool{}}
}

// Read adds the results in a file of any supported format. name is used in errors, which give line and column.
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

// json reads SARIF or rdjson, which differ in their members.
func (r *Reader) json(name string, content []byte) error {
	var log struct {
		Runs        []jsontext.Value `json:"runs"`
		Diagnostics []jsontext.Value `json:"diagnostics"`
		rdDefaults
	}
	// A decoder ignores what some tools print after the document.
	err := json.UnmarshalDecode(jsontext.NewDecoder(bytes.NewReader(content), lenient), &log)
	switch {
	case err == nil && log.Runs != nil:
		r.sarif(log.Runs)
	case err == nil && log.Diagnostics != nil:
		log.Source.Name = cmp.Or(log.Source.Name, stem(name))
		r.rdjson(log.Diagnostics, log.rdDefaults)
	default:
		return errors.New("it is not JSON with the runs of SARIF or the diagnostics of rdjson")
	}
	return nil
}

// admit reports whether one more result may be examined, and counts it as Beyond otherwise.
func (r *Reader) admit() bool {
	if r.looked++; r.looked <= maxLooked {
		return true
	}
	r.Left.Beyond++
	return false
}

// lenient accepts almost-JSON that tools write.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// entries decodes the entries of a list one at a time, as far as they may be examined: small ones could take many times
// the file's size in memory. Malformed ones are counted.
func entries[T any](r *Reader, list []jsontext.Value) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range list {
			var one T
			switch {
			case !r.admit():
			case json.Unmarshal(v, &one, lenient) != nil:
				r.Left.Unreadable++
			case !yield(one):
				return
			}
		}
	}
}

// severityOf maps a linter's level to a severity, never to blocker: only a person decides that.
func severityOf(level string) finding.Severity {
	switch strings.ToLower(level) {
	case "error", "fatal":
		return finding.Major
	case "note", "none", "info", "information", "hint":
		return finding.Nit
	}
	return finding.Minor
}
