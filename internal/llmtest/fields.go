package llmtest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	strict "github.com/go-json-experiment/json"
)

// body is the top level of a request.
type body map[string]json.RawMessage

// into reads a field where it is set. Unknown members in it are an error.
func (b body) into(name string, to any) *refusal {
	raw, ok := b[name]
	if !ok {
		return nil
	}
	if err := strict.Unmarshal(raw, to, strict.RejectUnknownMembers(true)); err != nil {
		return invalid("Invalid value for '%s': %v", name, err).at(name)
	}
	return nil
}

// only refuses a field that the list has not.
func (b body) only(known []string) *refusal {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if !slices.Contains(known, name) {
			return invalid("Unknown parameter: '%s'.", name).at(name).coded("unknown_parameter")
		}
	}
	return nil
}

// text reads a text, which the API also takes as a list of parts: this product does
// not write it so.
func text(raw json.RawMessage) (words string, err error) {
	if len(raw) == 0 {
		return "", nil
	}
	err = strict.Unmarshal(raw, &words)
	return words, err
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
