package tool

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/guard"
)

// decode parses the arguments of a call: one JSON object with exactly the keys of Args, without
// duplicates. Errors are written for the model, and of its text contain at most the wrong key.
// Missing keys and null are zero values.
func decode[Args any](text, keys string) (Args, error) {
	var a Args
	text = strings.TrimSpace(text)
	switch {
	case len(text) > maxArguments:
		return a, fmt.Errorf("the arguments are longer than %d bytes", maxArguments)
	case text == "":
		text = "{}" // some servers send this for a call without arguments
	case text[0] != '{':
		return a, fmt.Errorf("the arguments are not a JSON object; its keys are %s", keys)
	}
	err := json.Unmarshal([]byte(text), &a, json.RejectUnknownMembers(true))
	if err != nil {
		return a, fmt.Errorf("%s; the keys are %s", problem(err), keys)
	}
	return a, nil
}

func problem(err error) string {
	mistyped, isMistyped := errors.AsType[*json.SemanticError](err)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "a key appears twice in the arguments"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the arguments end in the middle of their JSON"
	case isMistyped && errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("the arguments have a key %q, which is unknown", key(mistyped))
	case isMistyped:
		return fmt.Sprintf("%s has a value of a wrong type", key(mistyped))
	}
	return "the arguments are not valid JSON, or more than one object"
}

func key(err *json.SemanticError) string {
	return guard.Line(strings.TrimPrefix(string(err.JSONPointer), "/"), maxName)
}
