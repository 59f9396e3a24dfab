// Package tool offers a model functions to look around in a change's files before it judges them,
// and runs the calls that it makes.
//
// The tools are a fixed list in code: none writes, starts a program or opens an address that a
// model names. Paths are confined to the files of one commit, and what may contain credentials is
// not shown. Results are untrusted text, redacted and cut here and fenced by the agent. Nothing
// here limits how often a model may call. Another implementation of a tool, such as over an index,
// is another Tool with the same name.
//
// Start reading at New, then Set.Call; ReadFile, SearchCode and FindReferences work on the files
// of a tree.Tree.
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

// The limits of a call: its time, and the bytes of a result, including the note about a cut,
// unless the tool sets another limit.
const (
	DefaultBytes = 16 << 10
	DefaultTime  = 30 * time.Second
)

// Tool is a function that a model may call. The zero value is not usable.
type Tool struct {
	offer llm.Tool
	bytes int
	run   func(ctx context.Context, arguments string) (string, error)
}

// New makes a tool of a function. Args is a struct of fields with json keys and, if a model needs
// them, the tags description and enum. Its JSON schema is generated, with every key required and
// no other allowed. Servers that do not enforce it leave keys out, so run gets zero values for
// those and must check values. The text that run returns is untrusted; its error is shown to the
// model as one line.
//
// The name consists of letters, digits, "_" and "-". New panics if a type has no schema in the
// strict subset (maps, interfaces, omitempty).
func New[Args any](name, description string, run func(ctx context.Context, a Args) (string, error)) Tool {
	var zero Args
	definition, err := jsonschema.GenerateSchemaForType(zero)
	if err != nil || definition.Type != jsonschema.Object || len(definition.Required) != len(definition.Properties) {
		panic(fmt.Sprintf("tool %s: its arguments have no strict schema: %v", name, err))
	}
	schema, _ := json.Marshal(definition) // it was made of a type: it cannot fail
	if len(definition.Properties) == 0 {  // the generator omits empty values, but servers want them
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

// Within returns the tool with another limit on the bytes of a result.
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

// call runs the tool in its own goroutine, so that a tool that ignores its context cannot delay
// the review beyond the limit.
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
