package artifact

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
)

// cacheVersion identifies the content and format of our entries: the service keeps
// entries of different versions apart. It is the SHA-256 of "pr-review zip 1".
const cacheVersion = "b2bb4167544de55e35083e2a18a4ab82956bd605544613cc04cca7e88460a799"

// maxKey is the maximum length of an entry's key, in bytes.
const maxKey = 512

// cacheRequest has the fields of all three methods: CreateCacheEntry,
// FinalizeCacheEntryUpload and GetCacheEntryDownloadURL in
// github.actions.results.api.v1.
type cacheRequest struct {
	Key     string   `json:"key"`
	Restore []string `json:"restore_keys,omitzero"`
	Size    int64    `json:"size_bytes,string,omitzero"`
	Version string   `json:"version"`
}

// PutCache stores an entry in the repository's cache. Entries never change and
// cannot be deleted here; they expire a week after their last use. The error is
// ErrExists if the key is taken, and ErrReadOnly if the run may only read, as for
// pull_request_target or issue_comment unless its job declares cache-mode: write.
// A run shares the cache with its branch.
func (c *Client) PutCache(ctx context.Context, key string, content []byte) error {
	if key == "" || len(key) > maxKey || strings.Contains(key, ",") { // GitHub's rule
		return fmt.Errorf("%q cannot be a cache's key", key)
	}
	if err := c.putCache(ctx, key, content); err != nil {
		return fmt.Errorf("storing cache entry %q: %w", key, err)
	}
	return nil
}

func (c *Client) putCache(ctx context.Context, key string, content []byte) error {
	created, err := c.cache(ctx, "CreateCacheEntry", cacheRequest{Key: key})
	if err != nil {
		return err
	}
	if err := c.storeBlob(ctx, created.UploadURL, content); err != nil {
		return fmt.Errorf("storing its content: %w", err)
	}
	_, err = c.cache(ctx, "FinalizeCacheEntryUpload", cacheRequest{Key: key, Size: int64(len(content))})
	if status, ok := errors.AsType[*transport.StatusError](err); ok && status.Code == http.StatusNotFound {
		if _, missing := c.exactCache(ctx, key); missing == nil { // an answer was lost: nothing is left to finalize
			return nil
		}
	}
	return err
}

// NewestCache returns the key of the newest entry with a prefix, among those that
// the run can read: its branch's and the default branch's. The error is
// ErrNotFound if there is none.
func (c *Client) NewestCache(ctx context.Context, prefix string) (key string, err error) {
	found, err := c.cache(ctx, "GetCacheEntryDownloadURL", cacheRequest{Key: prefix, Restore: []string{prefix}})
	if err == nil && !strings.HasPrefix(found.Key, prefix) {
		err = ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("looking for cache entry %q…: %w", prefix, err)
	}
	return found.Key, nil
}

// GetCache loads the entry with a key, of at most max bytes. Errors are
// ErrNotFound and transport.ErrTooLarge. Anyone who may run a workflow on the
// branch may have written the entry, so it proves nothing (T34).
func (c *Client) GetCache(ctx context.Context, key string, max int64) ([]byte, error) {
	found, err := c.exactCache(ctx, key)
	var content []byte
	if err == nil {
		content, err = c.fetchBlob(transport.LimitBody(ctx, max), found.CacheURL)
	}
	if err != nil {
		return nil, fmt.Errorf("loading cache entry %q: %w", key, err)
	}
	return content, nil
}

// exactCache returns the entry with a key, since the service also matches keys as prefixes.
func (c *Client) exactCache(ctx context.Context, key string) (reply, error) {
	found, err := c.cache(ctx, "GetCacheEntryDownloadURL", cacheRequest{Key: key})
	if err == nil && found.Key != key {
		err = ErrNotFound
	}
	return found, err
}

// cache calls one method of the cache service. A reply that is not ok is an error.
func (c *Client) cache(ctx context.Context, method string, q cacheRequest) (reply, error) {
	q.Version = cacheVersion
	r, err := c.ask(ctx, cachePath+method, q)
	status, _ := errors.AsType[*transport.StatusError](err)
	said := r.Message
	if status != nil {
		said = status.Message
	}
	switch {
	case strings.Contains(said, writeDenied):
		return r, ErrReadOnly
	case strings.Contains(said, readDenied):
		return r, ErrNotFound
	case status != nil && status.Code == http.StatusConflict:
		return r, fmt.Errorf("%w: %w", ErrExists, err)
	case err != nil:
		return r, err
	case r.OK:
		return r, nil
	case strings.HasPrefix(method, "Get"):
		return r, ErrNotFound
	case r.Message != "":
		return r, fmt.Errorf("the cache service did not accept it: %s", guard.Line(r.Message, 200))
	}
	return r, errNotOK
}

// How the service's messages begin if the token may not write, and if the job's cache-mode is none or write-only. Its
// own client tests for both: https://github.com/actions/toolkit/blob/main/packages/cache/RELEASES.md
const (
	writeDenied = "cache write denied:"
	readDenied  = "cache read denied:"
)
