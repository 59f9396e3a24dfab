// Package ticket holds what a change is supposed to do: tickets, their acceptance criteria, the
// pages they link to, and notes on what could not be read.
//
// It holds values and pure functions and reads nothing. All its texts are untrusted: anyone who
// can edit a ticket wrote them. Start at Context; Keys, Issues and PageIDs find what a pull request names.
package ticket

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// Where is the part of a pull request or ticket that contains a key or a link to a page.
type Where string

// The places. InTicket and RemoteLink apply to pages only.
const (
	Title      Where = "title"
	Branch     Where = "branch"
	Body       Where = "body"
	Commit     Where = "commit"
	Label      Where = "label"
	InTicket   Where = "ticket"
	RemoteLink Where = "remote-link"
)

// Key is a ticket that the pull request names: PAY-123, or owner/repo#7 for a GitHub issue.
type Key struct {
	Key  string `json:"key"`
	From Where  `json:"from"`
}

// PageID is a Confluence page that the pull request or a ticket links to.
type PageID struct {
	ID   string `json:"id"` // digits
	From Where  `json:"from"`
	Host string `json:"host,omitzero"` // of the link, with its port; empty if the link named none
}

// Criterion is one acceptance criterion. N counts from 1 across all tickets and pages of a Context, in order.
type Criterion struct {
	N    int    `json:"n"`
	Text string `json:"text"`          // Markdown, one line; nested entries and steps on further lines
	Done bool   `json:"done,omitzero"` // it is ticked in the ticket
}

// Ticket is one ticket or Confluence page, as a source returned it. The key of a page is its
// ID, the summary its title and the description its text.
type Ticket struct {
	Key         string      `json:"key"`
	Source      string      `json:"source"` // the source that returned it, as SourceReport.Source
	URL         string      `json:"url,omitzero"`
	Summary     string      `json:"summary,omitzero"` // one line
	Type        string      `json:"type,omitzero"`    // Bug, Story, …
	Labels      []string    `json:"labels,omitempty"`
	Description string      `json:"description,omitzero"` // Markdown
	Criteria    []Criterion `json:"criteria,omitempty"`   // on a page only if no ticket has any
	PageIDs     []PageID    `json:"page_ids,omitempty"`   // pages that its text and links lead to
	Host        string      `json:"-"`                    // of the site that it belongs to, by its tracker's word
}

// Kind says what was requested from a source.
type Kind string

// The kinds.
const (
	KindTicket Kind = "ticket"
	KindPage   Kind = "page"
)

// SourceReport is the outcome of one request to one source.
type SourceReport struct {
	Source     string  `json:"source"` // jira, confluence, github, or mcp with the server's host, program or preset
	Kind       Kind    `json:"kind"`
	ID         string  `json:"id"`
	OK         bool    `json:"ok"`
	Note       string  `json:"note"` // in our own words: why it failed, or what was cut
	Characters int     `json:"characters"`
	Seconds    float64 `json:"seconds"`
}

// Flag is a line of a ticket or page that addresses the reviewer.
type Flag struct {
	ID   string `json:"id"`   // of the ticket or page
	Line int    `json:"line"` // in its text, from 1
	Text string `json:"text"`
}

// Context holds the tickets and pages of a change, as far as they could be read.
type Context struct {
	Keys    []Key          `json:"keys,omitempty"`
	PageIDs []PageID       `json:"page_ids,omitempty"`
	Tickets []Ticket       `json:"tickets,omitempty"`
	Pages   []Ticket       `json:"pages,omitempty"`
	Sources []SourceReport `json:"sources,omitempty"`
	Missing []string       `json:"missing,omitempty"` // lines as the review shows them; never a ticket's own words
	Flags   []Flag         `json:"flags,omitempty"`   // shown to the approver only
}

// Empty reports whether there is neither a ticket nor a page to judge a change by.
func (c Context) Empty() bool { return len(c.Tickets) == 0 && len(c.Pages) == 0 }

// Criteria returns the criteria of all tickets and pages, in order of their numbers.
func (c Context) Criteria() (all []Criterion) {
	for _, t := range slices.Concat(c.Tickets, c.Pages) {
		all = append(all, t.Criteria...)
	}
	return all
}

// Mapped returns c with f applied to each ticket and page. c itself does not change.
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

// Undescribed returns a ticket without its description, or a page without its text.
func (t Ticket) Undescribed() Ticket { t.Description = ""; return t }

// withoutTexts returns a ticket without texts: its key, source, address, page IDs and criterion numbers.
func (t Ticket) withoutTexts() Ticket {
	var all []Criterion
	for _, c := range t.Criteria {
		all = append(all, Criterion{N: c.N})
	}
	return Ticket{Key: t.Key, Source: t.Source, URL: t.URL, Criteria: all, PageIDs: t.PageIDs}
}

// Show says how much of tickets and pages may leave the job.
type Show string

// The values of Show, from the least to the most.
const (
	ShowKey      Show = "key"
	ShowCriteria Show = "criteria"
	ShowFull     Show = "full"
)

// Words reports whether any words of tickets and pages may leave the job.
func (s Show) Words() bool { return s == ShowCriteria || s == ShowFull }

// Shown returns c without what may not leave the job. ShowKey removes every text of tickets,
// pages and flags, and leaves only the numbers of criteria. ShowCriteria removes the tickets'
// descriptions and the flags' texts. Any other value but ShowFull counts as ShowKey. c does not change.
func (c Context) Shown(show Show) Context {
	if show == ShowFull {
		return c
	}
	c.Flags = slices.Clone(c.Flags)
	for i := range c.Flags {
		c.Flags[i].Text = ""
	}
	if show != ShowCriteria {
		return c.Mapped(Ticket.withoutTexts)
	}
	pages := c.Pages
	c = c.Mapped(Ticket.Undescribed)
	c.Pages = pages
	return c
}

// underlined and lesser match headings that are written as a line with === or --- below it.
var (
	underlined = pattern.Lazy(`(?m)^([^\s#>|*+=-].*)\n===*[ \t\r]*(?:\n|$)`)
	lesser     = pattern.Lazy(`(?m)^([^\s#>|*+=-].*)\n---+[ \t\r]*(?:\n|$)`)
)

// FromMarkdown returns the ticket in a file's text. The first heading is the summary, the criteria are as CriteriaIn
// returns them, and everything but that heading is the description. name is the file's name without extension; it is
// the key if it has a key's form, otherwise that is file- and 8 digits of the text's SHA-256.
func FromMarkdown(name, text string) Ticket {
	key := fmt.Sprintf("file-%.4x", sha256.Sum256([]byte(text)))
	text = strings.TrimPrefix(text, "\ufeff") // some editors write it
	if !strings.HasPrefix(text, "---") {      // front matter
		text = lesser().ReplaceAllString(underlined().ReplaceAllString(text, "# $1\n"), "## $1\n")
	}
	t := Ticket{Key: key, Source: "file", Criteria: CriteriaIn(text)}
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
