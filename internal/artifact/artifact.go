// Package artifact stores and loads artifacts of the current run, and entries of
// the repository's cache, through the protocol that GitHub's runner offers to
// actions.
//
// It sees only the artifacts of its own run, does not open zips and does not use
// the REST API: artifacts of other runs belong to package github. Start reading
// at New, Client.Upload and Client.Download; cache.go has the cache.
package artifact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

var (
	// ErrUnsupported reports a server whose runner lacks this protocol: GitHub
	// Enterprise Server.
	ErrUnsupported = errors.New("artifacts of GitHub Enterprise Server are not supported")
	// ErrNoRuntime reports that the runner gave the process no access to artifacts, as
	// outside a container action's step.
	ErrNoRuntime = problem.Sentinel("the runner gave no access to artifacts (ACTIONS_RESULTS_URL, "+
		"ACTIONS_RUNTIME_TOKEN)",
		"run it as a step of a workflow's job (uses: org/pr-review-action@v1), or set checkpoint-dir")
	// ErrExists reports another artifact of the same name in this run, or a cache entry
	// with the same key.
	ErrExists = problem.Sentinel("the name is taken", "re-run the failed jobs: each attempt uses its own names")
	// ErrNotFound reports a name or key under which nothing is stored.
	ErrNotFound = errors.New("nothing is stored under this name")
	// ErrReadOnly reports that the run may not write to the cache.
	ErrReadOnly = errors.New("this run may not write to the cache")
	// ErrEmpty reports content of zero bytes, which is neither a zip nor a cache entry.
	ErrEmpty = errors.New("it is empty")
	// ErrDigest reports content that differs from what was stored.
	ErrDigest = problem.Sentinel("the artifact's content does not match its digest", "run it again")
)

// Options holds what the runner provides, and how to reach it.
type Options struct {
	ResultsURL   string           // ACTIONS_RESULTS_URL; only its origin is used
	Token        string           // ACTIONS_RUNTIME_TOKEN
	ServerURL    string           // GITHUB_SERVER_URL; github.com if empty
	HTTP         *http.Client     // transport.New's, with Retry in its options
	MaxRetention int              // GITHUB_RETENTION_DAYS; 0 for no limit
	Now          func() time.Time // time.Now if nil
}

// Client stores and loads artifacts of one run.
type Client struct {
	options Options
	origin  string
	ids     backend
}

// New returns a client. Errors are ErrUnsupported, ErrNoRuntime, and those of
// transport.CheckURL.
func New(o Options) (*Client, error) {
	if !hosted(o.ServerURL) {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, o.ServerURL)
	}
	if o.ResultsURL == "" || o.Token == "" {
		return nil, ErrNoRuntime
	}
	results, err := transport.CheckURL(o.ResultsURL, true)
	if err != nil {
		return nil, fmt.Errorf("reading ACTIONS_RESULTS_URL: %w", err)
	}
	ids, err := readToken(o.Token)
	if err != nil {
		return nil, fmt.Errorf("reading ACTIONS_RUNTIME_TOKEN: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Client{options: o, origin: results.Scheme + "://" + results.Host, ids: ids}, nil
}

// hosted reports whether a server's runner supports this protocol.
func hosted(server string) bool {
	u, err := url.Parse(cmp.Or(server, "https://github.com"))
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "github.com" || strings.HasSuffix(host, ".ghe.com") || transport.Loopback(host)
}

// readToken returns the ids in the runtime token's scope Actions.Results:<run>:<job>.
// It does not verify the signature, which is up to the service.
func readToken(token string) (backend, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return backend{}, errors.New("it is not a JWT")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return backend{}, errors.New("its payload is not base64") // the cause would repeat bytes of the token
	}
	var claims struct {
		Scope string `json:"scp"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return backend{}, errors.New("its payload is not JSON")
	}
	for scope := range strings.FieldsSeq(claims.Scope) {
		if ids := strings.Split(scope, ":"); ids[0] == "Actions.Results" && len(ids) == 3 && ids[1] != "" &&
			ids[2] != "" {
			return backend{Run: ids[1], Job: ids[2]}, nil
		}
	}
	return backend{}, errors.New("its scope names no run and job")
}

// Retry is the transport's Options.Retry for this client: it reports whether a
// request can safely be sent twice. A second Create may find the name taken by
// the first; Upload handles that.
func Retry(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost:
		return strings.HasPrefix(r.URL.Path, apiPrefix)
	case http.MethodPut:
		return r.URL.Query().Has("comp") // a block keeps its id, and the list is the same
	}
	return transport.Idempotent(r)
}
