package ticketcontext

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/ticket"
)

// ticket asks the sources for a ticket, one after the other; nil where none has it.
func (g *gathering) ticket(ctx context.Context, key string) (got *ticket.Ticket) {
	issue := strings.Contains(key, "#")
	able := func(s Source) bool { return s.Tickets != nil && s.Issues == issue }
	g.first(ctx, ticket.KindTicket, key, able, func(s Source, r *ticket.SourceReport) *atlassian.Failure {
		return g.retry.do(ctx, func(ctx context.Context) error {
			t, err := s.Tickets.Ticket(ctx, key)
			if err != nil {
				return err
			}
			if !g.accepts(key, t.Key) {
				return atlassian.Fail("answered with another ticket than %s", key)
			}
			t.Source = s.Name
			if t.Key != key {
				r.Note = fmt.Sprintf("%s was moved and is %s now", key, t.Key)
			}
			g.bound(&t, r)
			got = &t
			return nil
		})
	})
	return got
}

// accepts reports whether an answer is about a key: by name, or since the ticket
// was moved from one of the settings' projects to another.
func (g *gathering) accepts(asked, got string) bool {
	from, to := ticket.Project(asked), ticket.Project(got)
	moved := from != to && slices.Contains(g.o.Projects, from) && slices.Contains(g.o.Projects, to)
	return asked == got || moved
}

func (g *gathering) page(ctx context.Context, id string) (got *ticket.Page) {
	able := func(s Source) bool { return s.Pages != nil }
	g.first(ctx, ticket.KindPage, id, able, func(s Source, r *ticket.SourceReport) *atlassian.Failure {
		return g.retry.do(ctx, func(ctx context.Context) error {
			p, err := s.Pages.Page(ctx, id)
			if err != nil {
				return err
			}
			p.Source = s.Name
			p.Title = g.clean(p.Title)
			p.Text = g.cut(g.clean(p.Text), MaxCharacters, r)
			r.Characters = utf8.RuneCountInString(p.Title) + utf8.RuneCountInString(p.Text)
			got = &p
			return nil
		})
	})
	return got
}

// links are the pages that a ticket's links lead to. Where they cannot be read
// there are none: the ticket itself says what is wrong.
func (g *gathering) links(ctx context.Context, key string) (all []ticket.PageID) {
	at := slices.IndexFunc(g.o.Sources, func(s Source) bool { return s.Links != nil && s.Lacks == "" })
	if at < 0 || strings.Contains(key, "#") || len(g.found.PageIDs) >= MaxPages {
		return nil
	}
	_ = g.retry.do(ctx, func(ctx context.Context) (err error) {
		all, err = g.o.Sources[at].Links.RemotePages(ctx, key)
		return err
	})
	return all
}

// first asks the sources that can be asked until one has the thing, and reports on each.
func (g *gathering) first(ctx context.Context, kind ticket.Kind, id string, able func(Source) bool,
	ask func(Source, *ticket.SourceReport) *atlassian.Failure) {
	var notes []string
	for _, s := range g.o.Sources {
		if !able(s) {
			continue
		}
		r := ticket.SourceReport{Source: s.Name, Kind: kind, ID: id}
		began := time.Now()
		var failed *atlassian.Failure
		switch {
		case s.Lacks != "":
			failed = atlassian.Fail("%s", s.Lacks)
		case ctx.Err() != nil:
			failed = atlassian.Fail("was not asked, since the time for context was over")
		default:
			failed = ask(s, &r)
		}
		r.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
		if r.OK = failed == nil; !r.OK {
			r.Characters, r.Note = 0, sentence(s, failed, id)
			notes = append(notes, r.Note)
		}
		g.mu.Lock()
		g.found.Sources = append(g.found.Sources, r)
		g.mu.Unlock()
		if r.OK {
			return
		}
	}
	if len(notes) == 0 {
		notes = []string{fmt.Sprintf("no source gives %s", id)}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = append(g.lost, lost{kind, id, fmt.Sprintf("Without %s: %s", kind, strings.Join(notes, "; "))})
}

// lost is something that no source gave, and the line about it.
type lost struct {
	kind     ticket.Kind
	id, line string
}

// sentence says of a thing why a source does not give it.
func sentence(s Source, f *atlassian.Failure, id string) string {
	switch {
	case strings.HasPrefix(f.Note, id+" "):
		return f.Note // "PAY-123 is not visible to the Jira user"
	case s.Lacks != "":
		return id + ": " + f.Note
	case strings.Contains(f.Note, id):
		return s.Title + " " + f.Note
	}
	return id + ": " + s.Title + " " + f.Note
}

// bound takes credentials out of a ticket and cuts it to its most characters.
func (g *gathering) bound(t *ticket.Ticket, r *ticket.SourceReport) {
	t.Summary, t.Type = g.clean(t.Summary), g.clean(t.Type)
	for i := range t.Labels {
		t.Labels[i] = g.clean(t.Labels[i])
	}
	left := MaxCharacters
	for i := range t.Criteria {
		text := &t.Criteria[i].Text
		*text = g.cut(g.clean(*text), left, r)
		if left -= utf8.RuneCountInString(*text); *text == "" {
			t.Criteria = t.Criteria[:i]
			break
		}
	}
	t.Description = g.cut(g.clean(t.Description), MaxCharacters, r)
	r.Characters = MaxCharacters - left + utf8.RuneCountInString(t.Summary) + utf8.RuneCountInString(t.Description)
}

func (g *gathering) clean(text string) string {
	if g.o.Redact == nil {
		return text
	}
	return g.o.Redact(text)
}

// cut ends a text at the last border before its most characters: of paragraphs,
// else of lines, else of words. The report notes it.
func (g *gathering) cut(text string, most int, r *ticket.SourceReport) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	kept := string(runes[:max(most, 0)])
	for _, border := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(kept, border); at > len(kept)/2 {
			kept = kept[:at]
			break
		}
	}
	note := fmt.Sprintf("cut at %d of %d characters", utf8.RuneCountInString(kept), len(runes))
	if r.Note != "" && !strings.Contains(r.Note, "cut at") {
		note = r.Note + "; " + note
	}
	r.Note = note
	return kept
}
