package atlassian

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/ticket"
)

// Confluence reads pages. It is safe for concurrent use.
type Confluence struct{ o Options }

// NewConfluence makes a client.
func NewConfluence(o Options) *Confluence { return &Confluence{o} }

// document is what both versions of the interface have in common.
type document struct {
	ID     json.RawMessage `json:"id"` // a text in both; numbers were seen
	Status string          `json:"status"`
	Title  string          `json:"title"`
	Body   struct {
		ADF     struct{ Value string } `json:"atlas_doc_format"`
		Storage struct{ Value string } `json:"storage"`
	} `json:"body"`
}

// Page reads a page that is current. Errors are *Failure.
func (c *Confluence) Page(ctx context.Context, id string) (ticket.Page, error) {
	path := "/rest/api/content/" + url.PathEscape(id) + "?expand=body.storage,version"
	if c.o.cloud() {
		path = "/api/v2/pages/" + url.PathEscape(id) + "?body-format=atlas_doc_format"
	}
	var d document
	if err := c.o.get(ctx, path, &d); err != nil {
		return ticket.Page{}, Explain(err, id, "the Confluence user")
	}
	switch got := string(d.ID); {
	case got == "" || got == "null":
		return ticket.Page{}, Fail("gave an answer that is no page")
	case got != id && got != `"`+id+`"`:
		return ticket.Page{}, Fail("answered with another page than %s", id)
	case d.Status != "" && d.Status != "current":
		return ticket.Page{}, Fail("page %s is not current", id)
	}
	text, err := d.text()
	if err != nil {
		return ticket.Page{}, &Failure{Note: "gave a page whose text cannot be read", Err: err}
	}
	return ticket.Page{ID: id, Title: markup.OneLine(d.Title), Text: text}, nil
}

func (d document) text() (string, error) {
	switch {
	case d.Body.ADF.Value != "":
		return markup.ADF([]byte(d.Body.ADF.Value))
	case d.Body.Storage.Value != "":
		return markup.Storage(d.Body.Storage.Value), nil
	}
	return "", errors.New("no body in a known format")
}
