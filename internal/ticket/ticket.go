// Package ticket holds what a change was asked for: tickets, their acceptance
// criteria, the pages they lead to, and what of it could not be had.
//
// It holds values and pure functions and reads nothing. Every text in it is
// untrusted: whoever may write a ticket wrote it. Start at Context; Keys, Issues
// and PageIDs find what a pull request names.
package ticket

import "slices"

// Where is the part of a pull request in which a key or a page's link stands.
type Where string

// The places. Ticket and RemoteLink are those of pages alone.
const (
	Title      Where = "title"
	Branch     Where = "branch"
	Body       Where = "body"
	Commit     Where = "commit"
	Label      Where = "label"
	InTicket   Where = "ticket"
	RemoteLink Where = "remote-link"
)

// Key is a ticket that the pull request names: PAY-123, or owner/repo#7 for an
// issue of GitHub.
type Key struct {
	Key  string `json:"key"`
	From Where  `json:"from"`
}

// PageID is a page of Confluence that the pull request or a ticket links to.
type PageID struct {
	ID   string `json:"id"` // digits
	From Where  `json:"from"`
	Host string `json:"host,omitzero"` // of the link, with its port; empty where the link named none
}

// Criterion is one acceptance criterion. N counts from 1 over all tickets and
// pages of a Context, in their order.
type Criterion struct {
	N    int    `json:"n"`
	Text string `json:"text"`          // Markdown, one line; nested entries and steps stand in further ones
	Done bool   `json:"done,omitzero"` // whether it is ticked in the ticket
}

// Ticket is one ticket as a source gave it.
type Ticket struct {
	Key         string      `json:"key"`
	Source      string      `json:"source"` // which source gave it, as SourceReport.Source
	URL         string      `json:"url,omitzero"`
	Summary     string      `json:"summary,omitzero"` // one line
	Type        string      `json:"type,omitzero"`    // Bug, Story, …
	Labels      []string    `json:"labels,omitempty"`
	Description string      `json:"description,omitzero"` // Markdown
	Criteria    []Criterion `json:"criteria,omitempty"`
	PageIDs     []PageID    `json:"page_ids,omitempty"` // that its text and links lead to
	Host        string      `json:"-"`                  // of the site that its tracker says it is of
}

// Page is a page of Confluence as a source gave it.
type Page struct {
	ID       string      `json:"id"`
	Source   string      `json:"source"`
	URL      string      `json:"url,omitzero"`
	Title    string      `json:"title,omitzero"`
	Text     string      `json:"text,omitzero"`      // Markdown
	Criteria []Criterion `json:"criteria,omitempty"` // where no ticket has any
}

// Kind says what a source was asked for.
type Kind string

// The kinds.
const (
	KindTicket Kind = "ticket"
	KindPage   Kind = "page"
)

// SourceReport says how one source answered when it was asked for one thing.
type SourceReport struct {
	Source     string  `json:"source"` // jira, confluence, github, or mcp with the server's host, program or preset
	Kind       Kind    `json:"kind"`
	ID         string  `json:"id"`
	OK         bool    `json:"ok"`
	Note       string  `json:"note"` // in our own words: why not, or what was cut
	Characters int     `json:"characters"`
	Seconds    float64 `json:"seconds"`
}

// Flag is a line of a ticket or page that addresses the reviewer.
type Flag struct {
	ID   string `json:"id"`   // of the ticket or page
	Line int    `json:"line"` // of its text, from 1
	Text string `json:"text"`
}

// Context is what was asked for, as far as it could be had.
type Context struct {
	Keys    []Key          `json:"keys,omitempty"`
	PageIDs []PageID       `json:"page_ids,omitempty"`
	Tickets []Ticket       `json:"tickets,omitempty"`
	Pages   []Page         `json:"pages,omitempty"`
	Sources []SourceReport `json:"sources,omitempty"`
	Missing []string       `json:"missing,omitempty"` // lines as the review says them; never a ticket's own words
	Flags   []Flag         `json:"flags,omitempty"`   // for the approver alone
}

// Empty reports whether there is nothing to judge a change by.
func (c Context) Empty() bool { return len(c.Tickets) == 0 && len(c.Pages) == 0 }

// Criteria lists the criteria of all tickets and pages, by their numbers.
func (c Context) Criteria() []Criterion {
	var all []Criterion
	for _, t := range c.Tickets {
		all = append(all, t.Criteria...)
	}
	for _, p := range c.Pages {
		all = append(all, p.Criteria...)
	}
	return all
}

// Show says how much of tickets and pages leaves the job.
type Show string

// The values of Show, from the least to the most.
const (
	ShowKey      Show = "key"
	ShowCriteria Show = "criteria"
	ShowFull     Show = "full"
)

// Shown is c without what may not leave the job. Under ShowKey that is every text
// of tickets, pages and flags, and criteria keep their numbers alone; under
// ShowCriteria it is the descriptions and flags' texts. Another value is ShowKey. c stays as it is.
func (c Context) Shown(show Show) Context {
	if show == ShowFull {
		return c
	}
	c.Tickets, c.Pages, c.Flags = slices.Clone(c.Tickets), slices.Clone(c.Pages), slices.Clone(c.Flags)
	for i := range c.Flags {
		c.Flags[i].Text = ""
	}
	for i := range c.Tickets {
		t := &c.Tickets[i]
		if t.Description = ""; show != ShowCriteria {
			*t = Ticket{Key: t.Key, Source: t.Source, URL: t.URL, Criteria: numbers(t.Criteria), PageIDs: t.PageIDs}
		}
	}
	if show == ShowCriteria {
		return c
	}
	for i, p := range c.Pages {
		c.Pages[i] = Page{ID: p.ID, Source: p.Source, Criteria: numbers(p.Criteria)}
	}
	return c
}

// numbers are criteria without their texts.
func numbers(all []Criterion) (bare []Criterion) {
	for _, c := range all {
		bare = append(bare, Criterion{N: c.N})
	}
	return bare
}
