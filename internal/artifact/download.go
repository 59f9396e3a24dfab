package artifact

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/transport"
)

// Stored is an artifact of this run, as the service lists it.
type Stored struct {
	backend           // of the job that stored it
	ID      number    `json:"database_id"`
	Name    string    `json:"name"`
	Size    number    `json:"size"`       // bytes; local runners report a different number
	Digest  string    `json:"digest"`     // sha256:<hex> of the zip; empty if the service reports none
	Created time.Time `json:"created_at"` // zero if not reported
}

// List returns the run's artifacts whose names begin with a prefix, newest first.
// The service cannot filter by prefix, so List requests all of them. Whether it
// includes earlier attempts is up to the service.
func (c *Client) List(ctx context.Context, prefix string) ([]Stored, error) {
	list, err := c.list(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("listing the run's artifacts: %w", err)
	}
	return slices.DeleteFunc(list, func(s Stored) bool { return !strings.HasPrefix(s.Name, prefix) }), nil
}

// Download loads an artifact of this run by name, of at most max bytes; if attempts
// left several, the newest. Errors include ErrNotFound, ErrEmpty and
// transport.ErrTooLarge. If the service reports a digest, the content is checked
// against it (ErrDigest); that does not prove who stored it.
func (c *Client) Download(ctx context.Context, name string, max int64) ([]byte, error) {
	stored, err := c.find(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("downloading artifact %q: %w", name, err)
	}
	return c.Load(ctx, stored, max)
}

// Load is Download for an artifact that was listed.
func (c *Client) Load(ctx context.Context, s Stored, max int64) ([]byte, error) {
	zip, err := c.load(ctx, s, max)
	if err != nil {
		return nil, fmt.Errorf("downloading artifact %q: %w", s.Name, err)
	}
	return zip, nil
}

func (c *Client) load(ctx context.Context, s Stored, max int64) ([]byte, error) {
	signed, err := c.call(ctx, "GetSignedArtifactURL", request{backend: s.backend, Name: s.Name})
	if err != nil {
		return nil, err
	}
	zip, err := c.fetchBlob(transport.LimitBody(ctx, max), signed.URL)
	if err != nil {
		return nil, fmt.Errorf("loading its content: %w", err)
	}
	if s.Digest != "" && s.Digest != digest(zip) {
		return nil, ErrDigest
	}
	return zip, nil
}

// Delete removes an artifact of this run by name; if attempts left several, the
// newest. It returns ErrNotFound if there is none.
func (c *Client) Delete(ctx context.Context, name string) error {
	stored, err := c.find(ctx, name)
	if err == nil {
		_, err = c.call(ctx, "DeleteArtifact", request{backend: stored.backend, Name: name})
	}
	if err != nil {
		return fmt.Errorf("deleting artifact %q: %w", name, err)
	}
	return nil
}

func (c *Client) find(ctx context.Context, name string) (Stored, error) {
	list, err := c.list(ctx, name)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Stored{}, err
	}
	return list[0], nil
}

// list returns the run's artifacts with a name, or all of them if it is empty,
// newest first.
func (c *Client) list(ctx context.Context, name string) ([]Stored, error) {
	listed, err := c.call(ctx, "ListArtifacts", request{backend: c.ids, Filter: name})
	list := slices.DeleteFunc(listed.Artifacts, func(s Stored) bool { return name != "" && s.Name != name })
	order.Stable(list, func(a, b Stored) int { return cmp.Compare(b.ID, a.ID) })
	return list, err
}

// fetchBlob reads from the blob store. The address is signed, so no token is sent.
func (c *Client) fetchBlob(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	content, err := transport.Do(c.options.HTTP, req)
	if err == nil && len(content) == 0 {
		return nil, ErrEmpty
	}
	return content, err
}
