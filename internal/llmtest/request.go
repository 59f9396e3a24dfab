package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	strict "github.com/go-json-experiment/json"
)

// Request is one request as a script sees it. Path and Lines are what the prompt
// says about the file. Judge is the key under which a judge is asked for true or
// false; empty for a review. Try counts, from 1, the reviews of that
// path, or the questions of that kind.
type Request struct {
	Model, System, User string
	Format              string // response_format's type; empty for none
	Schema              json.RawMessage
	MaxTokens           int
	Temperature         *float64 // nil where none was sent
	Judge               string
	Path                string
	Lines               []Line
	Repair              bool // holds no diff
	Try                 int
}

type wireRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Stream              bool        `json:"stream"`
	MaxTokens           *int        `json:"max_tokens"`
	MaxCompletionTokens *int        `json:"max_completion_tokens"`
	Temperature         *float64    `json:"temperature"`
	Seed                *int        `json:"seed"`
	ResponseFormat      *wireFormat `json:"response_format"`
}

type wireFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		Strict      bool            `json:"strict"`
	} `json:"json_schema"`
}

func (s *Server) read(r *http.Request) (Request, error) {
	var w wireRequest
	if err := strict.UnmarshalRead(r.Body, &w, strict.RejectUnknownMembers(true)); err != nil {
		return Request{}, fmt.Errorf("request: %w", err)
	}
	if err := errors.Join(w.check(), s.refuses(w)); err != nil {
		return Request{}, err
	}
	out := Request{Model: w.Model, System: w.Messages[0].Content, User: w.Messages[1].Content, Temperature: w.Temperature}
	if f := w.ResponseFormat; f != nil {
		out.Format = f.Type
		if f.JSONSchema != nil {
			out.Schema = f.JSONSchema.Schema
		}
	}
	for _, limit := range []*int{w.MaxTokens, w.MaxCompletionTokens} {
		if limit != nil {
			out.MaxTokens = *limit
		}
	}
	out.Path, out.Lines, out.Repair = understand(out.User)
	out.Judge = judged(out.User)
	return out, nil
}

func (s *Server) refuses(w wireRequest) error {
	switch f := w.ResponseFormat; {
	case f != nil && s.NoFormat:
		return errors.New("'response_format' is not supported with this model")
	case f != nil && f.Type == "json_schema" && s.NoSchema:
		return errors.New("'response_format' of type 'json_schema' is not supported with this model")
	case w.MaxCompletionTokens != nil && s.OnlyMaxOld:
		return errors.New("unrecognized request argument: max_completion_tokens")
	case w.Temperature != nil && s.NoTemperature:
		return errors.New("unsupported value: 'temperature' does not support anything but the default (1) with this model")
	}
	return nil
}

func (w wireRequest) check() error {
	switch {
	case w.Model == "":
		return errors.New("you must provide a model parameter")
	case w.Stream:
		return errors.New("this server does not stream")
	case len(w.Messages) != 2 || w.Messages[0].Role != "system" || w.Messages[1].Role != "user":
		return errors.New("messages: expected one system and one user message")
	case w.Messages[0].Content == "" || w.Messages[1].Content == "":
		return errors.New("messages: empty content")
	case w.Temperature != nil && (*w.Temperature < 0 || *w.Temperature > 2):
		return errors.New("temperature: expected a number from 0 to 2")
	case w.MaxTokens != nil && w.MaxCompletionTokens != nil:
		return errors.New("max_tokens and max_completion_tokens at once")
	}
	return w.ResponseFormat.check()
}

var schemaName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (f *wireFormat) check() error {
	switch {
	case f == nil || f.Type == "text" || f.Type == "json_object":
		return nil
	case f.Type != "json_schema" || f.JSONSchema == nil:
		return fmt.Errorf("invalid response_format %q", f.Type)
	case !schemaName.MatchString(f.JSONSchema.Name):
		return fmt.Errorf("invalid json_schema name %q", f.JSONSchema.Name)
	case !f.JSONSchema.Strict:
		return errors.New("json_schema: strict is expected")
	}
	return checkSchema("$", f.JSONSchema.Schema)
}

// checkSchema holds a schema to the strict subset: an object lists all of its
// properties as required and takes no others.
func checkSchema(at string, schema json.RawMessage) error {
	var s struct {
		Type                 string                     `json:"type"`
		Properties           map[string]json.RawMessage `json:"properties"`
		Required             []string                   `json:"required"`
		AdditionalProperties *bool                      `json:"additionalProperties"`
		Items                json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("invalid schema at %s: %w", at, err)
	}
	switch s.Type {
	case "array":
		return checkSchema(at+"[]", s.Items)
	case "string", "integer", "number", "boolean":
		return nil
	case "object":
		return checkProperties(at, s.Properties, s.Required, s.AdditionalProperties)
	}
	return fmt.Errorf("invalid schema at %s: no type", at)
}

func checkProperties(at string, properties map[string]json.RawMessage, required []string, more *bool) error {
	if more == nil || *more {
		return fmt.Errorf("invalid schema at %s: 'additionalProperties' is required to be false", at)
	}
	known := map[string]bool{}
	for _, name := range required {
		known[name] = true
	}
	for name, schema := range properties {
		if !known[name] {
			return fmt.Errorf("invalid schema at %s: %q is missing in 'required'", at, name)
		}
		if err := checkSchema(at+"."+name, schema); err != nil {
			return err
		}
	}
	return nil
}
