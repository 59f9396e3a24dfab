package llmtest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:embed testdata/openai.json
var openai []byte

// loadDescription parses what OpenAI takes, once for all servers of a process.
var loadDescription = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(openai) })

// decode holds a body against a shape of the description, and reads its raw form.
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
			return invalid("Unknown parameter: '%s'.", name).at(name).coded("unknown_parameter")
		}
		return invalid("Invalid value for '%s': %s", strings.Join(at, "."), no.Reason).at(strings.Join(at, "."))
	}
	_ = json.Unmarshal(raw, to) // it has that shape
	return nil
}
