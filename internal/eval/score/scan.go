package score

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/finding"
)

// The bounds of a scan. An answer of the reviewer's model is no longer, and one
// with more than 100 findings is refused; further ones are not counted. A token
// is one step and a brace to start from ten: what a text holds behind the last
// step is given up, so that no text costs more than some milliseconds.
const (
	maxText   = 2 << 20 // bytes
	maxClaims = 1_000
	maxSteps  = 50_000
	startStep = 10
	maxTitle  = 400 // characters
	maxLine   = 10_000_000
)

// claim is a finding as an answer holds it, as far as it can be read.
type claim struct {
	title       string // on one line
	start, line int    // 0 for none
	severity    finding.Severity
}

// scan reads the findings out of an answer, whatever else is wrong with it:
// every object with a title or a line, also one that was cut off. An object
// around them, and those inside one, are part of no count of their own. Where
// the text stops to be JSON, it goes on at the next brace; the worst of that is
// a finding that an answer only quotes.
func scan(text string) []claim {
	rest := []byte(text[:min(len(text), maxText)])
	var s scanner
	for len(s.found) < maxClaims && s.steps < maxSteps {
		i := bytes.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		rest = rest[i+s.object(rest[i:]):]
	}
	return s.found[:min(len(s.found), maxClaims)]
}

// scanner holds the values that are open, the innermost last.
type scanner struct {
	steps int
	found []claim
	open  []value
}

// value is an object or a list that is being read.
type value struct {
	claim
	key     string // the last one read
	claims  bool   // it has a title or a line
	answer  bool   // it holds the list of findings
	outside int    // how many were found before it
}

// object reads from a brace on as far as there is JSON, and returns how many
// bytes that were: at least one, and all that was looked at, but for one token.
func (s *scanner) object(text []byte) int {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for s.steps += startStep; s.steps < maxSteps; s.steps++ {
		token, err := d.ReadToken()
		if err != nil {
			break
		}
		kind, n := d.StackIndex(d.StackDepth())
		s.take(token, kind == '{' && n%2 == 1)
		if len(s.open) == 0 {
			break
		}
	}
	for len(s.open) > 0 {
		s.close()
	}
	return max(1, int(d.InputOffset()))
}

// take takes the next token in; a name is a key of the object that is open.
func (s *scanner) take(t jsontext.Token, isName bool) {
	switch kind := t.Kind(); {
	case kind == '{' || kind == '[':
		s.open = append(s.open, value{outside: len(s.found)})
	case kind == '}' || kind == ']':
		s.close()
	case isName:
		top := &s.open[len(s.open)-1]
		top.key = t.String()
		top.answer = top.answer || top.key == "findings"
	case kind == '"' || kind == '0':
		s.open[len(s.open)-1].set(t.String())
	}
}

func (s *scanner) close() {
	v := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if !v.claims || v.answer {
		return
	}
	if v.start == 0 || v.start > v.line {
		v.start = v.line
	}
	s.found = append(s.found[:v.outside], v.claim)
}

// set takes a text or a number in under the key that was read last.
func (v *value) set(text string) {
	switch v.key {
	case "title":
		v.claims, v.title = true, oneLine(clip(text))
	case "line":
		v.claims, v.line = true, lineNumber(text)
	case "start_line":
		v.start = lineNumber(text)
	case "severity":
		v.severity, _ = finding.ParseSeverity(text)
	}
}

// lineNumber reads a line number, 0 for what is none.
func lineNumber(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > maxLine {
		return 0
	}
	return n
}

func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxTitle {
			return s[:i]
		}
	}
	return s
}
