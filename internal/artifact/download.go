package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/org/pr-review-action/internal/transport"
)

// Download loads an artifact of this run by name, the newest where attempts
// left several, at most max bytes: ErrNotFound, transport.ErrTooLarge. Where
// the service names a digest the content is held against it (ErrDigest); that
// is no proof of who stored it.
func (c *Client) Download(ctx context.Context, name string, max int64) ([]byte, error) {
	zip, _, err := c.load(ctx, name, max)
	if err != nil {
		return nil, fmt.Errorf("downloading artifact %q: %w", name, err)
	}
	return zip, nil
}

func (c *Client) load(ctx context.Context, name string, max int64) (zip []byte, found item, err error) {
	list, err := c.list(ctx, name)
	if err != nil {
		return nil, item{}, err
	}
	if len(list) == 0 {
		return nil, item{}, ErrNotFound
	}
	found = slices.MaxFunc(list, func(a, b item) int { return cmp.Compare(a.ID, b.ID) })
	signed, err := c.call(ctx, "GetSignedArtifactURL", request{backend: found.backend, Name: name})
	if err != nil {
		return nil, item{}, err
	}
	zip, err = c.fetch(transport.LimitBody(ctx, max), signed.URL)
	if err != nil {
		return nil, item{}, fmt.Errorf("loading its content: %w", err)
	}
	if found.Digest != "" && found.Digest != digest(zip) {
		return nil, item{}, ErrDigest
	}
	return zip, found, nil
}

// list is what the run has of a name.
func (c *Client) list(ctx context.Context, name string) ([]item, error) {
	listed, err := c.call(ctx, "ListArtifacts", request{backend: c.ids, Filter: name})
	return slices.DeleteFunc(listed.Artifacts, func(i item) bool { return i.Name != name }), err
}

// fetch reads from the blob store, whose address is signed: it gets no token.
func (c *Client) fetch(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	zip, err := transport.Do(c.options.HTTP, req)
	if err == nil && len(zip) == 0 {
		return nil, errors.New("it is empty")
	}
	return zip, err
}
