package fakehttp

import (
	"bytes"
	_ "embed"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

//go:embed testdata/openapi.json
var openapi []byte

// Description is GitHub's OpenAPI document. It is read-only once loaded.
type Description struct{ doc *openapi3.T }

// LoadDescription parses the document once for all servers of a process.
var LoadDescription = sync.OnceValues(func() (*Description, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"pull-request", "pull-request-simple"} {
		allowNull(doc.Components.Schemas[name].Value.Properties["head"].Value, "repo", "user")
	}
	allowNull(doc.Components.Schemas["pull-request-review-comment"].Value, "line", "position")
	return &Description{doc}, nil
})

// allowNull allows null where the description forgets it: for the head of a
// pull request whose fork was deleted, and for the place of a comment that is
// outdated (github/rest-api-description, issue 5568).
func allowNull(of *openapi3.Schema, members ...string) {
	for _, name := range members {
		s := *of.Properties[name].Value
		s.Nullable = true
		of.Properties[name] = openapi3.NewSchemaRef("", &s)
	}
}

// Hold answers a request to an operation, whose path is as the document writes it.
// What the document forbids is a violation: such a request is refused, such an answer
// is sent all the same. What an answer leaves out of the document's members is added,
// since GitHub's objects have dozens that nobody reads.
func (d *Description) Hold(f *Front, r *http.Request, body []byte, path string, vars map[string]string,
	handle func() Answer) Answer {
	in, err := d.request(r, path, vars, body)
	if err == nil {
		err = openapi3filter.ValidateRequest(r.Context(), in)
	}
	if err != nil {
		f.Violation("request %s %s: %v", r.Method, r.URL.Path, err)
		line, _, _ := strings.Cut(err.Error(), "\n")
		return Unprocessable("Invalid request.\n\n" + line)
	}
	a := handle()
	if a.Value == nil {
		return a
	}
	a.Value = complete(in.Route.Operation, a.Status, a.Value)
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: a.Status,
		Header: http.Header{"Content-Type": {jsonKind}}, Options: in.Options}
	if err := openapi3filter.ValidateResponse(r.Context(), out.SetBodyBytes(Encode(a.Value))); err != nil {
		f.Violation("answer %d to %s %s: %v", a.Status, r.Method, r.URL.Path, err)
	}
	return a
}

// request describes a request for the checks.
func (d *Description) request(r *http.Request, path string, vars map[string]string,
	body []byte) (*openapi3filter.RequestValidationInput, error) {
	item := d.doc.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		return nil, errors.New("it is not in the description")
	}
	checked := r.Clone(r.Context())
	checked.Body = io.NopCloser(bytes.NewReader(body))
	return &openapi3filter.RequestValidationInput{
		Request: checked, PathParams: vars,
		Route: &routers.Route{Spec: d.doc, Path: path, PathItem: item, Method: r.Method,
			Operation: item.GetOperation(r.Method)},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}, nil
}

// complete adds what the description requires of an answer and the handler left out.
func complete(operation *openapi3.Operation, status int, v any) any {
	if response := operation.Responses.Status(status); response != nil && response.Value != nil {
		if content := response.Value.Content.Get("application/json"); content != nil && content.Schema != nil {
			return fill(content.Schema.Value, v)
		}
	}
	return v
}

func fill(s *openapi3.Schema, v any) any {
	switch v := v.(type) {
	case Object:
		return fillObject(s, v)
	case []Object:
		items := itemsOf(s)
		for i := range v {
			v[i] = fillObject(items, v[i])
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

func fillObject(s *openapi3.Schema, v Object) Object {
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
func alternative(s *openapi3.Schema, v Object) *openapi3.Schema {
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
	return fillObject(s, Object{})
}
