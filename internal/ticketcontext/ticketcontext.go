// Package ticketcontext gathers what a pull request was made for: the tickets that it names, the pages that these
// lead to, and the names of what could not be read.
//
// It never fails: what is missing is named. A key is followed only if its project is among the settings', and only
// from the text of an author who may write: otherwise whoever writes the title would choose what the tracker's
// credentials read. Start at Fetch; ask.go has the only rule for retries.
package ticketcontext

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/injection"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
)

// The bounds of a context.
const (
	maxTickets    = 3
	maxPages      = 3
	maxCharacters = 10_000 // of one ticket or page
)

// Reader reads a ticket by its key, or a page by its id. A ticket with another key is refused later, unless it was
// moved. Errors are *atlassian.Failure.
type Reader func(ctx context.Context, id string) (ticket.Ticket, error)

// Source is one tracker or wiki.
type Source struct {
	Name  string // in reports: jira, confluence, github, mcp:rovo
	Title string // in sentences: Jira, the MCP server rovo
	// What it can do; nil for what it cannot.
	Ticket, Page Reader
	Links        func(ctx context.Context, key string) ([]ticket.PageID, error) // of a ticket, to pages
	Comments     Commenter
	Notes        func() []string
	Close        func()

	Issues bool     // its tickets are issues of GitHub, and only these
	Hosts  []string // of links that lead to its pages; empty: those of the other sources
	Lacks  string   // why it cannot be asked, such as "JIRA_TOKEN is not set"
}

// reader returns the function that reads a ticket or page from a source; nil if it cannot.
func (s Source) reader(kind ticket.Kind, id string) Reader {
	switch {
	case kind == ticket.KindPage:
		return s.Page
	case s.Issues == strings.Contains(id, "#"):
		return s.Ticket
	}
	return nil
}

// Options configures how a context is gathered. Zero times mean no limit.
type Options struct {
	Sources    []Source // in the order in which they are asked
	Projects   []string
	Labels     []string // forms; see ticket.LabelForms
	Limit      time.Duration
	CallLimit  time.Duration
	Redact     func(string) string // removes credentials from a text
	Sleep      func(context.Context, time.Duration) error
	Jitter     func() float64       // in [0, 1)
	OnProgress func(under []string) // receives what is in progress whenever that changes, one call at a time
}

// The statuses that OnProgress receives.
const (
	statusIDs   = "extract_context_ids"
	statusJira  = "fetch_jira_context"
	statusPages = "fetch_confluence_context"
)

func (o Options) reportProgress(under ...string) {
	if o.OnProgress != nil && len(under) > 0 {
		o.OnProgress(under)
	}
}

// withLimit returns a context that a limit bounds, unless that is 0.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// close closes all sources concurrently.
func (o Options) close() {
	var wait sync.WaitGroup
	for _, s := range o.Sources {
		if s.Close != nil {
			wait.Go(s.Close)
		}
	}
	wait.Wait()
}

// Fetch gathers the context of a pull request within Options.Limit, and then closes sources that hold a connection.
// Without sources there is nothing to gather and nothing is missing.
func Fetch(ctx context.Context, asked Asked, o Options) ticket.Context {
	g := gathering{asked: asked, o: o}
	if len(o.Sources) == 0 || !g.identify() {
		return g.found
	}
	within, cancel := withLimit(ctx, o.Limit-o.Limit/10) // the rest is for closing connections and programs
	defer cancel()
	g.gather(within)
	o.close()
	for _, s := range o.Sources {
		at := slices.IndexFunc(g.found.Sources, func(r ticket.SourceReport) bool { return r.Source == s.Name })
		if s.Notes != nil && at >= 0 {
			addNote(&g.found.Sources[at], s.Notes()...)
		}
	}
	return g.found
}

// FetchTicket reads one ticket, by a key of a project that the settings list or as owner/repo#7, from the first source
// that has it, within Options.Limit if that is set. The ticket is redacted and bounded as in Fetch. If no source
// returns it, the error names each one's reason.
func FetchTicket(ctx context.Context, key string, o Options) (ticket.Ticket, error) {
	if err := o.checkProject(key); err != nil {
		return ticket.Ticket{}, err
	}
	defer o.close()
	within, cancel := withLimit(ctx, o.Limit-o.Limit/10)
	defer cancel()
	w := request{kind: ticket.KindTicket, id: key}
	if w.read(within, o); w.result == nil {
		next := "name a source that has it under context.sources, with its variables set"
		if strings.Contains(key, "#") {
			next = "check that it exists, and that the GitHub token may read it"
		}
		return ticket.Ticket{}, problem.As(problem.Failed, problem.New("the ticket "+key+" could not be read",
			w.reason(), next), "")
	}
	for i := range w.result.Criteria {
		w.result.Criteria[i].N = i + 1
	}
	return *w.result, ctx.Err()
}

// checkProject refuses a key of a project that the settings do not list.
func (o Options) checkProject(key string) error {
	if strings.Contains(key, "#") || slices.Contains(o.Projects, ticket.Project(key)) {
		return nil
	}
	return problem.Usage(fmt.Sprintf("the settings' context.projects do not list the project of %s", key),
		"add it there: only tickets of listed projects are read and commented on")
}

// gathering is a Fetch in progress.
type gathering struct {
	asked Asked
	o     Options
	found ticket.Context
}

