// Package tool offers a model functions by which it looks around in a change's
// files before it judges them, and runs the calls that it makes.
//
// The tools are a fixed list in code: none writes, starts a program or opens an
// address that a model names. Paths are confined to the files of one commit, and
// what may hold credentials is not shown. Results are untrusted text, redacted
// and cut here and fenced by the agent. Nothing here decides how often a model
// may call. Another implementation of a tool, say over an index, is another
// Tool under the same name.
//
// Start reading at New, then Set.Call; ReadFile, SearchCode and FindReferences are
// what is done with the files of a tree.Tree.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai/jsonschema"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
)

// The limits of a call: of its time, and of the bytes of a result where a tool has no
// other ones, the note about a cut included.
const (
	DefaultBytes = 16 << 10
	DefaultTime  = 30 * time.Second
)

// Tool is a function that a model may call. The zero value is none.
type Tool struct {
	offer llm.Tool
	bytes int
	run   func(ctx context.Context, arguments string) (string, error)
}

// New makes a tool of a function. Args is a struct of fields with json keys and,
// where a model needs them, the tags description and enum: its JSON schema is
// generated, with every key required and no other one allowed. Servers that do
// not hold a model to it leave keys out, so run gets zero values for those, and
// has to check values. What run returns is untrusted text; its error is told to
// the model as one line.
//
// The name is of letters, digits, "_" and "-". A type that has no schema in the
// strict subset (maps, interfaces, omitempty) is a mistake in the program: New panics.
func New[Args any](name, description string, run func(ctx context.Context, a Args) (string, error)) Tool {
	var zero Args
	definition, err := jsonschema.GenerateSchemaForType(zero)
	if err != nil || definition.Type != jsonschema.Object || len(definition.Required) != len(definition.Properties) {
		panic(fmt.Sprintf("tool %s: its arguments have no strict schema: %v", name, err))
	}
	schema, err := json.Marshal(definition)
	if err != nil {
		panic(fmt.Sprintf("tool %s: writing its schema: %v", name, err))
	}
	if len(definition.Properties) == 0 { // the generator leaves out what is empty, and servers want it
		schema = []byte(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
	}
	keys := keysOf(definition)
	return Tool{
		offer: llm.Tool{Name: name, Description: description, Schema: schema},
		bytes: DefaultBytes,
		run: func(ctx context.Context, arguments string) (string, error) {
			a, err := decode[Args](arguments, keys)
			if err != nil {
				return "", err
			}
			return run(ctx, a)
		},
	}
}

// Within returns the tool with another limit of a result's bytes.
func (t Tool) Within(bytes int) Tool {
	t.bytes = bytes
	return t
}

// keysOf lists a schema's keys with their types, for a model that got them wrong.
func keysOf(definition *jsonschema.Definition) string {
	keys := []string{}
	for _, key := range definition.Required {
		keys = append(keys, fmt.Sprintf("%s (%s)", key, definition.Properties[key].Type))
	}
	return strings.Join(keys, ", ")
}

var errPanic = errors.New("the tool failed inside, which is a defect of the reviewer; do without it")

// call runs the tool on a goroutine of its own, so that one that does not look
// at its context cannot hold up the review longer than its limit.
func (t Tool) call(ctx context.Context, arguments string) (string, error) {
	type result struct {
		text string
		err  error
	}
	ctx, cancel := context.WithTimeout(ctx, DefaultTime)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		r := result{err: errPanic}
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("%w: %s", errPanic, guard.Line(fmt.Sprint(p), maxShown))}
			}
			done <- r
		}()
		r.text, r.err = t.run(ctx, arguments)
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		r.err = ctx.Err()
	}
	switch {
	case r.err == nil || ctx.Err() == nil:
		return r.text, r.err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("the call took longer than %v and was given up; ask for less", DefaultTime)
	}
	return "", errors.New("the review was stopped")
}
