package review

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

// The limits of an answer; lengths in characters.
const (
	maxFindings   = 100
	maxTitle      = 400
	maxBody       = 10_000
	maxSuggestion = 20_000
	maxQuote      = 4_000
	maxCategory   = 60
)

// maxLine bounds line numbers: no file that is reviewed has more lines.
const maxLine = 10_000_000

// brokenError reports an answer that does not match its schema. The problem is in our own words
// and contains nothing of the answer.
type brokenError struct {
	problem string
	partly  bool // some of its findings are usable
}

func (e *brokenError) Error() string { return "the answer is off its schema: " + e.problem }

// Next returns what to do about it.
func (e *brokenError) Next() string { return "run it again, or use another model" }

func brokenf(format string, args ...any) *brokenError {
	return &brokenError{problem: fmt.Sprintf(format, args...)}
}

// wireFinding is a finding as a model writes it; a nil pointer means a missing key.
type wireFinding struct {
	Path       *string          `json:"path"` // not requested; if present it must be the file's
	Side       finding.Side     `json:"side"`
	StartLine  lineNumber       `json:"start_line"`
	Line       lineNumber       `json:"line"`
	Quote      string           `json:"quote"`
	Title      string           `json:"title"`
	Body       string           `json:"body"`
	Category   string           `json:"category"`
	Severity   finding.Severity `json:"severity"`
	Confidence *float64         `json:"confidence"`
	Suggestion string           `json:"suggestion"`

	Others map[string]jsontext.Value `json:",embed"`
}

type lineNumber int

// UnmarshalJSON accepts any form of a whole number, and null as 0.
func (n *lineNumber) UnmarshalJSON(raw []byte) error {
	var v float64
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if v != math.Trunc(v) || math.Abs(v) > maxLine+1 {
		return errors.New("it is not a line number")
	}
	*n = lineNumber(v)
	return nil
}

// Unknown keys in an answer, such as a summary, are ignored, except another spelling of a key of
// the schema, a second key for the place, and a key that requests an action.
var (
	reservedKey   = pattern.Lazy(`(?i)^(?:findings|(?:event|tool|action).*)$`)
	misspelledKey = pattern.Lazy(`(?i)line|path|file|^(?:side|quote|title|body|category|severity|confidence` +
		`|suggestion)$`)
)

// decode parses a model's answer about a file: one JSON object of the schema, without duplicate
// keys. It returns the valid findings, and a *brokenError if anything else could be a finding or
// was missing. An answer that breaks a rule for the document yields no finding at all, unless it
// was only cut off.
func decode(text, path string) ([]finding.Finding, error) {
	var answer struct {
		Findings []jsontext.Value          `json:"findings"`
		Others   map[string]jsontext.Value `json:",embed"`
	}
	text, worded := fencedText(text)
	err := json.Unmarshal([]byte(Unfence(text)), &answer)
	cut := errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case err != nil && !cut:
		return nil, brokenf("%s", problem(err, "it is not a JSON object"))
	case answer.Findings == nil:
		return nil, brokenf(`it is not a JSON object with a list "findings"`)
	case hasKey(answer.Others, reservedKey()):
		return nil, brokenf(unknownKey)
	case len(answer.Findings) > maxFindings:
		return nil, brokenf("it contains more than %d findings", maxFindings)
	}
	found, err := readFindings(answer.Findings, func(jsontext.Value) (string, error) { return path, nil })
	switch {
	case cut:
		err = brokenf("the JSON ends in the middle")
	case err == nil && worded && len(found) == 0:
		err = brokenf("words stand around a list of no findings") // the list may be a quotation
	case err == nil && hasStrayFindings(answer.Others):
		err = &brokenError{problem: `what may be findings stands outside of the list "findings"`,
			partly: len(found) > 0}
	}
	return found, err
}

const unknownKey = "it has a key that is not in the schema"

func hasKey(others map[string]jsontext.Value, key *regexp.Regexp) bool {
	for name := range others {
		if key.MatchString(name) {
			return true
		}
	}
	return false
}

// hasStrayFindings reports whether any other value contains a line key, as findings do.
func hasStrayFindings(others map[string]jsontext.Value) bool {
	for _, v := range others {
		if (v.Kind() == '{' || v.Kind() == '[') && bytes.Contains(v, []byte(`line"`)) {
			return true
		}
	}
	return false
}