// identify finds keys and pages, and reports whether any may be followed.
func (g *gathering) identify() bool {
	g.o.reportProgress(statusIDs)
	c := &g.found
	c.Keys, c.PageIDs = g.asked.keys(g.o), g.pages(ticket.PageIDs(g.asked.Body, ticket.Body))
	c.Missing = append(c.Missing, g.asked.Unread...)
	if why := g.asked.barredReason(); why != "" {
		if len(c.Keys)+len(c.PageIDs) > 0 {
			c.Missing = append(c.Missing, "Without ticket: "+why)
		}
		return false
	}
	tracker := func(s Source) bool { return s.Ticket != nil && !s.Issues }
	switch over := c.Keys[min(len(c.Keys), maxTickets):]; {
	case len(over) > 0:
		c.Keys = c.Keys[:maxTickets]
		var more []string
		for _, k := range over[:min(len(over), 5)] {
			more = append(more, k.Key)
		}
		c.Missing = append(c.Missing, fmt.Sprintf("Without ticket: %s: %d tickets are read at most",
			strings.Join(more, ", "), maxTickets))
	case len(c.Keys) > 0:
	case slices.ContainsFunc(g.o.Sources, tracker) && len(g.o.Projects) == 0:
		c.Missing = append(c.Missing, "no ticket key is followed: context.projects names no project")
	case slices.ContainsFunc(g.o.Sources, tracker):
		c.Missing = append(c.Missing, "no ticket key in title, branch or description")
	case g.o.issues():
		c.Missing = append(c.Missing, "no issue is named in title or description")
	}
	return len(c.PageIDs)+len(c.Keys) > 0
}

// pages adds to the known pages the links that lead to a host of a source, or of the site that a ticket is from, each
// page once and maxPages in all. A page is requested from the sources, never from its link's host.
func (g *gathering) pages(links []ticket.PageID, hosts ...string) []ticket.PageID {
	readable := false
	for _, s := range g.o.Sources {
		hosts, readable = append(hosts, s.Hosts...), readable || s.Page != nil
	}
	all := g.found.PageIDs
	for _, p := range links {
		if readable && p.Host != "" && slices.Contains(hosts, p.Host) && len(all) < maxPages {
			p.Host = ""
			all = ticket.MergePages(all, p)
		}
	}
	return all
}

// gather requests all tickets and the known pages concurrently, then the pages that the tickets lead to.
func (g *gathering) gather(ctx context.Context) {
	var tickets, pages []*request
	for _, k := range g.found.Keys {
		tickets = append(tickets, &request{kind: ticket.KindTicket, id: k.Key})
	}
	for _, p := range g.found.PageIDs {
		pages = append(pages, &request{kind: ticket.KindPage, id: p.ID})
	}
	g.askAll(ctx, slices.Concat(tickets, pages))
	for _, w := range tickets {
		if w.result != nil {
			g.found.PageIDs = g.pages(slices.Concat(w.result.PageIDs, w.links), w.result.Host)
		}
	}
	known := len(pages)
	for _, p := range g.found.PageIDs[known:] {
		pages = append(pages, &request{kind: ticket.KindPage, id: p.ID})
	}
	g.askAll(ctx, pages[known:])
	for _, w := range slices.Concat(tickets, pages) {
		g.addResult(w)
	}
}

// addResult adds the outcome of a request. Criteria are numbered on; those of pages count only if there are no others.
func (g *gathering) addResult(w *request) {
	g.found.Sources = append(g.found.Sources, w.reports...)
	if w.result == nil {
		g.found.Missing = append(g.found.Missing, fmt.Sprintf("Without %s: %s", w.kind, w.reason()))
		return
	}
	g.found.Flags = append(g.found.Flags, Flags(*w.result)...)
	into, n := &g.found.Tickets, len(g.found.Criteria())
	if w.kind == ticket.KindPage {
		into = &g.found.Pages
		if n == 0 {
			w.result.Criteria = ticket.CriteriaIn(w.result.Description)
		}
	}
	if len(w.result.Criteria) == ticket.MaxCriteria {
		g.found.Missing = append(g.found.Missing, fmt.Sprintf("Of %s %d acceptance criteria count, and no more", w.id,
			ticket.MaxCriteria))
	}
	for i := range w.result.Criteria {
		w.result.Criteria[i].N = n + i + 1
	}
	*into = append(*into, *w.result)
}

// askAll makes requests concurrently, and reports which kinds are in progress whenever that changes.
func (g *gathering) askAll(ctx context.Context, all []*request) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	open := map[ticket.Kind]int{}
	tell := func() {
		var under []string
		if open[ticket.KindTicket] > 0 {
			under = append(under, statusJira)
		}
		if open[ticket.KindPage] > 0 {
			under = append(under, statusPages)
		}
		g.o.reportProgress(under...)
	}
	for _, w := range all {
		open[w.kind] += 2
	}
	tell()
	for _, w := range all {
		for _, request := range []func(context.Context, Options){w.read, w.followLinks} {
			wait.Go(func() {
				request(ctx, g.o)
				mu.Lock()
				defer mu.Unlock()
				if open[w.kind]--; open[w.kind] == 0 {
					tell()
				}
			})
		}
	}
	wait.Wait()
}

// maxFlags bounds how many lines of one ticket or page are flagged.
const maxFlags = 5

// Flags returns the lines of a ticket or page that address an automated reader, each once.
func Flags(t ticket.Ticket) (all []ticket.Flag) {
	texts := []string{t.Summary, t.Description}
	for _, c := range t.Criteria {
		texts = append(texts, c.Text)
	}
	for _, text := range texts {
		seen := injection.Scan(text)
		for _, hit := range slices.Concat(seen.Hidden, seen.Instructions) {
			all = append(all, ticket.Flag{ID: t.Key, Line: hit.Line, Text: strings.TrimSpace(hit.Excerpt)})
		}
	}
	all = order.Unique(all, func(f ticket.Flag) string { return f.Text })
	return all[:min(len(all), maxFlags)]
}
