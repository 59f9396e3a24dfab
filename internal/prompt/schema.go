package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai/jsonschema"
)

// Review is the answer to a review of one file.
type Review struct {
	Findings []Finding `json:"findings" description:"The defects that the change brings in; empty where there are none."`
}

// Finding is one finding as a model writes it. The keys stand in the order in
// which a model should think: the place, the quote, the claim, then its weight.
type Finding struct {
	Side       string  `json:"side" enum:"RIGHT,LEFT"`
	StartLine  int     `json:"start_line" description:"First line of the place, as numbered on that side."`
	Line       int     `json:"line" description:"Last line of the place; equal to start_line for a single line."`
	Quote      string  `json:"quote" description:"The text of that line, copied exactly."`
	Title      string  `json:"title" description:"One sentence that states the defect as a fact."`
	Body       string  `json:"body" description:"What happens, when, and why."`
	Category   string  `json:"category" enum:"correctness,security,concurrency,error-handling,resource,data,compatibility,performance,design,maintainability,requirement,test,tests,style,other"`
	Severity   string  `json:"severity" enum:"blocker,major,minor,nit"`
	Confidence float64 `json:"confidence" description:"From 0 to 1."`
	Suggestion string  `json:"suggestion" description:"Replaces exactly the lines start_line to line, or is empty."`
}

// Verification is the answer to a check of findings.
type Verification struct {
	Verdicts []Verdict `json:"verdicts" description:"One for every finding, in their order."`
}

// Verdict says of one finding whether it holds. The reason stands first, so that
// it is found before the verdict and not for it.
type Verdict struct {
	ID     string `json:"id" description:"The id of the finding."`
	Reason string `json:"reason" description:"The step that decided it, in one or two sentences."`
	Holds  bool   `json:"holds"`
}

// Label says what a file's change is and how closely to read it.
type Label struct {
	Kind  string `json:"kind" enum:"security,refactoring,feature,tests,docs,other"`
	Depth string `json:"depth" enum:"deep,normal,light"`
}

// Overview is the answer about a whole change that is held against no ticket.
type Overview struct {
	Overview string         `json:"overview" description:"What the change does, in two or three sentences."`
	Findings []WholeFinding `json:"findings" description:"Defects that concern files together; empty where there are none."`
}

// JudgedOverview is the answer about a whole change and what was asked for.
type JudgedOverview struct {
	Overview string         `json:"overview" description:"What the change does, in two or three sentences."`
	Findings []WholeFinding `json:"findings" description:"Defects that concern files together; empty where there are none."`
	Criteria []Criterion    `json:"criteria" description:"One for every criterion, by its number."`
	Unasked  []Unasked      `json:"unasked" description:"Parts of the change that no ticket asks for."`
}

// Judgement is the answer of which no word is kept.
type Judgement struct {
	Criteria []Criterion `json:"criteria" description:"One for every criterion, by its number."`
	Unasked  []Evidence  `json:"unasked" description:"Parts of the change that no ticket asks for."`
}

// Criterion is a model's verdict on one criterion.
type Criterion struct {
	N        int        `json:"n" description:"The criterion's number."`
	Verdict  string     `json:"verdict" enum:"met,not_met,unknown"`
	Evidence []Evidence `json:"evidence" description:"Lines of the diff that show it; empty where there are none."`
}

// Evidence is a place in the diff.
type Evidence struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line" description:"As numbered in the new file."`
	EndLine   int    `json:"end_line"`
}

// Unasked is a part of the change, and what it does.
type Unasked struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Text      string `json:"text" description:"What this part does, in at most ten words."`
}

// WholeFinding is a finding with the file in which it stands.
type WholeFinding struct {
	Path       string  `json:"path" description:"The file of the place, copied exactly."`
	Side       string  `json:"side" enum:"RIGHT,LEFT"`
	StartLine  int     `json:"start_line" description:"First line of the place, as numbered on that side."`
	Line       int     `json:"line" description:"Last line of the place; equal to start_line for a single line."`
	Quote      string  `json:"quote" description:"The text of that line, copied exactly."`
	Title      string  `json:"title" description:"One sentence that states the defect as a fact."`
	Body       string  `json:"body" description:"What happens, when, and why; names the other file."`
	Category   string  `json:"category" enum:"correctness,security,concurrency,error-handling,resource,data,compatibility,performance,design,maintainability,requirement,test,tests,style,other"`
	Severity   string  `json:"severity" enum:"blocker,major,minor,nit"`
	Confidence float64 `json:"confidence" description:"From 0 to 1."`
	Suggestion string  `json:"suggestion" description:"Replaces exactly the lines start_line to line, or is empty."`
}

// node is a schema in the strict subset that servers take: no references, every
// property required, none besides them, and all in the order of the Go type. The
// library's own form sorts properties by name, and models write in their order.
type node struct {
	Type        jsonschema.DataType `json:"type"`
	Description string              `json:"description,omitempty"`
	Enum        []string            `json:"enum,omitempty"`
	Additional  *bool               `json:"additionalProperties,omitempty"`
	Required    []string            `json:"required,omitempty"`
	Properties  *properties         `json:"properties,omitempty"`
	Items       *node               `json:"items,omitempty"`
}

type properties struct {
	names []string
	nodes []*node
}

// MarshalJSON writes the properties in their order.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range p.names {
		value, err := json.Marshal(p.nodes[i])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%q:%s", name, value)
	}
	return []byte("{" + strings.TrimPrefix(b.String(), ",") + "}"), nil
}

// schemaOf is the strict schema of a wire type. The types are those of this
// file, so an error is the program's.
func schemaOf(v any) json.RawMessage {
	d, err := jsonschema.GenerateSchemaForType(v)
	if err != nil {
		panic(fmt.Sprintf("the schema of %T: %v", v, err))
	}
	schema, err := json.Marshal(strict(*d, d.Defs))
	if err != nil {
		panic(fmt.Sprintf("the schema of %T: %v", v, err))
	}
	return schema
}

func strict(d jsonschema.Definition, defs map[string]jsonschema.Definition) *node {
	if d.Ref != "" {
		named := defs[strings.TrimPrefix(d.Ref, "#/$defs/")]
		named.Description = d.Description
		d = named
	}
	n := &node{Type: d.Type, Description: d.Description, Enum: d.Enum}
	if d.Items != nil {
		n.Items = strict(*d.Items, defs)
	}
	if d.Type == jsonschema.Object {
		n.Additional, n.Required, n.Properties = new(bool), d.Required, &properties{names: d.Required}
		for _, name := range d.Required {
			n.Properties.nodes = append(n.Properties.nodes, strict(d.Properties[name], defs))
		}
	}
	return n
}
