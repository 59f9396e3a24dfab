package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/mcpclient"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/transport"
)

// Context returns the sources of tickets and pages that the settings name, with credentials
// from the environment. An unset variable is not an error: the source reports it when it is
// queried. A refused address is an error.
func (w Wire) Context(c config.Context, s settings.Settings, api *github.Client) (ticketcontext.Options, error) {
	b := contextBuilder{Wire: w, c: c, s: s}
	o := ticketcontext.Options{Projects: c.Projects, Labels: c.LabelForms(), Limit: c.Limit(), CallLimit: c.CallLimit()}
	for _, source := range c.Sources {
		made, err := b.source(source, api)
		if err != nil {
			return o, err
		}
		made.Lacks = cmp.Or(made.Lacks, b.distrustReason(source, s))
		o.Sources = append(o.Sources, made)
	}
	ours, theirs := w.Redactor(s), secret.New(b.credentials...)
	o.Redact = func(text string) string { return theirs.Redact(ours.Redact(text)) }
	return o, nil
}

// Gathering returns a function that fetches the tickets and pages behind a change, or nil if
// the settings name no source. stage receives the names of the stages in progress, as
// statuses spell them.
func (r *Reviewer) Gathering(b Brief, stage func(context.Context, []string)) (func(context.Context) ticket.Context,
	error) {
	c := b.Change
	if c.Pull == nil || b.API == nil || len(c.Config.Context.Sources) == 0 {
		return nil, nil
	}
	o, err := r.wire.Context(c.Config.Context, r.settings, b.API)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ticket.Context {
		spans := trace.NewStages(ctx)
		defer spans.Now()
		o.OnProgress = func(under []string) {
			spans.Now(under...)
			stage(ctx, under)
		}
		return ticketcontext.Fetch(ctx, ticketcontext.Read(ctx, b.API, *c.Pull, o), o)
	}, nil
}

// contextBuilder makes sources, and collects their credentials for the redactor.
type contextBuilder struct {
	Wire
	c           config.Context
	s           settings.Settings
	credentials []string
}

func (b *contextBuilder) source(s config.Source, api *github.Client) (made ticketcontext.Source, err error) {
	switch s.Kind {
	case config.SourceIssues:
		return ticketcontext.GitHub(api), nil
	case config.SourceMCP:
		return b.mcpSource(s.MCP)
	}
	made.Name = s.Kind
	if made.Hosts, err = b.hosts(s.Kind, s.URL, s.Site); err != nil {
		return made, err
	}
	o := atlassian.Options{URL: s.URL, CriteriaField: s.CriteriaField, HTTP: b.client(false)}
	o.User, o.Token, made.Lacks = b.credential(s.UserEnv, s.TokenEnv)
	if s.Kind == config.SourceJira {
		jira := atlassian.NewJira(o)
		made.Title, made.Ticket, made.Links, made.Comments = "Jira", jira.Ticket, jira.RemotePages, jira
	} else {
		made.Title, made.Page = "Confluence", atlassian.NewConfluence(o).Page
	}
	return made, nil
}

// hosts returns the hosts of the addresses, or an error for one that is not allowed.
func (b *contextBuilder) hosts(kind string, addresses ...string) (all []string, err error) {
	for _, address := range addresses {
		if address == "" {
			continue
		}
		u, err := transport.CheckURL(address, b.s.AllowHTTP)
		if err != nil {
			return nil, problem.As(problem.Misuse, fmt.Errorf("context.sources: %s: %w", kind, err), "")
		}
		all = append(all, strings.ToLower(u.Host))
	}
	return all, nil
}

// client returns an HTTP client that tries once: retries are up to ticketcontext.
func (b *contextBuilder) client(stream bool) *http.Client {
	o := b.transport(b.s, nil)
	o.Tries, o.Timeout, o.MaxBody, o.Stream = 1, b.c.CallLimit(), atlassian.MaxAnswer, stream
	return transport.New(o)
}

// credential reads the variables of a source; lacks names the first one that is not set.
func (b *contextBuilder) credential(userEnv, tokenEnv string) (user, token, lacks string) {
	read := func(name string) string {
		if name == "" {
			return ""
		}
		value := strings.TrimSpace(b.getenv(name))
		if value == "" {
			lacks = cmp.Or(lacks, name+" is not set")
		}
		return value
	}
	user, token = read(userEnv), read(tokenEnv)
	b.credentials = append(b.credentials, token)
	return user, token, lacks
}

func (b *contextBuilder) mcpSource(m config.MCP) (made ticketcontext.Source, err error) {
	m = mcpclient.Preset(m)
	o, name := mcpclient.Options{MCP: m}, m.Preset
	if len(m.Command) > 0 {
		name = cmp.Or(name, filepath.Base(m.Command[0]))
		o.Environ = []string{"PATH=" + b.getenv("PATH"), "HOME=" + b.getenv("HOME")} // and nothing else
		for _, variable := range m.Env {
			_, value, missing := b.credential("", variable)
			if made.Lacks = cmp.Or(made.Lacks, missing); value != "" {
				o.Environ = append(o.Environ, variable+"="+value)
			}
		}
	} else {
		hosts, err := b.hosts(config.SourceMCP, m.URL)
		if err != nil {
			return made, err
		}
		name = cmp.Or(append([]string{name}, hosts...)...)
		o.User, o.Token, made.Lacks = b.credential(m.UserEnv, m.TokenEnv)
		o.HTTP = b.client(true)
	}
	made.Name, made.Title = "mcp:"+name, "the MCP server "+name
	o.Name = made.Title
	server := mcpclient.New(o)
	made.Close, made.Notes = server.Close, server.Unpinned
	if m.Ticket.Tool != "" {
		made.Ticket = server.Ticket
	}
	if m.Page.Tool != "" {
		made.Page = server.Page
	}
	if m.Comment.Tool != "" {
		made.Comments = server
	}
	return made, nil
}
