package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/transport"
)

// modelTimeout bounds one try at a model's answer; reasoning models take minutes.
const modelTimeout = 5 * time.Minute

// defaultModel is asked where none is named.
const defaultModel = "gpt-5-mini"

// Version is the program's version: that of the module where it was installed
// as one, else the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "development"
}

func (a *app) client(s settings, retry func(*http.Request) bool) *http.Client {
	o := a.transport(s, nil)
	o.Retry = retry
	return transport.New(o)
}

func (a *app) transport(s settings, onWait func(time.Duration, string)) transport.Options {
	return transport.Options{UserAgent: "pr-review-action/" + Version(), AllowHTTP: s.allowHTTP, OnWait: onWait}
}

// github returns the client for the API of a pull request's server, with the
// token that belongs there.
func (a *app) github(ref pull.Ref, s settings) (*github.Client, error) {
	address := github.APIURL(ref, a.getenv)
	if _, err := transport.CheckURL(address, s.allowHTTP); err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	c, err := github.New(github.Options{APIURL: address, Token: a.token(ref.Host, s), HTTP: a.client(s, nil)})
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	return c, nil
}

// token is the credential for a host. A token from the environment belongs to
// the server that GITHUB_SERVER_URL names, GitHub itself when unset, to that of
// GH_HOST, and to this machine; another host in an address that somebody passed
// along gets none.
func (a *app) token(host string, s settings) string {
	if s.token != "" {
		return s.token
	}
	home := pull.Ref{Host: pull.DefaultHost}.On(a.getenv("GITHUB_SERVER_URL")).Host
	tenant := home == pull.DefaultHost && strings.HasSuffix(host, ".ghe.com")
	if host == home || tenant || strings.EqualFold(host, a.getenv("GH_HOST")) || transport.Loopback(hostname(host)) {
		return cmp.Or(a.getenv("GITHUB_TOKEN"), a.getenv("GH_TOKEN"))
	}
	return a.getenv("GH_ENTERPRISE_TOKEN")
}

// hostname takes the port off a host.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// reviewer is who reviews: a model or the rules. One by a model is asked only
// after prepare.
type reviewer struct {
	review.Reviewer
	rules    bool
	model    string
	endpoint string // whose model it is
	app      *app
	settings settings
	onWait   func(time.Duration, string)
	asks     *review.Model // nil for rules
	account  account

	mute   bool          // the endpoint's own words are not shown
	linger time.Duration // how long a review goes on when the run is cancelled

	mu    sync.Mutex
	cause error  // of the first file that failed
	where string // its path
	found int    // findings so far
	used  cost.Usage
}

// Review passes on to the model or the rules and counts what comes back.
func (r *reviewer) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	ctx, done := graph.Lingering(ctx, r.linger)
	defer done()
	return r.counted(r.Reviewer.Review(ctx, f))
}

func (r *reviewer) counted(result finding.FileReview, err error) (finding.FileReview, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found += len(result.Findings)
	r.used = cost.Add(r.used, result.Usage)
	if errors.Is(err, cost.ErrSpent) {
		r.cause = cmp.Or(r.cause, err)
	}
	return result, err
}

// soFar is what the reviews that ended have found and used, and what they may use.
func (r *reviewer) soFar() (findings int, used cost.Usage, limit cost.MicroUSD) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.found, r.used, r.account.cap
}

// noModel is the error of a job that has no model to ask.
const noModel = "no model is configured"

// noModelNotice tells a command line that reviews by rules of the other way.
const noModelNotice = "No model is configured. For one: OPENAI_API_KEY=… or --base-url."

// modelSettings fills in, from the environment, whom to ask: with provider auto, a
// key or an address means a model, and neither the rules.
func (a *app) modelSettings(s settings) settings {
	s.key = cmp.Or(s.key, a.getenv("OPENAI_API_KEY"))
	s.baseURL = cmp.Or(s.baseURL, a.getenv("OPENAI_BASE_URL"))
	s.model = cmp.Or(s.model, a.getenv("OPENAI_MODEL"), defaultModel)
	if s.provider == "auto" {
		s.provider = "offline"
		if s.key != "" || s.baseURL != "" {
			s.provider = "openai"
		}
	}
	return s
}

