package wire

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
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

// Context makes the sources of tickets and pages that the settings name, with the
// credentials that the variables hold. A variable that is not set is no error: the
// source says so where it is asked. An address that is refused is one.
func (w Wire) Context(c config.Context, s settings.Settings, api *github.Client) (ticketcontext.Options, error) {
	b := contextBuilder{Wire: w, c: c, s: s}
	o := ticketcontext.Options{Projects: c.Projects, Labels: c.LabelForms(), Limit: c.Limit(), CallLimit: c.CallLimit()}
	for _, source := range c.Sources {
		made, err := b.source(source, api)
		if err != nil {
			return o, err
		}
		o.Sources = append(o.Sources, made)
	}
	ours, theirs := w.Redactor(s), secret.New(b.credentials...)
	o.Redact = func(text string) string { return theirs.Redact(ours.Redact(text)) }
	return o, nil
}

// Gathering returns what fetches the tickets and pages that a change was made for, nil
// where the settings name no source. stage hears what of it is under way, in the names of
// statuses.
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

// contextBuilder makes sources, and keeps their credentials for the redactor.
type contextBuilder struct {
	Wire
	c           config.Context
	s           settings.Settings
	credentials []string
}

func (b *contextBuilder) source(s config.Source, api *github.Client) (ticketcontext.Source, error) {
	made, err := b.made(s, api)
	if why := b.distrusts(s, b.s); made.Lacks == "" {
		made.Lacks = why
	}
	return made, err
}

func (b *contextBuilder) made(s config.Source, api *github.Client) (ticketcontext.Source, error) {
	switch s.Kind {
	case config.SourceIssues:
		return ticketcontext.GitHub(api), nil
	case config.SourceMCP:
		return b.server(s.MCP)
	}
	return b.rest(s)
}

func (b *contextBuilder) rest(s config.Source) (ticketcontext.Source, error) {
	made := ticketcontext.Source{Name: s.Kind}
	var err error
	if made.Hosts, err = b.hosts("context.sources: "+s.Kind, s.URL, s.Site); err != nil {
		return made, err
	}
	o := atlassian.Options{URL: s.URL, CriteriaField: s.CriteriaField, HTTP: b.client(false)}
	o.User, o.Token, made.Lacks = b.credential(s.UserEnv, s.TokenEnv)
	if s.Kind == config.SourceJira {
		jira := atlassian.NewJira(o)
		made.Title, made.Tickets, made.Links, made.Comments = "Jira", jira, jira, jira
		return made, nil
	}
	made.Title, made.Pages = "Confluence", atlassian.NewConfluence(o)
	return made, nil
}

// hosts are those of addresses that may be asked.
func (b *contextBuilder) hosts(what string, addresses ...string) (all []string, err error) {
	for _, address := range addresses {
		if address == "" {
			continue
		}
		u, err := transport.CheckURL(address, b.s.AllowHTTP)
		if err != nil {
			return nil, problem.As(problem.Misuse, fmt.Errorf("%s: %w", what, err), "")
		}
		all = append(all, strings.ToLower(u.Host))
	}
	return all, nil
}

// client makes requests of one try each: ticketcontext alone asks again.
func (b *contextBuilder) client(stream bool) *http.Client {
	o := b.transport(b.s, nil)
	o.Tries, o.Timeout, o.MaxBody, o.Stream = 1, b.c.CallLimit(), atlassian.MaxAnswer, stream
	return transport.New(o)
}

// credential reads the variables of a source; lacks names one that is not set.
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

func (b *contextBuilder) server(m config.MCP) (ticketcontext.Source, error) {
	o := mcpclient.Options{Command: m.Command, URL: m.URL, Pins: m.Pin}
	ticket, page, comment, _ := mcpclient.Preset(m.Preset)
	o.Ticket, o.Page = over(ticket, m.Ticket, m.With), over(page, m.Page, m.With)
	o.Comment = over(comment, m.Comment, m.With)
	made := ticketcontext.Source{}
	name := m.Preset
	if len(m.Command) > 0 {
		name = cmp.Or(name, filepath.Base(m.Command[0]))
		o.Env, made.Lacks = b.environment(m.Env)
	} else {
		if _, err := b.hosts("context.sources: mcp", m.URL); err != nil {
			return made, err
		}
		u, err := url.Parse(m.URL)
		if err == nil {
			name = cmp.Or(name, u.Host)
		}
		o.User, o.Token, made.Lacks = b.credential(m.UserEnv, m.TokenEnv)
		o.HTTP = b.client(true)
	}
	made.Name, made.Title = "mcp:"+name, "the MCP server "+name
	o.Name = made.Title
	server := mcpclient.New(o)
	made.Close, made.Notes = server.Close, server.Unpinned
	if o.Ticket.Name != "" {
		made.Tickets = server
	}
	if o.Page.Name != "" {
		made.Pages = server
	}
	if o.Comment.Name != "" {
		made.Comments = server
	}
	return made, nil
}

// environment is all that a program gets.
func (b *contextBuilder) environment(names []string) (env []string, lacks string) {
	for _, name := range []string{"PATH", "HOME"} {
		env = append(env, name+"="+b.getenv(name))
	}
	for _, name := range names {
		_, value, missing := b.credential("", name)
		if lacks = cmp.Or(lacks, missing); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env, lacks
}

// over is a preset's tool with what the settings say of it.
func over(preset mcpclient.Tool, t config.Tool, with map[string]any) mcpclient.Tool {
	made := mcpclient.Tool{Name: cmp.Or(t.Tool, preset.Name), Argument: cmp.Or(t.Argument, preset.Argument),
		Key: cmp.Or(t.Key, preset.Key), Summary: cmp.Or(t.Summary, preset.Summary),
		Description: cmp.Or(t.Description, preset.Description), Criteria: cmp.Or(t.Criteria, preset.Criteria),
		Title: cmp.Or(t.Title, preset.Title), Text: cmp.Or(t.Text, preset.Text), With: map[string]any{}}
	for _, more := range []map[string]any{preset.With, with, t.With} {
		maps.Copy(made.With, more)
	}
	return made
}
