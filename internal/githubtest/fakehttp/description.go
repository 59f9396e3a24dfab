package fakehttp

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
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
type Description struct {
	doc   *openapi3.T
	valid *sync.Map // hashes of answers that it allows: a server gives most of them more than once
}

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
	seen := map[*openapi3.Schema]bool{}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				if content := response.Value.Content.Get("application/json"); content != nil {
					trim(content.Schema, seen)
				}
			}
		}
	}
	return &Description{doc, new(sync.Map)}, nil
})

// allowNull allows null where the description forgets it: for the head of a pull request whose fork was deleted, and
// for the place of an outdated comment (github/rest-api-description, issue 5568).
func allowNull(of *openapi3.Schema, members ...string) {
	for _, name := range members {
		s := *of.Properties[name].Value
		s.Nullable = true
		of.Properties[name] = openapi3.NewSchemaRef("", &s)
	}
}

// Hold checks a request to an operation and its answer; path is spelled as in the document. What the document forbids
// is a violation: such a request is refused, such an answer is sent anyway.
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
	a.Raw, a.Kind, a.Value = Encode(a.Value), jsonKind, nil
	known := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %s", r.Method, path, a.Status, a.Raw))
	if _, valid := d.valid.Load(known); valid {
		return a
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: a.Status,
		Header: http.Header{"Content-Type": {jsonKind}}, Options: in.Options}
	if err := openapi3filter.ValidateResponse(r.Context(), out.SetBodyBytes(a.Raw)); err != nil {
		f.Violation("answer %d to %s %s: %v", a.Status, r.Method, r.URL.Path, err)
		return a
	}
	d.valid.Store(known, true)
	return a
}

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

// trim drops required properties from an answer's schema, and how many of several schemas must match: GitHub's
// objects have dozens of properties that are never read.
func trim(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || seen[ref.Value] {
		return
	}
	s := ref.Value
	seen[s] = true
	s.Required, s.AnyOf, s.OneOf = nil, append(s.AnyOf, s.OneOf...), nil
	trim(s.Items, seen)
	for _, inner := range slices.Concat(slices.Collect(maps.Values(s.Properties)), s.AnyOf, s.AllOf) {
		trim(inner, seen)
	}
}
