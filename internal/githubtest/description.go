package githubtest

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

//go:embed testdata/openapi.json
var openapi []byte

// description is GitHub's OpenAPI document. It is read-only once loaded.
type description struct{ doc *openapi3.T }

// loadDescription parses the document once for all servers of a process.
var loadDescription = sync.OnceValues(func() (*description, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"pull-request", "pull-request-simple"} {
		allowNull(doc.Components.Schemas[name].Value.Properties["head"].Value, "repo", "user")
	}
	allowNull(doc.Components.Schemas["pull-request-review-comment"].Value, "line", "position")
	return &description{doc}, nil
})

// allowNull allows null where the description forgets it: for the head of a
// pull request whose fork was deleted, and for the place of a comment that is
// outdated (github/rest-api-description, issue 5568).
func allowNull(of *openapi3.Schema, members ...string) {
	for _, name := range members {
		of.Properties[name] = nullable(of.Properties[name])
	}
}

// nullable allows null beside a shape.
func nullable(of *openapi3.SchemaRef) *openapi3.SchemaRef {
	s := *of.Value
	s.Nullable = true
	return openapi3.NewSchemaRef("", &s)
}

// input describes a request for the checks below. The path is the template as
// the document writes it.
func (d *description) input(r *http.Request, path string,
	vars map[string]string) (*openapi3filter.RequestValidationInput, error) {
	item := d.doc.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		return nil, fmt.Errorf("%s %s is not in the description", r.Method, path)
	}
	return &openapi3filter.RequestValidationInput{
		Request:    r,
		PathParams: vars,
		Route: &routers.Route{Spec: d.doc, Path: path, PathItem: item, Method: r.Method,
			Operation: item.GetOperation(r.Method)},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}, nil
}

func checkRequest(ctx context.Context, in *openapi3filter.RequestValidationInput, body []byte) error {
	r := in.Request.Clone(ctx)
	r.Body = io.NopCloser(bytes.NewReader(body))
	checked := *in
	checked.Request = r
	return openapi3filter.ValidateRequest(ctx, &checked)
}

func checkAnswer(ctx context.Context, in *openapi3filter.RequestValidationInput, status int, h http.Header,
	body []byte) error {
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: status, Header: h,
		Options: in.Options}
	return openapi3filter.ValidateResponse(ctx, out.SetBodyBytes(body))
}

// complete adds what the description requires of an answer and the handler
// left out: GitHub's objects have dozens of members that nobody reads.
func complete(in *openapi3filter.RequestValidationInput, status int, v any) any {
	response := in.Route.Operation.Responses.Status(status)
	if response == nil || response.Value == nil {
		return v
	}
	content := response.Value.Content.Get("application/json")
	if content == nil || content.Schema == nil {
		return v
	}
	return fill(content.Schema.Value, v)
}

func fill(s *openapi3.Schema, v any) any {
	switch v := v.(type) {
	case object:
		return fillObject(s, v)
	case []object:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return fill(s, list)
	case []any:
		items := itemsOf(s)
		for i := range v {
			v[i] = fill(items, v[i])
		}
	}
	return v
}

// itemsOf is the schema of a list's members, also where the list is one of
// several shapes.
func itemsOf(s *openapi3.Schema) *openapi3.Schema {
	for _, o := range append(slices.Clone(s.AnyOf), s.OneOf...) {
		if o.Value.Type.Is("array") {
			s = o.Value
		}
	}
	if s.Items == nil {
		return &openapi3.Schema{}
	}
	return s.Items.Value
}

func fillObject(s *openapi3.Schema, v object) object {
	if s = alternative(s, v); s == nil {
		return v
	}
	for name, p := range s.Properties {
		if have, ok := v[name]; ok {
			v[name] = fill(p.Value, have)
		} else if slices.Contains(s.Required, name) {
			v[name] = blank(p.Value)
		}
	}
	return v
}

// alternative picks the shape of an anyOf or oneOf that has every member of v
// and lacks the fewest.
func alternative(s *openapi3.Schema, v object) *openapi3.Schema {
	options := append(slices.Clone(s.AnyOf), s.OneOf...)
	if len(options) == 0 {
		return s
	}
	var best *openapi3.Schema
	fewest := -1
	for _, o := range options {
		missing := 0
		for name := range v {
			if o.Value.Properties[name] == nil {
				missing += 1000
			}
		}
		for _, name := range o.Value.Required {
			if _, ok := v[name]; !ok {
				missing++
			}
		}
		if o.Value.Type.Is("object") && (fewest < 0 || missing < fewest) {
			best, fewest = o.Value, missing
		}
	}
	return best
}

// blank is the emptiest value of a schema.
func blank(s *openapi3.Schema) any {
	switch {
	case s.Nullable:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is("string") && s.Format == "date-time":
		return "2024-01-01T00:00:00Z"
	case s.Type.Is("string"):
		return ""
	case s.Type.Is("integer"), s.Type.Is("number"):
		return 0
	case s.Type.Is("boolean"):
		return false
	case s.Type.Is("array"):
		return []any{}
	}
	return fillObject(s, object{})
}
