package linter

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The types below are the part of reviewdog's format that this package reads
// (https://github.com/reviewdog/reviewdog/tree/master/proto/rdf).

type rdSource struct {
	Name string `json:"name"`
}

type rdDiagnostic struct {
	Message  string `json:"message"`
	Location struct {
		Path  string `json:"path"`
		Range struct {
			Start rdPosition `json:"start"`
			End   rdPosition `json:"end"`
		} `json:"range"`
	} `json:"location"`
	Severity jsontext.Value `json:"severity"` // a name or a number
	Source   rdSource       `json:"source"`
	Code     struct {
		Value string `json:"value"`
		URL   string `json:"url"`
	} `json:"code"`
}

type rdPosition struct {
	Line int `json:"line"`
}

// rdDefaults holds for all diagnostics.
type rdDefaults struct {
	Source   rdSource       `json:"source"`
	Severity jsontext.Value `json:"severity"`
}

func (r *Reader) rdjson(diagnostics []jsontext.Value, all rdDefaults) {
	for d := range entries[rdDiagnostic](r, diagnostics) {
		if d.Severity == nil {
			d.Severity = all.Severity
		}
		r.add(d.result(cmp.Or(d.Source.Name, all.Source.Name)))
	}
}

func (d rdDiagnostic) result(tool string) Result {
	level := strings.Trim(string(d.Severity), `"`)
	switch level {
	case "1":
		level = "error"
	case "3":
		level = "info"
	}
	start := d.Location.Range.Start.Line
	return Result{
		Tool: tool, Rule: d.Code.Value, Message: d.Message, Help: d.Code.URL, Severity: severityOf(level),
		Path: d.Location.Path, Line: start, End: max(start, d.Location.Range.End.Line),
	}
}
