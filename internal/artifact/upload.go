package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

const (
	// version of the artifact format. 7 requires a MIME type, which local runners
	// refuse; 4 is accepted by all known servers.
	version = 4
	// blockSize is in bytes; a checkpoint is mostly one block.
	blockSize = 8 << 20
	// storageVersion is the version of the blob store's REST API.
	storageVersion = "2025-05-05"
)

var errNotOK = problem.Sentinel("the artifact service did not accept it, and gave no reason", "run it again")

// Upload stores a zip under a name, without copying it, and returns its id. It returns
// when the context ends, whatever hangs. Retention is in days, 0 for the repository's
// default. If the run already has an artifact of that name, Upload returns ErrExists,
// unless the content is the same: then it returns that artifact's id.
func (c *Client) Upload(ctx context.Context, name string, zip []byte, retentionDays int) (id int64, err error) {
	if name == "" || strings.ContainsAny(name, "\":<>|*?\r\n\\/") { // GitHub's rule
		return 0, fmt.Errorf("%q cannot name an artifact", name)
	}
	id, err = c.upload(ctx, name, zip, retentionDays)
	if err != nil {
		id, err = c.recoverUpload(ctx, name, zip, err)
	}
	if err != nil {
		return 0, fmt.Errorf("uploading artifact %q: %w", name, err)
	}
	return id, nil
}

// recoverUpload checks whether a refused upload succeeded after all. If an answer was
// lost and its request sent again, the service finds the name taken, or nothing
// left to finalize, although the artifact is stored.
func (c *Client) recoverUpload(ctx context.Context, name string, zip []byte, refusal error) (int64, error) {
	status, ok := errors.AsType[*transport.StatusError](refusal)
	if !ok || status.Code != http.StatusConflict && status.Code != http.StatusNotFound {
		return 0, refusal
	}
	found, err := c.find(ctx, name)
	if err == nil && c.hasContent(ctx, found, zip) {
		return int64(found.ID), nil
	}
	if status.Code == http.StatusConflict {
		return 0, fmt.Errorf("%w: %w", ErrExists, refusal)
	}
	return 0, refusal
}

// hasContent reports whether an artifact has this content: by its digest, which avoids
// a second copy, or by its bytes if the service reports no digest.
func (c *Client) hasContent(ctx context.Context, s Stored, zip []byte) bool {
	if s.Digest != "" {
		return s.Digest == digest(zip)
	}
	stored, err := c.load(ctx, s, int64(len(zip)))
	return err == nil && bytes.Equal(stored, zip)
}

func (c *Client) upload(ctx context.Context, name string, zip []byte, retentionDays int) (int64, error) {
	created, err := c.create(ctx, request{backend: c.ids, Name: name, Expires: c.expires(retentionDays),
		Version: version})
	if err != nil {
		return 0, err
	}
	if !created.OK || created.UploadURL == "" {
		return 0, errNotOK
	}
	if err := c.storeBlob(ctx, created.UploadURL, zip); err != nil {
		return 0, fmt.Errorf("storing its content: %w", err)
	}
	done, err := c.call(ctx, "FinalizeArtifact", request{backend: c.ids, Name: name, Size: int64(len(zip)),
		Hash: digest(zip)})
	if err != nil {
		return 0, err
	}
	if !done.OK {
		return 0, errNotOK
	}
	return int64(done.ID), nil
}

// create reserves the name. If the request was sent more than once and the name
// is taken, but no artifact is listed under it, then an earlier attempt of ours
// took it and will never finish: create deletes it and tries once more.
func (c *Client) create(ctx context.Context, q request) (reply, error) {
	var sent atomic.Int32
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Add(1) }})
	created, err := c.call(traced, "CreateArtifact", q)
	status, ok := errors.AsType[*transport.StatusError](err)
	if !ok || status.Code != http.StatusConflict || sent.Load() < 2 {
		return created, err
	}
	if found, failed := c.list(ctx, q.Name); failed != nil || len(found) > 0 {
		return created, err
	}
	// the next answer shows whether it is gone
	_, _ = c.call(ctx, "DeleteArtifact", request{backend: c.ids, Name: q.Name})
	return c.call(ctx, "CreateArtifact", q)
}

// expires returns when an artifact expires, or "" for the repository's default
// retention.
func (c *Client) expires(days int) string {
	if c.options.MaxRetention > 0 {
		days = min(days, c.options.MaxRetention)
	}
	if days <= 0 {
		return ""
	}
	return c.options.Now().UTC().AddDate(0, 0, days).Format(time.RFC3339)
}

// storeBlob writes blocks sequentially, as local runners require, and then the block
// list.
func (c *Client) storeBlob(ctx context.Context, target string, content []byte) error {
	if strings.Contains(target, "?") { // not parsed: the signature covers these exact bytes
		target += "&"
	} else {
		target += "?"
	}
	var list strings.Builder
	list.WriteString(`<?xml version="1.0" encoding="utf-8"?><BlockList>`)
	for i, rest := 0, content; i == 0 || len(rest) > 0; i++ {
		block := rest[:min(blockSize, len(rest))]
		rest = rest[len(block):]
		// The ids of a blob's blocks must all have one length.
		id := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "block-%06d", i))
		if err := c.putBlob(ctx, target+"comp=block&blockid="+url.QueryEscape(id), block, ""); err != nil {
			return err
		}
		list.WriteString("<Latest>" + id + "</Latest>")
	}
	list.WriteString("</BlockList>")
	return c.putBlob(ctx, target+"comp=blocklist", []byte(list.String()), "application/zip")
}

// putBlob sends to the blob store. The address is signed, so no token is sent.
func (c *Client) putBlob(ctx context.Context, address string, body []byte, contentType string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/xml")
	req.Header.Set("X-Ms-Version", storageVersion)
	if contentType != "" {
		req.Header.Set("X-Ms-Blob-Content-Type", contentType)
	}
	_, err = transport.Do(c.options.HTTP, req)
	return err
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }
