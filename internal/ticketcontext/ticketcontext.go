// Package ticketcontext gathers what a pull request was asked for: the tickets that
// it names, the pages that these lead to, and what of it could not be had.
//
// It never fails: what is missing is named. A key is followed only where its project
// is among the settings', and only from the text of an author who may write: whoever
// writes the title would else choose what the tracker's credentials read. Start at
// Fetch; retry.go has the one rule for asking again.
package ticketcontext

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/ticket"
)

// The bounds of a context.
const (
	MaxTickets    = 3
	MaxPages      = 3
	MaxCharacters = 10_000 // of one ticket or page
)

// TicketReader reads a ticket by its key. An answer about another key is refused
// here, unless the ticket was moved. Its errors are *atlassian.Failure.
type TicketReader interface {
	Ticket(ctx context.Context, key string) (ticket.Ticket, error)
}

// PageReader reads a page by its id. Its errors are *atlassian.Failure.
type PageReader interface {
	Page(ctx context.Context, id string) (ticket.Page, error)
}

// PageLister reads the pages that a ticket's links lead to.
type PageLister interface {
	RemotePages(ctx context.Context, key string) ([]ticket.PageID, error)
}

// Source is one place that is asked.
type Source struct {
	Name    string // in reports: jira, confluence, github, mcp:rovo
	Title   string // in sentences: Jira, the MCP server rovo
	Tickets TicketReader
	Pages   PageReader
	Links   PageLister
	// of its tickets; nil where it takes no comments
	Comments Commenter
	Issues   bool     // its tickets are issues of GitHub, and only these
	Hosts    []string // of links that lead to its pages; empty: those of the other sources
	Lacks    string   // why it cannot be asked, such as "JIRA_TOKEN is not set"
	Notes    func() []string
	Close    func()
}

// Options say how a context is gathered. Times that are zero are no limits.
type Options struct {
	Sources    []Source // in the order in which they are asked
	Projects   []string
	Labels     []string // forms; see ticket.LabelForms
	Limit      time.Duration
	CallLimit  time.Duration
	Redact     func(string) string // takes credentials out of a text
	Sleep      func(context.Context, time.Duration) error
	Jitter     func() float64       // in [0, 1)
	OnProgress func(under []string) // hears what is under way whenever that changes, one call at a time
}

// The statuses that OnProgress is told.
const (
	StatusIDs   = "extract_context_ids"
	StatusJira  = "fetch_jira_context"
	StatusPages = "fetch_confluence_context"
)

// Fetch gathers the context of a pull request within Options.Limit. Sources that
// hold a connection are closed behind it. Without sources there is nothing to gather
// and nothing is missing.
func Fetch(ctx context.Context, asked Asked, o Options) ticket.Context {
	if len(o.Sources) == 0 {
		return ticket.Context{}
	}
	g := newGathering(asked, o)
	if !g.identify() {
		return g.found
	}
	ctx, cancel := context.WithTimeout(ctx, o.Limit-o.Limit/10) // what is left ends connections and programs
	defer cancel()
	g.gather(ctx)
	g.close()
	g.finish()
	return g.found
}

// gathering is a Fetch under way.
type gathering struct {
	asked Asked
	o     Options
	retry retry
	found ticket.Context
	mu    sync.Mutex // over found.Sources, lost and what is under way
	lost  []lost
}

func newGathering(asked Asked, o Options) *gathering {
	if o.OnProgress == nil {
		o.OnProgress = func([]string) {}
	}
	return &gathering{asked: asked, o: o, retry: newRetry(o)}
}

// identify finds keys and pages, and reports whether any may be followed.
func (g *gathering) identify() bool {
	g.o.OnProgress([]string{StatusIDs})
	g.found.Keys, g.found.PageIDs = g.asked.keys(g.o), g.pages(g.asked.pages())
	named := len(g.found.Keys)+len(g.found.PageIDs) > 0
	g.found.Missing = append(g.found.Missing, g.asked.Unread...)
	switch why := g.asked.barred(); {
	case why != "" && named:
		g.found.Missing = append(g.found.Missing, "Without ticket: "+why)
		return false
	case why != "":
		return false
	case len(g.found.Keys) == 0 && slices.ContainsFunc(g.o.Sources, func(s Source) bool { return s.Tickets != nil }):
		g.found.Missing = append(g.found.Missing, g.noKey())
	}
	g.found.Keys = g.upTo(MaxTickets)
	return len(g.found.PageIDs)+len(g.found.Keys) > 0
}

func (g *gathering) noKey() string {
	tracker := slices.ContainsFunc(g.o.Sources, func(s Source) bool { return !s.Issues && s.Tickets != nil })
	switch {
	case !tracker:
		return "no issue is named in title or description"
	case len(g.o.Projects) == 0:
		return "no ticket key is followed: context.projects names no project"
	}
	return "no ticket key in title, branch or description"
}

// upTo are the first keys, and a line about the others.
func (g *gathering) upTo(most int) []ticket.Key {
	all := g.found.Keys
	if len(all) > most {
		var more []string
		for _, k := range all[most:min(len(all), most+5)] {
			more = append(more, k.Key)
		}
		g.found.Missing = append(g.found.Missing, fmt.Sprintf("Without ticket: %s: %d tickets are read at most",
			strings.Join(more, ", "), most))
	}
	return all[:min(len(all), most)]
}

// pages are the links that lead to a host of a source, or of the site that a ticket is
// of, each page once and at most MaxPages with those that are known. A page is asked of
// the sources, never of its link's host.
func (g *gathering) pages(links []ticket.PageID, hosts ...string) []ticket.PageID {
	for _, s := range g.o.Sources {
		if s.Pages != nil || s.Tickets != nil {
			hosts = append(hosts, s.Hosts...)
		}
	}
	readable := slices.ContainsFunc(g.o.Sources, func(s Source) bool { return s.Pages != nil })
	all := g.found.PageIDs
	for _, p := range links {
		if readable && p.Host != "" && slices.Contains(hosts, p.Host) && len(all) < MaxPages {
			p.Host = ""
			all = ticket.MergePages(all, p)
		}
	}
	return all
}

// gather asks for all tickets and the pages that are known side by side, then for
// the pages that the tickets lead to.
func (g *gathering) gather(ctx context.Context) {
	keys, first := g.found.Keys, g.found.PageIDs
	tickets, links := make([]*ticket.Ticket, len(keys)), make([][]ticket.PageID, len(keys))
	var ofTickets []func()
	for i, k := range keys {
		ofTickets = append(ofTickets, func() { tickets[i] = g.ticket(ctx, k.Key) },
			func() { links[i] = g.links(ctx, k.Key) })
	}
	known := make([]*ticket.Page, MaxPages)
	read := func(from int, ids []ticket.PageID) (all []func()) {
		for i, p := range ids {
			all = append(all, func() { known[from+i] = g.page(ctx, p.ID) })
		}
		return all
	}
	g.beside(ofTickets, read(0, first))
	for i, t := range tickets {
		if t != nil {
			g.found.Tickets = append(g.found.Tickets, *t)
			g.found.PageIDs = g.pages(slices.Concat(t.PageIDs, links[i]), t.Host)
		}
	}
	g.beside(nil, read(len(first), g.found.PageIDs[len(first):]))
	for _, p := range known {
		if p != nil {
			g.found.Pages = append(g.found.Pages, *p)
		}
	}
}

// beside makes requests for tickets and for pages side by side, and tells for what any are
// under way whenever that changes.
func (g *gathering) beside(tickets, pages []func()) {
	var all sync.WaitGroup
	var under []string
	begin := map[string][]func(){StatusJira: tickets, StatusPages: pages}
	for _, status := range []string{StatusJira, StatusPages} {
		if len(begin[status]) > 0 {
			under = append(under, status)
		}
	}
	tell := func() {
		if len(under) > 0 {
			g.o.OnProgress(slices.Clone(under))
		}
	}
	tell()
	for status, requests := range begin {
		all.Go(func() {
			var each sync.WaitGroup
			for _, request := range requests {
				each.Go(request)
			}
			each.Wait()
			g.mu.Lock()
			defer g.mu.Unlock()
			if at := slices.Index(under, status); at >= 0 {
				under = slices.Delete(under, at, at+1)
				tell()
			}
		})
	}
	all.Wait()
}

// close ends what is open, side by side.
func (g *gathering) close() {
	var wait sync.WaitGroup
	for _, s := range g.o.Sources {
		if s.Close != nil {
			wait.Go(s.Close)
		}
	}
	wait.Wait()
}
