package transport

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
)

// Post sends JSON, with a key as a bearer token where there is one, and reads the answer
// as Do does. A key that comes back in the server's words is not repeated in the error.
func Post(ctx context.Context, client *http.Client, url, key string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	text, err := Do(client, req)
	if status, ok := errors.AsType[*StatusError](err); ok {
		status.Message = Conceal(status.Message, key)
	}
	return text, err
}

// minSecret is the length in bytes of the shortest key that Conceal removes. A shorter one is a
// placeholder for a server that needs none, and may be a word ("test", "major") that answers contain.
const minSecret = 12

// Conceal removes a key from a text that came back from the server to which it was sent.
func Conceal(text, key string) string {
	if len(key) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, key, "***")
}
