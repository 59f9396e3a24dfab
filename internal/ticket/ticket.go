// Package ticket holds what a change was asked for: tickets, their acceptance
// criteria, the pages they lead to, and what of it could not be had.
//
// It holds values and pure functions and reads nothing. Every text in it is untrusted: whoever may write a ticket
// wrote it. Start at Context; Keys, Issues and PageIDs find what a pull request names.
package ticket

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

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

// Key is a ticket that the pull request names: PAY-123, or owner/repo#7 for an issue of GitHub.
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

// Criterion is one acceptance criterion. N counts from 1 over all tickets and pages of a Context, in their order.
type Criterion struct {
	N    int    `json:"n"`
	Text string `json:"text"`          // Markdown, one line; nested entries and steps stand in further ones
	Done bool   `json:"done,omitzero"` // whether it is ticked in the ticket
}

// Ticket is one ticket, or page of Confluence, as a source gave it. The key of a page is its
// id, the summary its title and the description its text.
type Ticket struct {
	Key         string      `json:"key"`
	Source      string      `json:"source"` // which source gave it, as SourceReport.Source
	URL         string      `json:"url,omitzero"`
	Summary     string      `json:"summary,omitzero"` // one line
	Type        string      `json:"type,omitzero"`    // Bug, Story, …
	Labels      []string    `json:"labels,omitempty"`
	Description string      `json:"description,omitzero"` // Markdown
	Criteria    []Criterion `json:"criteria,omitempty"`   // of a page where no ticket has any
	PageIDs     []PageID    `json:"page_ids,omitempty"`   // that its text and links lead to
	Host        string      `json:"-"`                    // of the site that its tracker says it is of
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
	Pages   []Ticket       `json:"pages,omitempty"`
	Sources []SourceReport `json:"sources,omitempty"`
	Missing []string       `json:"missing,omitempty"` // lines as the review says them; never a ticket's own words
	Flags   []Flag         `json:"flags,omitempty"`   // for the approver alone
}

// Empty reports whether there is nothing to judge a change by.
func (c Context) Empty() bool { return len(c.Tickets) == 0 && len(c.Pages) == 0 }

// Criteria lists the criteria of all tickets and pages, by their numbers.
func (c Context) Criteria() (all []Criterion) {
	for _, t := range slices.Concat(c.Tickets, c.Pages) {
		all = append(all, t.Criteria...)
	}
	return all
}

// Mapped is c with what f makes of each ticket and page. c stays as it is.
func (c Context) Mapped(f func(Ticket) Ticket) Context {
	each := func(all []Ticket) (made []Ticket) {
		for _, t := range all {
			made = append(made, f(t))
		}
		return made
	}
	c.Tickets, c.Pages = each(c.Tickets), each(c.Pages)
	return c
}

// Undescribed is a ticket without its description, or a page without its text.
func (t Ticket) Undescribed() Ticket { t.Description = ""; return t }

// bare is a ticket of which nothing but keys and numbers is left.
func (t Ticket) bare() Ticket {
	var all []Criterion
	for _, c := range t.Criteria {
		all = append(all, Criterion{N: c.N})
	}
	return Ticket{Key: t.Key, Source: t.Source, URL: t.URL, Criteria: all, PageIDs: t.PageIDs}
}

// Show says how much of tickets and pages leaves the job.
type Show string

// The values of Show, from the least to the most.
const (
	ShowKey      Show = "key"
	ShowCriteria Show = "criteria"
	ShowFull     Show = "full"
)

// Words reports whether any words of tickets and pages may leave the job.
func (s Show) Words() bool { return s == ShowCriteria || s == ShowFull }

// Shown is c without what may not leave the job. Under ShowKey that is every text
// of tickets, pages and flags, and criteria keep their numbers alone; under
// ShowCriteria it is the descriptions and flags' texts. Another value is ShowKey. c stays as it is.
func (c Context) Shown(show Show) Context {
	if show == ShowFull {
		return c
	}
	c.Flags = slices.Clone(c.Flags)
	for i := range c.Flags {
		c.Flags[i].Text = ""
	}
	if show != ShowCriteria {
		return c.Mapped(Ticket.bare)
	}
	pages := c.Pages
	c = c.Mapped(Ticket.Undescribed)
	c.Pages = pages
	return c
}

// FromMarkdown reads a ticket from a file's text: its first heading is the summary, the entries under "Acceptance
// criteria" the criteria, all of it but the heading the description. The key is the file's name without extension
// where that has a key's form, else file- and 8 digits of the text's SHA-256.
func FromMarkdown(name, text string) Ticket {
	sum := sha256.Sum256([]byte(text))
	t := Ticket{Key: "file-" + hex.EncodeToString(sum[:])[:8], Source: "file", Criteria: CriteriaIn(text)}
	if Project(name) != "" {
		t.Key = name
	}
	for i := range t.Criteria {
		t.Criteria[i].N = i + 1
	}
	var rest []string
	for line := range strings.Lines(text) {
		heading := strings.TrimSpace(strings.TrimLeft(line, "# \t"))
		if t.Summary == "" && strings.HasPrefix(line, "#") && heading != "" {
			t.Summary = strings.Join(strings.Fields(heading), " ")
			continue
		}
		rest = append(rest, line)
	}
	t.Description = strings.TrimSpace(strings.Join(rest, ""))
	for _, prefix := range []string{t.Key + ": ", t.Key + " ", "[" + t.Key + "] "} {
		t.Summary = strings.TrimPrefix(t.Summary, prefix)
	}
	return t
}
