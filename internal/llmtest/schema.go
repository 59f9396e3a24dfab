package llmtest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	jsonv2 "github.com/go-json-experiment/json"
)

type schema struct {
	Type       any                `json:"type"` // a string or a list of them
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	More       *bool              `json:"additionalProperties"`
	Items      *schema            `json:"items"`
}

// checkSchema checks a whole schema against the strict subset: its root is an object, and every object requires all
// of its properties and allows no others.
func checkSchema(raw json.RawMessage) error {
	if _, known := sound.Load(string(raw)); known {
		return nil
	}
	var root schema
	if err := json.Unmarshal(raw, &root); err != nil || root.Type != "object" {
		return errors.Join(errors.New(`schema must be a JSON Schema of 'type: "object"'`), err)
	}
	err := root.check()
	if err == nil {
		sound.Store(string(raw), true)
	}
	return err
}

// sound are the schemas that passed: a product has a dozen of them, and sends them with every request.
var sound sync.Map

// check checks a schema against the rules. Its messages name the place as the API does. References and choices,
// which this product does not send, have no type.
func (s *schema) check(at ...string) error {
	no := func(format string, args ...any) error {
		return fmt.Errorf("In context=(%s), "+format, append([]any{strings.Join(at, ", ")}, args...)...)
	}
	is := func(kind string) bool { return strings.Contains(fmt.Sprint(" ", s.Type, " "), kind) }
	properties := slices.Sorted(maps.Keys(s.Properties))
	switch {
	case s.Type == nil:
		return no("schema must have a 'type' key.")
	case is("array") && s.Items == nil:
		return no("array schema missing items.")
	case is("object") && s.More == nil:
		return no("'additionalProperties' is required to be supplied and to be false.")
	case is("object") && !slices.Equal(properties, slices.Sorted(slices.Values(s.Required))):
		return no("'required' is required to be supplied and to be an array including every key in properties: %s.",
			strings.Join(properties, ", "))
	}
	for _, name := range properties {
		if err := s.Properties[name].check(append(slices.Clone(at), "'properties'", "'"+name+"'")...); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return s.Items.check(append(slices.Clone(at), "'items'")...)
	}
	return nil
}

//go:embed testdata/openai.json
var openai []byte

// loadDescription parses the description of OpenAI's requests, once for all servers of a process.
var loadDescription = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(openai) })

// decode validates a body against a schema of the description, and unmarshals its raw form.
func decode(body map[string]any, raw []byte, shape string, to any) *refusal {
	doc, err := loadDescription()
	if err != nil {
		return invalid("the description cannot be read: %v", err)
	}
	err = doc.Components.Schemas[shape].Value.VisitJSON(body)
	if no := new(openapi3.SchemaError); errors.As(err, &no) {
		at := no.JSONPointer()
		if name, unknown := strings.CutSuffix(no.Reason, `" is unsupported`); unknown {
			name = strings.TrimPrefix(name, `property "`)
			return invalid("Unknown parameter: '%s'.", name).withParam(name).withCode("unknown_parameter")
		}
		return invalid("Invalid value for '%s': %s", strings.Join(at, "."), no.Reason).withParam(strings.Join(at, "."))
	}
	_ = jsonv2.Unmarshal(raw, to) // it has that shape
	return nil
}
