package atlassian

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/ticket"
)

// Jira reads tickets. It is safe for concurrent use.
type Jira struct{ o Options }

// NewJira makes a client.
func NewJira(o Options) *Jira { return &Jira{o} }

// issue is what is read of an answer. Fields of the wrong type are absent, since
// sites configure them.
type issue struct {
	Self   string                     `json:"self"`
	Key    string                     `json:"key"`
	Names  map[string]string          `json:"names"`
	Fields map[string]json.RawMessage `json:"fields"`
}

// Ticket reads a ticket, which may come back under another key where it was moved.
// Its criteria have no numbers yet. Errors are *Failure.
func (j *Jira) Ticket(ctx context.Context, key string) (ticket.Ticket, error) {
	var i issue
	query := url.Values{"expand": {"names"}, "fields": {"*all,-comment,-worklog,-attachment"}}
	if j.o.CriteriaField != "" {
		query.Set("fields", "summary,description,issuetype,labels,subtasks,"+j.o.CriteriaField)
	}
	if err := j.o.get(ctx, j.path(key)+"?"+query.Encode(), &i); err != nil {
		return ticket.Ticket{}, Explain(err, key, "the Jira user")
	}
	if i.Key == "" || i.Fields == nil {
		return ticket.Ticket{}, Fail("gave an answer that is no ticket")
	}
	t := ticket.Ticket{Key: i.Key, Summary: markup.OneLine(i.text("summary")), Labels: i.labels()}
	t.Type = i.named("issuetype")
	t.Description = i.prose("description")
	t.Criteria = i.criteria(j.o.CriteriaField, t.Description)
	t.PageIDs = ticket.PageIDs(t.Description, ticket.InTicket)
	if self, err := url.Parse(i.Self); err == nil {
		t.Host = strings.ToLower(self.Host)
	}
	return t, nil
}

func (j *Jira) path(key string) string {
	version := "2"
	if j.o.cloud() {
		version = "3"
	}
	return "/rest/api/" + version + "/issue/" + url.PathEscape(key)
}

// RemotePages reads the pages of Confluence that a ticket's links lead to.
// Errors are *Failure.
func (j *Jira) RemotePages(ctx context.Context, key string) ([]ticket.PageID, error) {
	var links []struct {
		Object struct {
			URL string `json:"url"`
		} `json:"object"`
	}
	if err := j.o.get(ctx, j.path(key)+"/remotelink", &links); err != nil {
		return nil, Explain(err, "the links of "+key, "the Jira user")
	}
	var all []ticket.PageID
	for _, l := range links {
		all = append(all, ticket.PageIDs(l.Object.URL, ticket.RemoteLink)...)
	}
	return ticket.MergePages(nil, all...), nil
}

func (i issue) text(field string) (s string) {
	_ = json.Unmarshal(i.Fields[field], &s) // another type is no text
	return s
}

func (i issue) named(field string) string {
	var v struct{ Name string }
	_ = json.Unmarshal(i.Fields[field], &v)
	return markup.OneLine(v.Name)
}

func (i issue) labels() (all []string) {
	_ = json.Unmarshal(i.Fields["labels"], &all)
	return all[:min(len(all), 20)]
}

// prose is a field of several lines: ADF, or wiki markup where it is a text.
func (i issue) prose(field string) string {
	raw := i.Fields[field]
	if s := i.text(field); s != "" {
		return markup.Wiki(s)
	}
	text, err := markup.ADF(raw)
	if err != nil {
		return ""
	}
	return text
}

// criteria are those of a field, else of the description, else of subtasks.
func (i issue) criteria(field, description string) []ticket.Criterion {
	fields := []string{field}
	if field == "" {
		fields = nil
		for _, id := range slices.Sorted(maps.Keys(i.Names)) {
			if ticket.NamesCriteria(i.Names[id]) {
				fields = append(fields, id)
			}
		}
	}
	for _, id := range fields {
		if all := ticket.CriteriaOf(i.prose(id)); len(all) > 0 {
			return all
		}
	}
	if all := ticket.CriteriaIn(description); len(all) > 0 {
		return all
	}
	return i.subtasks()
}

// subtasks are the criteria that are subtasks, by a title such as "AC: it is saved".
func (i issue) subtasks() (all []ticket.Criterion) {
	var tasks []struct {
		Fields struct {
			Summary string
			Status  struct{ StatusCategory struct{ Key string } }
		}
	}
	_ = json.Unmarshal(i.Fields["subtasks"], &tasks)
	for _, t := range tasks {
		before, text, ok := strings.Cut(t.Fields.Summary, ":")
		if ok && strings.EqualFold(strings.TrimSpace(before), "AC") {
			all = append(all, ticket.Criterion{Text: markup.OneLine(text),
				Done: t.Fields.Status.StatusCategory.Key == "done"})
		}
	}
	return all
}