// model is a client for the model of modelSettings.
func (a *app) model(s settings, onWait func(time.Duration, string)) (*llm.Client, error) {
	if s.key == "" && s.baseURL == "" {
		return nil, problem.Usage(noModel, "set api-key (OPENAI_API_KEY), or base-url for an endpoint without one, or provider: offline")
	}
	if _, err := transport.CheckURL(cmp.Or(s.baseURL, llm.DefaultBaseURL), s.allowHTTP); err != nil {
		return nil, problem.As(problem.Misuse, fmt.Errorf("base-url: %w", err), "")
	}
	client, err := llm.New(llm.Options{BaseURL: s.baseURL, Key: s.key, Model: s.model, HTTP: a.modelHTTP(s, onWait)})
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	return client, nil
}

// modelHTTP is the client for a model's server. Its rate limits pass in seconds,
// unlike GitHub's.
func (a *app) modelHTTP(s settings, onWait func(time.Duration, string)) *http.Client {
	o := a.transport(s, onWait)
	o.Timeout, o.Backoff, o.LimitWait, o.LimitTries = modelTimeout, time.Second, time.Second, limitTries
	o.Retry = func(*http.Request) bool { return true }
	return transport.New(o)
}

// limitTries is how often a request is put that a rate limit turned away: the
// limiter lets it come back when there is room.
const limitTries = 10

// reviewer chooses by the provider setting. What can be wrong with it is found
// here, before anything is read.
func (a *app) reviewer(s settings, onWait func(time.Duration, string)) (*reviewer, error) {
	s = a.modelSettings(s)
	if s.provider == "offline" {
		return &reviewer{Reviewer: review.NewRules(), rules: true, app: a}, nil
	}
	client, err := a.model(s, onWait)
	if err != nil {
		return nil, err
	}
	return &reviewer{model: s.model, endpoint: client.Endpoint(), app: a, settings: s, onWait: onWait}, nil
}

// failed notes why a file failed: the first one's cause is told when the run has
// ended. Where the reviewer itself panicked, debug logging has the stack.
func (r *reviewer) failed(path string, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause == nil {
		r.cause, r.where = cause, path
	}
	log := r.app.debug()
	if crash, ok := errors.AsType[*graph.PanicError](cause); ok && log != nil {
		for line := range strings.Lines(string(crash.Stack)) {
			log(line)
		}
	}
}

// why is what lay behind the first file that failed, or nil.
func (r *reviewer) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// explain says what lay behind files that failed: of a run that did in its
// message, else as a warning. The cause may name an address, so it is not in the
// review.
func (r *reviewer) explain(to *report, warn func(string)) {
	cause := r.why()
	if said, ok := errors.AsType[*llm.StatusError](cause); ok && r.mute {
		silent := *said.StatusError
		silent.Message = "" // it may repeat what was asked
		cause = &llm.StatusError{StatusError: &silent}
	}
	switch {
	case cause == nil:
	case to.state.Spent():
		to.Message = "no file was reviewed: " + explain(cause)
		if r.account.why != "" {
			to.Message += "; " + r.account.why
		}
	case errors.Is(cause, cost.ErrSpent): // the files say so
	case to.Outcome == reviewpr.Failed:
		to.Message += ": " + explain(cause)
	default:
		warn(r.place() + " could not be reviewed: " + explain(cause))
	}
}

// place names the file that failed, where its name may be read.
func (r *reviewer) place() string {
	if r.where == "" || r.mute {
		return "a file"
	}
	return guard.Line(r.where, maxLine)
}

// prompt is the fingerprint of what the reviewer is told.
func (r *reviewer) prompt() string {
	if r.rules {
		return ""
	}
	return prompt.Fingerprint()
}
