package tool

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// decode parses the arguments of a call: one JSON object with exactly the keys of Args, without
// duplicates. Errors are written for the model, and contain nothing of its text. Missing keys and
// null are zero values.
func decode[Args any](text, keys string) (a Args, err error) {
	if len(text) > maxArguments {
		return a, fmt.Errorf("the arguments are longer than %d bytes", maxArguments)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		text = "{}" // some servers send this for a call without arguments
	}
	if text[0] != '{' || json.Unmarshal([]byte(text), &a, json.RejectUnknownMembers(true)) != nil {
		return a, fmt.Errorf("the arguments are not one JSON object of these keys and types: %s", keys)
	}
	return a, nil
}
