package artifact

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/transport"
)

const servicePath = "/twirp/github.actions.results.api.v1.ArtifactService/"

// maxReply bounds the service's replies, in bytes.
const maxReply = 4 << 20

// backend names run and job to the service. The ids are opaque.
type backend struct {
	Run string `json:"workflow_run_backend_id"`
	Job string `json:"workflow_job_run_backend_id"`
}

// request has the fields of all requests; a method's others stay zero, and
// zero values are not sent.
type request struct {
	backend
	Name    string `json:"name,omitzero"`
	Filter  string `json:"name_filter,omitzero"`
	Expires string `json:"expires_at,omitzero"` // RFC 3339
	Version int    `json:"version,omitzero"`
	Size    int64  `json:"size,string,omitzero"`
	Hash    string `json:"hash,omitzero"`
}

// reply has the fields of all replies.
type reply struct {
	OK        bool   `json:"ok"`
	UploadURL string `json:"signed_upload_url"`
	URL       string `json:"signed_url"`
	ID        number `json:"artifact_id"`
	Artifacts []item `json:"artifacts"`
}

// item is an artifact in a list of the service.
type item struct {
	backend
	ID     number `json:"database_id"`
	Name   string `json:"name"`
	Digest string `json:"digest"` // sha256:<hex>, or empty
}

// number is an int64 that comes as a number or, as the protocol has it, a text.
type number int64

// UnmarshalJSON reads either form.
func (n *number) UnmarshalJSON(raw []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	*n = number(v)
	return err
}

// call asks one method of the service. Names in replies are matched without
// case and underscores: GitHub answers in snake_case, local runners in
// lowerCamelCase.
func (c *Client) call(ctx context.Context, method string, q request) (reply, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return reply{}, fmt.Errorf("encoding the request: %w", err)
	}
	ctx = transport.LimitBody(ctx, maxReply)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.origin+servicePath+method, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.options.Token)
	answer, err := transport.Do(c.options.HTTP, req)
	if err != nil {
		return reply{}, err
	}
	var r reply
	if err := json.Unmarshal(answer, &r, json.MatchCaseInsensitiveNames(true)); err != nil {
		return reply{}, fmt.Errorf("reading the answer to %s: %w", method, err)
	}
	return r, nil
}
