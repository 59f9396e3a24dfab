package linter

import (
	"bytes"
	"encoding/xml"
	"path"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
)

type styleLog struct {
	XMLName xml.Name `xml:"checkstyle"`
	Files   []struct {
		Name   string       `xml:"name,attr"`
		Errors []styleError `xml:"error"`
	} `xml:"file"`
}

type styleError struct {
	Line     string `xml:"line,attr"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

// checkstyle reads checkstyle's XML, which many linters write. encoding/xml does not expand entities that a document
// declares.
func (r *Reader) checkstyle(name string, content []byte) error {
	var log styleLog
	d := xml.NewDecoder(bytes.NewReader(content))
	d.CharsetReader = guard.Charset
	if err := d.Decode(&log); err != nil {
		return err
	}
	for _, file := range log.Files {
		for _, e := range file.Errors {
			if e.Severity == "ignore" {
				r.Left.Suppressed++
			} else if r.admit() {
				r.add(e.result(file.Name, stem(name)))
			}
		}
	}
	return nil
}

// result returns the error as a result. The format has no field for the tool's name: it is part of the rule's, or the
// name of the file.
func (e styleError) result(file, tool string) Result {
	rule := e.Source
	switch parts := strings.Split(rule, "."); {
	case strings.HasPrefix(rule, "com.puppycrawl.tools.checkstyle."):
		tool, rule = "checkstyle", strings.TrimSuffix(parts[len(parts)-1], "Check")
	case strings.HasPrefix(rule, "eslint.rules."):
		tool, rule = "eslint", strings.TrimPrefix(rule, "eslint.rules.")
	}
	line, _ := strconv.Atoi(e.Line) // 0 if there is none
	return Result{Tool: tool, Rule: rule, Message: e.Message, Severity: severityOf(e.Severity), Path: file, Line: line,
		End: line}
}

// stem returns a file's name without folder and extension, which stands for a tool that gives no name.
func stem(name string) string {
	name = path.Base(name)
	return strings.TrimSuffix(name, path.Ext(name))
}
