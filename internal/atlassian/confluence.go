package atlassian

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/ticket"
)

// Confluence reads pages. It is safe for concurrent use.
type Confluence struct{ o Options }

// NewConfluence makes a client.
func NewConfluence(o Options) *Confluence { return &Confluence{o} }

// Page reads a page that is current. Errors are *Failure.
func (c *Confluence) Page(ctx context.Context, id string) (ticket.Ticket, error) {
	path := "/rest/api/content/" + url.PathEscape(id) + "?expand=body.storage,version"
	if c.o.isCloud() {
		path = "/api/v2/pages/" + url.PathEscape(id) + "?body-format=atlas_doc_format"
	}
	var d struct {
		ID            json.RawMessage // a string in both versions; numbers occur
		Status, Title string
		Body          struct {
			ADF     struct{ Value string } `json:"atlas_doc_format"`
			Storage struct{ Value string }
		}
	}
	if err := c.o.send(ctx, http.MethodGet, path, nil, &d); err != nil {
		return ticket.Ticket{}, Explain(err, id, "the Confluence user")
	}
	switch got := string(d.ID); {
	case got == "" || got == "null":
		return ticket.Ticket{}, Fail("gave an answer that is not a page")
	case got != id && got != `"`+id+`"`:
		return ticket.Ticket{}, Fail("answered with another page than %s", id)
	case d.Status != "" && d.Status != "current":
		return ticket.Ticket{}, Fail("page %s is not current", id)
	}
	text := markup.Storage(d.Body.Storage.Value)
	if adf := d.Body.ADF.Value; adf != "" || d.Body.Storage.Value == "" {
		var err error
		if text, err = markup.ADF([]byte(adf)); err != nil {
			return ticket.Ticket{}, &Failure{Note: "gave a page whose text cannot be read", Err: err}
		}
	}
	return ticket.Ticket{Key: id, Summary: markup.OneLine(d.Title), Description: text}, nil
}
