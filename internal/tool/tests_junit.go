package tool

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
)

// junitCase is a testcase of a JUnit file (https://github.com/testmoapp/junitxml describes the
// common format).
type junitCase struct {
	Name     string        `xml:"name,attr"`
	Class    string        `xml:"classname,attr"`
	File     string        `xml:"file,attr"`
	LineText string        `xml:"line,attr"`
	Failures []junitReason `xml:"failure"`
	Errors   []junitReason `xml:"error"`
	Skipped  *struct{}     `xml:"skipped"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// parseJUnit reads the cases of a JUnit file one by one, at any depth, and keeps only one in
// memory: a reader that keeps each element's inner text would need the file's size once for every
// level of a hostile one. encoding/xml expands no entity that a document declares; shallow limits
// the nesting. An error comes with the results read before it.
func parseJUnit(content []byte) (results, error) {
	var r results
	from := xml.NewDecoder(bytes.NewReader(content))
	from.CharsetReader = guard.Charset
	d := xml.NewTokenDecoder(&shallow{from: from})
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("not complete JUnit XML: %w", err)
		}
		start, opens := token.(xml.StartElement)
		if !opens || start.Name.Local != "testcase" {
			continue
		}
		var c junitCase
		if err := d.DecodeElement(&c, &start); err != nil {
			return r, fmt.Errorf("not complete JUnit XML: %w", err)
		}
		r.addCase(c)
	}
}

// shallow rejects XML that no writer of such files produces, and that a decoder would hold in
// memory at many times the file's size.
type shallow struct {
	from  *xml.Decoder
	depth int
}

const (
	maxDepth      = 64
	maxAttributes = 64 // of one element
)

func (s *shallow) Token() (xml.Token, error) {
	token, err := s.from.RawToken()
	switch t := token.(type) {
	case xml.StartElement:
		s.depth++
		if s.depth > maxDepth || len(t.Attr) > maxAttributes {
			return nil, errors.New("elements nest too deep or have too many attributes")
		}
	case xml.EndElement:
		s.depth--
	}
	return token, err
}

func (r *results) addCase(c junitCase) {
	r.tests++
	reasons := append(c.Failures, c.Errors...)
	if len(reasons) == 0 {
		if c.Skipped != nil {
			r.skipped++
		}
		return
	}
	f := failure{name: strings.Trim(c.Class+"."+c.Name, "."), file: c.File}
	_, _ = fmt.Sscanf(c.LineText, "%d", &f.line) // an invalid number counts as no line
	for _, reason := range reasons {
		text := strings.TrimSpace(reason.Text)
		if !strings.Contains(text, reason.Message) {
			text = reason.Message + "\n" + text
		}
		f.message += text + "\n"
	}
	if f.file == "" {
		f.file, f.line = codePosition(f.message)
	}
	r.addFailure(f)
}