// readFindings returns the valid findings and, if there are others, an error with their number and
// the first problem. pathOf returns the file of a finding.
func readFindings(values []jsontext.Value, pathOf func(jsontext.Value) (string, error)) (found []finding.Finding,
	err error) {
	if i := slices.IndexFunc(values, func(v jsontext.Value) bool { return len(v) == 0 }); i >= 0 {
		values = values[:i] // the answer was cut off here
	}
	var first string
	for i, value := range values {
		var f finding.Finding
		path, err := pathOf(value)
		if err == nil {
			f, err = readFinding(value, path)
		}
		if err == nil {
			found = append(found, f)
		} else if first == "" {
			first = fmt.Sprintf("finding %d: %s", i+1, err)
		}
	}
	switch {
	case first == "":
		return found, nil
	case len(found) == 0:
		return nil, brokenf("%d of %[1]d findings are off the schema: %s", len(values), first)
	}
	bad := brokenf("%d of %d findings could not be used: %s", len(values)-len(found), len(values), first)
	bad.partly = true
	return found, bad
}

// Unfence removes the code fence that some models put around an answer.
func Unfence(text string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "```")
	if !ok {
		return text
	}
	inner, ok = strings.CutSuffix(inner, "```")
	if !ok {
		return text
	}
	return trimLanguage(inner)
}

// trimLanguage removes the language name at the beginning of a fence's content.
func trimLanguage(text string) string {
	return strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsSpace(r) })
}

// fencedText returns the content of the fence in an answer with words before or after it, or else
// text and false. A fence that does not end was cut off.
func fencedText(text string) (inner string, ok bool) {
	_, inner, ok = strings.Cut(text, "```")
	if !ok || strings.HasPrefix(strings.TrimSpace(text), "{") || Unfence(text) != text {
		return text, false
	}
	if end := strings.LastIndex(inner, "```"); end >= 0 {
		inner = inner[:end]
	}
	return trimLanguage(inner), true
}

func readFinding(value jsontext.Value, path string) (finding.Finding, error) {
	var w wireFinding
	if err := json.Unmarshal(value, &w); err != nil {
		return finding.Finding{}, errors.New(problem(err, "it has a value of a wrong type"))
	}
	if hasKey(w.Others, reservedKey()) || hasKey(w.Others, misspelledKey()) {
		return finding.Finding{}, errors.New(unknownKey)
	}
	w.Side = finding.Side(strings.ToUpper(string(w.Side)))
	w.Severity = finding.Severity(strings.ToLower(string(w.Severity)))
	if err := w.check(path); err != nil {
		return finding.Finding{}, err
	}
	return w.finding(path), nil
}

func problem(err error, otherwise string) string {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return "a key appears twice in one object"
	}
	if mistyped, ok := errors.AsType[*json.SemanticError](err); ok {
		switch where := mistyped.JSONPointer; where {
		case "/line", "/start_line":
			return where.LastToken() + notALine + ": " + otherwise
		}
	}
	return otherwise
}

const notALine = " is not a line number"

func (w *wireFinding) check(path string) error {
	switch {
	case w.Path != nil && *w.Path != path && *w.Path != guard.Visible(path):
		return errors.New("it is about another file")
	case w.Side != "" && w.Side != finding.Right && w.Side != finding.Left:
		return errors.New("side is neither RIGHT nor LEFT")
	case w.Line < 1 || w.Line > maxLine:
		return errors.New("line" + notALine)
	case w.StartLine < 0 || w.StartLine > maxLine:
		return errors.New("start_line" + notALine)
	case w.StartLine > w.Line:
		return errors.New("start_line is behind line")
	case w.Severity.Rank() < 0:
		return errors.New("severity is not one of blocker, major, minor, nit")
	case w.Confidence == nil || !(*w.Confidence >= 0 && *w.Confidence <= 1):
		return errors.New("confidence is not a number from 0 to 1")
	case strings.TrimSpace(w.Title) == "":
		return errors.New("title is empty")
	}
	return w.checkLengths()
}

func (w *wireFinding) checkLengths() error {
	for _, field := range []struct {
		name, text string
		max        int
	}{
		{"title", w.Title, maxTitle},
		{"body", w.Body, maxBody},
		{"suggestion", w.Suggestion, maxSuggestion},
		{"category", w.Category, maxCategory},
	} {
		if utf8.RuneCountInString(field.text) > field.max {
			return fmt.Errorf("%s is longer than %d characters", field.name, field.max)
		}
	}
	return nil
}

// finding leaves placement and fingerprint to the step that sees all files.
func (w *wireFinding) finding(path string) finding.Finding {
	if utf8.RuneCountInString(w.Quote) > maxQuote {
		w.Quote = "" // a long line; the diff has it
	}
	return finding.Finding{
		Path: path, Side: cmp.Or(w.Side, finding.Right), StartLine: int(cmp.Or(w.StartLine, w.Line)), Line: int(w.Line),
		Severity: w.Severity, Category: oneLine(w.Category), Confidence: *w.Confidence,
		Title: oneLine(w.Title), Body: wording.Paragraphs(w.Body),
		Suggestion: strings.TrimSuffix(w.Suggestion, "\n"), Quote: w.Quote, Source: finding.Model,
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
