package atlassian

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/ticket"
)

// Jira reads tickets. It is safe for concurrent use.
type Jira struct{ o Options }

// NewJira makes a client.
func NewJira(o Options) *Jira { return &Jira{o} }

// issue is the part of an answer that is read.
type issue struct {
	Self, Key string
	Names     map[string]string
	Fields    map[string]json.RawMessage
}

// field returns an issue's field. One of another type counts as absent, since sites configure them.
func field[T any](i issue, name string) (v T) {
	_ = json.Unmarshal(i.Fields[name], &v)
	return v
}

// Ticket reads a ticket, which may come back under another key if it was moved. Its criteria have no numbers
// yet. Errors are *Failure.
func (j *Jira) Ticket(ctx context.Context, key string) (ticket.Ticket, error) {
	var i issue
	query := url.Values{"expand": {"names"}, "fields": {"*all,-comment,-worklog,-attachment"}}
	if j.o.CriteriaField != "" {
		query.Set("fields", "summary,description,issuetype,labels,subtasks,"+j.o.CriteriaField)
	}
	if err := j.o.send(ctx, http.MethodGet, j.path(key)+"?"+query.Encode(), nil, &i); err != nil {
		return ticket.Ticket{}, Explain(err, key, "the Jira user")
	}
	if i.Key == "" || i.Fields == nil {
		return ticket.Ticket{}, Fail("gave an answer that is not a ticket")
	}
	labels := field[[]string](i, "labels")
	t := ticket.Ticket{Key: i.Key, Summary: markup.OneLine(field[string](i, "summary")),
		Type: markup.OneLine(field[struct{ Name string }](i, "issuetype").Name), Labels: labels[:min(len(labels), 20)],
		Description: i.prose("description")}
	t.Criteria = i.criteria(j.o.CriteriaField, t.Description)
	t.PageIDs = ticket.PageIDs(t.Description, ticket.InTicket)
	if self, err := url.Parse(i.Self); err == nil {
		t.Host = strings.ToLower(self.Host)
	}
	return t, nil
}

func (j *Jira) path(key string) string {
	version := "2"
	if j.o.isCloud() {
		version = "3"
	}
	return "/rest/api/" + version + "/issue/" + url.PathEscape(key)
}

// RemotePages returns the pages of Confluence that a ticket's links lead to. Errors are *Failure.
func (j *Jira) RemotePages(ctx context.Context, key string) ([]ticket.PageID, error) {
	var links []struct {
		Object struct{ URL string }
	}
	if err := j.o.send(ctx, http.MethodGet, j.path(key)+"/remotelink", nil, &links); err != nil {
		return nil, Explain(err, "the links of "+key, "the Jira user")
	}
	var all []ticket.PageID
	for _, l := range links {
		all = append(all, ticket.PageIDs(l.Object.URL, ticket.RemoteLink)...)
	}
	return ticket.MergePages(nil, all...), nil
}

// prose returns a multi-line field, from ADF or, if it is a string, from wiki markup.
func (i issue) prose(name string) string {
	if s := field[string](i, name); s != "" {
		return markup.Wiki(s)
	}
	text, _ := markup.ADF(i.Fields[name]) // anything else is empty
	return text
}

// criteria returns those of a field, otherwise of the description, otherwise of subtasks with titles such as
// "AC: it is saved".
func (i issue) criteria(name, description string) (all []ticket.Criterion) {
	for _, id := range slices.Sorted(maps.Keys(i.Fields)) {
		if id == name || name == "" && ticket.NamesCriteria(i.Names[id]) {
			if all = ticket.CriteriaOf(i.prose(id)); len(all) > 0 {
				return all
			}
		}
	}
	if all = ticket.CriteriaIn(description); len(all) > 0 {
		return all
	}
	for _, t := range field[[]struct {
		Fields struct {
			Summary string
			Status  struct{ StatusCategory struct{ Key string } }
		}
	}](i, "subtasks") {
		before, text, ok := strings.Cut(t.Fields.Summary, ":")
		if ok && strings.EqualFold(strings.TrimSpace(before), "AC") {
			all = append(all, ticket.Criterion{Text: markup.OneLine(text),
				Done: t.Fields.Status.StatusCategory.Key == "done"})
		}
	}
	return all
}

// Mentions reports whether one of a ticket's newest hundred comments contains a text, such as an address. Errors
// are *Failure.
func (j *Jira) Mentions(ctx context.Context, key, text string) (bool, error) {
	var list struct {
		Comments []struct {
			Body jsontext.Value `json:"body"` // ADF, or a string
		} `json:"comments"`
	}
	newest := j.path(key) + "/comment?maxResults=100&orderBy=-created"
	if err := j.o.send(ctx, http.MethodGet, newest, nil, &list); err != nil {
		return false, Explain(err, "the comments of "+key, "the Jira user")
	}
	for _, c := range list.Comments {
		if c.Body.Canonicalize() == nil && bytes.Contains(c.Body, []byte(text)) { // whatever its escapes
			return true, nil
		}
	}
	return false, nil
}

// Comment posts a comment under a ticket: text, and an address as a link. It sends one request; if its answer is
// lost, Mentions can tell. Errors are *Failure.
func (j *Jira) Comment(ctx context.Context, key, text, address string) error {
	var body any = text + " " + address
	if j.o.isCloud() {
		link := map[string]any{"type": "text", "text": address,
			"marks": []any{map[string]any{"type": "link", "attrs": map[string]any{"href": address}}}}
		body = map[string]any{"type": "doc", "version": 1, "content": []any{map[string]any{"type": "paragraph",
			"content": []any{map[string]any{"type": "text", "text": text + " "}, link}}}}
	}
	sent := map[string]any{"body": body}
	if err := j.o.send(ctx, http.MethodPost, j.path(key)+"/comment", sent, new(struct{})); err != nil {
		return Explain(err, "a comment on "+key, "the Jira user")
	}
	return nil
}
