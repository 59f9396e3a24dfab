package fakehttp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Object is a JSON object to be sent.
type Object = map[string]any

const jsonKind = "application/json; charset=utf-8"

// Answer is a handler's answer. A nil value is an empty body.
type Answer struct {
	Status int
	Value  any    // JSON
	Raw    []byte // in place of JSON, of type Kind
	Kind   string
	Header http.Header
}

// OK returns an answer with status 200.
func OK(v any) Answer { return Answer{Status: http.StatusOK, Value: v} }

// Created returns an answer with status 201.
func Created(v any) Answer { return Answer{Status: http.StatusCreated, Value: v} }

// Refusal returns GitHub's error document.
func Refusal(status int, message string, errors ...any) Answer {
	v := Object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}
	if len(errors) > 0 {
		v["errors"] = errors
	}
	return Answer{Status: status, Value: v}
}

// Unprocessable returns GitHub's error document with status 422.
func Unprocessable(message string, errors ...any) Answer {
	return Refusal(http.StatusUnprocessableEntity, message, errors...)
}

// NotFound returns GitHub's answer for a path that does not exist or that the token cannot see.
func NotFound() Answer { return Refusal(http.StatusNotFound, "Not Found") }

// Redirect sends the client to an address.
func Redirect(to string) Answer {
	return Answer{Status: http.StatusFound, Header: http.Header{"Location": {to}}}
}

// With adds headers to an answer.
func (a Answer) With(more http.Header) Answer {
	if a.Header == nil {
		a.Header = http.Header{}
	}
	for k, v := range more {
		a.Header[k] = v
	}
	return a
}

// Write sends the answer.
func (a Answer) Write(w http.ResponseWriter) {
	for k, v := range a.Header {
		w.Header()[k] = v
	}
	body := a.Raw
	if a.Value != nil {
		body, a.Kind = Encode(a.Value), jsonKind
	}
	if a.Kind != "" {
		w.Header().Set("Content-Type", a.Kind)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.Status)
	_, _ = w.Write(body) // the client may have gone
}

// Encode returns a value as JSON without escapes for HTML.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("fakehttp: encoding an answer: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Null returns a text, or nil for an empty one.
func Null(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Stamp formats a time as the API does, in RFC 3339.
func Stamp(t time.Time) string { return t.Format(time.RFC3339) }

// Number parses a decimal number; 0 for anything else.
func Number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// List maps a list to JSON.
func List[T any](items []T, f func(T) Object) []Object {
	out := make([]Object, 0, len(items))
	for _, i := range items {
		out = append(out, f(i))
	}
	return out
}

// Paged answers with a page of a list.
func Paged[T any](r *http.Request, items []T, f func(T) Object) Answer {
	items, h := Page(r, items)
	return OK(List(items, f)).With(h)
}

// Counted answers with a page of a list inside an object with its total.
func Counted[T any](r *http.Request, name string, items []T, f func(T) Object) Answer {
	shown, h := Page(r, items)
	return OK(Object{"total_count": len(items), name: List(shown, f)}).With(h)
}

// Page returns the items that the parameters per_page and page of a request select, and the Link header.
func Page[T any](r *http.Request, items []T) ([]T, http.Header) {
	q := r.URL.Query()
	per, n := Number(q.Get("per_page")), max(Number(q.Get("page")), 1)
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	last := max((len(items)+per-1)/per, 1)
	h := http.Header{}
	link := func(rel string, to int) string {
		q.Set("page", strconv.Itoa(to))
		return fmt.Sprintf(`<http://%s%s?%s>; rel="%s"`, r.Host, r.URL.EscapedPath(), q.Encode(), rel)
	}
	if n < last {
		h.Set("Link", link("next", n+1)+", "+link("last", last))
	}
	return items[min((n-1)*per, len(items)):min(n*per, len(items))], h
}
