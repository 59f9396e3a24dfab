package llmtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	strict "github.com/go-json-experiment/json"
)

// keywords are those of the strict subset of JSON schema (OpenAI's guide to
// structured outputs, supported schemas, February 2026).
var keywords = strings.Fields(`$defs $ref additionalProperties anyOf const description enum exclusiveMaximum
	exclusiveMinimum format
	items maxItems maximum minItems minimum multipleOf pattern properties required title type`)

const maxDepth = 10

// checkSchema holds a whole schema to the strict subset: its root is an object,
// and every object lists all of its properties as required and takes no others.
func checkSchema(raw json.RawMessage) error {
	var root map[string]json.RawMessage
	if err := strict.Unmarshal(raw, &root); err != nil {
		return fmt.Errorf("it is no object: %w", err)
	}
	if kind := string(root["type"]); kind != `"object"` {
		return fmt.Errorf(`schema must be a JSON Schema of 'type: "object"', got 'type: %s'`, kind)
	}
	return checker{root: root}.check(nil, raw)
}

// checker walks a schema. Its messages name the place as the API does.
type checker struct{ root map[string]json.RawMessage }

type schemaNode struct {
	Type       json.RawMessage            `json:"type"`
	Ref        string                     `json:"$ref"`
	Defs       map[string]json.RawMessage `json:"$defs"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	More       json.RawMessage            `json:"additionalProperties"`
	Items      json.RawMessage            `json:"items"`
}

func (c checker) check(at []string, raw json.RawMessage) error {
	var names map[string]json.RawMessage
	var node schemaNode
	if err := strict.Unmarshal(raw, &names); err != nil {
		return problem(at, "%v", err)
	}
	if err := json.Unmarshal(raw, &node); err != nil {
		return problem(at, "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains(keywords, name) {
			return problem(at, "'%s' is not permitted.", name)
		}
	}
	if len(at) > 4*maxDepth {
		return problem(at, "more than %d levels of nesting", maxDepth)
	}
	for _, name := range slices.Sorted(maps.Keys(node.Defs)) {
		if err := c.check(append(slices.Clone(at), "$defs", name), node.Defs[name]); err != nil {
			return err
		}
	}
	return c.checkNode(at, node)
}

func (c checker) checkNode(at []string, node schemaNode) error {
	switch {
	case node.Ref != "":
		return c.checkRef(at, node.Ref)
	case len(node.AnyOf) > 0:
		for i, option := range node.AnyOf {
			if err := c.check(append(slices.Clone(at), "anyOf", fmt.Sprint(i)), option); err != nil {
				return err
			}
		}
		return nil
	case node.Type == nil:
		return problem(at, "schema must have a 'type' key.")
	}
	var kinds []string
	if node.Type[0] != '[' {
		kinds = []string{strings.Trim(string(node.Type), `"`)}
	} else if err := json.Unmarshal(node.Type, &kinds); err != nil {
		return problem(at, "%v", err)
	}
	for _, kind := range kinds {
		if err := c.checkKind(at, kind, node); err != nil {
			return err
		}
	}
	return nil
}

func (c checker) checkKind(at []string, kind string, node schemaNode) error {
	switch kind {
	case "string", "integer", "number", "boolean", "null":
		return nil
	case "array":
		if node.Items == nil {
			return problem(at, "array schema missing items.")
		}
		return c.check(append(slices.Clone(at), "items"), node.Items)
	case "object":
		return c.checkProperties(at, node)
	}
	return problem(at, "'%s' is not valid under any of the given schemas.", kind)
}

func (c checker) checkProperties(at []string, node schemaNode) error {
	if string(node.More) != "false" {
		return problem(at, "'additionalProperties' is required to be supplied and to be false.")
	}
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		if !slices.Contains(node.Required, name) {
			return problem(at, "'required' is required to be supplied and to be an array including every key in "+
				"properties. Missing '%s'.", name)
		}
		if err := c.check(append(slices.Clone(at), "properties", name), node.Properties[name]); err != nil {
			return err
		}
	}
	for _, name := range node.Required {
		if node.Properties[name] == nil {
			return problem(at, "'required' has an extra key '%s'.", name)
		}
	}
	return nil
}

func (c checker) checkRef(at []string, ref string) error {
	name, local := strings.CutPrefix(ref, "#/$defs/")
	var defs map[string]json.RawMessage
	if raw := c.root["$defs"]; raw != nil {
		_ = json.Unmarshal(raw, &defs) // a wrong type has no definitions
	}
	if ref != "#" && (!local || defs[name] == nil) {
		return problem(at, "reference to component '%s' which was not found in the schema.", ref)
	}
	return nil
}

func problem(at []string, format string, args ...any) error {
	quoted := make([]string, len(at))
	for i, part := range at {
		quoted[i] = "'" + part + "'"
	}
	return fmt.Errorf("In context=(%s), "+format, append([]any{strings.Join(quoted, ", ")}, args...)...)
}
