package linter

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// checkstyle reads checkstyle's XML, which many linters write. It holds one element at a
// time; encoding/xml does not expand entities that a document declares.
func (r *Reader) checkstyle(name string, content []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(content))
	file, root, depth := "", false, 0
	for {
		token, err := dec.RawToken()
		if errors.Is(err, io.EOF) && depth == 0 && root {
			return nil
		}
		if err != nil {
			return withXMLPosition(dec, err)
		}
		switch t := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			depth++
			root = root || t.Name.Local == "checkstyle"
			switch {
			case !root:
				return withXMLPosition(dec, fmt.Errorf("it begins with <%.40s>, not <checkstyle>", t.Name.Local))
			case t.Name.Local == "file":
				file = attributes(t)["name"]
			case t.Name.Local == "error" && attributes(t)["severity"] == "ignore":
				r.Left.Suppressed++
			case t.Name.Local == "error" && r.admit():
				r.add(styleResult(file, stem(name), attributes(t)))
			}
		}
	}
}

func withXMLPosition(dec *xml.Decoder, err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		err = errors.New(syntax.Msg)
	}
	line, column := dec.InputPos()
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

func attributes(e xml.StartElement) map[string]string {
	all := map[string]string{}
	for _, a := range e.Attr[:min(len(e.Attr), 20)] {
		all[a.Name.Local] = a.Value
	}
	return all
}

// styleResult returns the result of an error element. The format has no field for the
// tool's name: it is part of the rule's, or the name of the file.
func styleResult(file, tool string, a map[string]string) Result {
	rule := a["source"]
	switch parts := strings.Split(rule, "."); {
	case strings.HasPrefix(rule, "com.puppycrawl.tools.checkstyle."):
		tool, rule = "checkstyle", strings.TrimSuffix(parts[len(parts)-1], "Check")
	case strings.HasPrefix(rule, "eslint.rules."):
		tool, rule = "eslint", strings.TrimPrefix(rule, "eslint.rules.")
	}
	line, _ := strconv.Atoi(a["line"]) // 0 if there is none
	return Result{Tool: tool, Rule: rule, Message: a["message"], Severity: severityOf(a["severity"]), Path: file,
		Line: line, End: line}
}

// stem returns a file's name without folder and extension, which stands for a tool that gives no name.
func stem(name string) string {
	name = path.Base(name)
	return strings.TrimSuffix(name, path.Ext(name))
}
