package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// schema has the keywords of the strict subset of JSON schema (OpenAI's guide to
// structured outputs, supported schemas, February 2026).
type schema struct {
	Type       jsontext.Value     `json:"type"` // a text or a list of them
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
	AnyOf      []*schema          `json:"anyOf"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	More       jsontext.Value     `json:"additionalProperties"`
	Items      *schema            `json:"items"`

	Title            string         `json:"title"`
	Description      string         `json:"description"`
	Format           string         `json:"format"`
	Pattern          string         `json:"pattern"`
	Const            jsontext.Value `json:"const"`
	Enum             []any          `json:"enum"`
	Minimum          float64        `json:"minimum"`
	Maximum          float64        `json:"maximum"`
	ExclusiveMinimum float64        `json:"exclusiveMinimum"`
	ExclusiveMaximum float64        `json:"exclusiveMaximum"`
	MultipleOf       float64        `json:"multipleOf"`
	MinItems         int            `json:"minItems"`
	MaxItems         int            `json:"maxItems"`
}

const maxDepth = 10

// checkSchema holds a whole schema to the strict subset: its root is an object,
// and every object lists all of its properties as required and takes no others.
func checkSchema(raw json.RawMessage) error {
	var root *schema
	if err := strict.Unmarshal(raw, &root, strict.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if root == nil || string(root.Type) != `"object"` {
		return errors.New(`schema must be a JSON Schema of 'type: "object"'`)
	}
	return root.check(root)
}

// check holds a schema to its rules. Its messages name the place as the API does.
func (s *schema) check(root *schema, at ...string) error {
	no := func(format string, args ...any) error {
		return fmt.Errorf("In context=(%s), "+format, append([]any{strings.Join(at, ", ")}, args...)...)
	}
	var kinds []string
	if json.Unmarshal(s.Type, &kinds) != nil {
		kinds = []string{strings.Trim(string(s.Type), `"`)}
	}
	switch properties := slices.Sorted(maps.Keys(s.Properties)); {
	case len(at) > 4*maxDepth:
		return no("more than %d levels of nesting", maxDepth)
	case s.Ref != "" && s.Ref != "#" && root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")] == nil:
		return no("reference to component '%s' which was not found in the schema.", s.Ref)
	case s.Type == nil && s.Ref == "" && s.AnyOf == nil:
		return no("schema must have a 'type' key.")
	case slices.Contains(kinds, "array") && s.Items == nil:
		return no("array schema missing items.")
	case slices.Contains(kinds, "object") && string(s.More) != "false":
		return no("'additionalProperties' is required to be supplied and to be false.")
	case slices.Contains(kinds, "object") && !slices.Equal(properties, slices.Sorted(slices.Values(s.Required))):
		return no("'required' is required to be supplied and to be an array including every key in properties: %s.",
			strings.Join(properties, ", "))
	}
	for _, kind := range kinds {
		if !slices.Contains([]string{"", "string", "integer", "number", "boolean", "null", "array", "object"}, kind) {
			return no("'%s' is not valid under any of the given schemas.", kind)
		}
	}
	children := s.children()
	for _, name := range slices.Sorted(maps.Keys(children)) {
		if err := children[name].check(root, append(slices.Clone(at), "'"+name+"'")...); err != nil {
			return err
		}
	}
	return nil
}

// children are the schemas inside, by where they stand.
func (s *schema) children() map[string]*schema {
	all := map[string]*schema{"items": s.Items}
	for i, option := range s.AnyOf {
		all[fmt.Sprintf("anyOf', '%d", i)] = option
	}
	for name, property := range s.Properties {
		all["properties', '"+name] = property
	}
	for name, def := range s.Defs {
		all["$defs', '"+name] = def
	}
	maps.DeleteFunc(all, func(_ string, child *schema) bool { return child == nil })
	return all
}
