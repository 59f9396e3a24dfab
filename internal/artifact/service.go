package artifact

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/transport"
)

// The two services, which share host and token.
const (
	apiPrefix   = "/twirp/github.actions.results.api.v1."
	servicePath = apiPrefix + "ArtifactService/"
	cachePath   = apiPrefix + "CacheService/"
)

// maxReply bounds the service's replies, in bytes.
const maxReply = 4 << 20

// backend identifies run and job to the service. The ids are opaque.
type backend struct {
	Run string `json:"workflow_run_backend_id"`
	Job string `json:"workflow_job_run_backend_id"`
}

// request has the fields of all requests; unused ones stay zero, and zero values
// are not sent.
type request struct {
	backend
	Name    string `json:"name,omitzero"`
	Filter  string `json:"name_filter,omitzero"`
	Expires string `json:"expires_at,omitzero"` // RFC 3339
	Version int    `json:"version,omitzero"`
	Size    int64  `json:"size,string,omitzero"`
	Hash    string `json:"hash,omitzero"`
}

// reply has the fields of all replies of both services.
type reply struct {
	OK        bool     `json:"ok"`
	UploadURL string   `json:"signed_upload_url"`
	URL       string   `json:"signed_url"`
	ID        number   `json:"artifact_id"`
	Artifacts []Stored `json:"artifacts"`
	CacheURL  string   `json:"signed_download_url"` // of a cache entry, like the next two
	Key       string   `json:"matched_key"`
	Message   string   `json:"message"`
}

// number is an int64 encoded as a number or, as the protocol specifies, a string.
type number int64

// UnmarshalJSON decodes either form.
func (n *number) UnmarshalJSON(raw []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	*n = number(v)
	return err
}

// call calls one method of the artifact service.
func (c *Client) call(ctx context.Context, method string, q request) (reply, error) {
	return c.ask(ctx, servicePath+method, q)
}

// ask sends a request to one of the services. It matches names in replies without
// case and underscores: GitHub uses snake_case, local runners lowerCamelCase.
func (c *Client) ask(ctx context.Context, path string, q any) (r reply, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return r, fmt.Errorf("encoding the request: %w", err)
	}
	ctx = transport.LimitBody(ctx, maxReply)
	answer, err := transport.Post(ctx, c.options.HTTP, c.origin+path, c.options.Token, body)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(answer, &r, json.MatchCaseInsensitiveNames(true)); err != nil {
		return r, fmt.Errorf("reading the answer to %s: %w", path[strings.LastIndex(path, "/")+1:], err)
	}
	return r, nil
}
