package atlassian

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// Mentions reports whether one of a ticket's newest hundred comments holds a text, such
// as an address. Errors are *Failure.
func (j *Jira) Mentions(ctx context.Context, key, text string) (bool, error) {
	var list struct {
		Comments []struct {
			Body json.RawMessage `json:"body"` // ADF, or text
		} `json:"comments"`
	}
	newest := j.path(key) + "/comment?maxResults=100&orderBy=-created"
	if err := j.o.send(ctx, http.MethodGet, newest, nil, &list); err != nil {
		return false, Explain(err, "the comments of "+key, "the Jira user")
	}
	for _, c := range list.Comments {
		if holds(jsontext.Value(c.Body), text) {
			return true, nil
		}
	}
	return false, nil
}

// holds looks for a text in a JSON value, however that is spelled.
func holds(v jsontext.Value, text string) bool {
	return v.Canonicalize() == nil && bytes.Contains(v, []byte(text))
}

// Comment puts a comment under a ticket: text, and an address as a link. It sends one
// request; where its answer is lost, Mentions tells. Errors are *Failure.
func (j *Jira) Comment(ctx context.Context, key, text, address string) error {
	var body any = text + " " + address
	if j.o.cloud() {
		link := map[string]any{"type": "text", "text": address,
			"marks": []any{map[string]any{"type": "link", "attrs": map[string]any{"href": address}}}}
		body = map[string]any{"type": "doc", "version": 1, "content": []any{map[string]any{"type": "paragraph",
			"content": []any{map[string]any{"type": "text", "text": text + " "}, link}}}}
	}
	var made struct {
		ID string `json:"id"`
	}
	err := j.o.send(ctx, http.MethodPost, j.path(key)+"/comment", map[string]any{"body": body}, &made)
	if err != nil {
		return Explain(err, "a comment on "+key, "the Jira user")
	}
	return nil
}
