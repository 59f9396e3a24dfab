package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// ReviewThread is a conversation on a line of a pull request's diff. REST does not tell
// whether it is resolved.
type ReviewThread struct {
	ID       string // of GraphQL
	Comment  int64  // the comment that opened it
	Own      bool   // the viewer wrote that comment
	Resolved bool
	By       string // login of the account that resolved it; empty if it is open, or for an app
	Answers  int    // comments after the first, by anybody
}

// maxThreadPages bounds the pages of threads that are read, a hundred on each.
const maxThreadPages = 50

const threadsQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id isResolved resolvedBy { login }
          comments(first: 1) { totalCount nodes { fullDatabaseId viewerDidAuthor } }
        }
      }
    }
  }
}`

type threadPage struct {
	PageInfo struct {
		HasNextPage bool   `json:"hasNextPage"`
		EndCursor   string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes []struct {
		ID         string `json:"id"`
		IsResolved bool   `json:"isResolved"`
		ResolvedBy struct {
			Login string `json:"login"`
		} `json:"resolvedBy"`
		Comments struct {
			TotalCount int `json:"totalCount"`
			Nodes      []struct {
				ID  json.RawMessage `json:"fullDatabaseId"` // a BigInt: a string, or from other servers a number
				Own bool            `json:"viewerDidAuthor"`
			} `json:"nodes"`
		} `json:"comments"`
	} `json:"nodes"`
}

// Threads lists the threads on a pull request's diff, oldest first. Only GraphQL can answer
// this, by POST. It returns ErrNotFound, ErrNoAccess, or ErrTooLarge above 5,000 threads.
func (c *Client) Threads(ctx context.Context, ref pull.Ref) ([]ReviewThread, error) {
	doing := "listing the threads on " + ref.String()
	api := c.client(http.MethodPost)
	var threads []ReviewThread
	after := (*string)(nil)
	for range maxThreadPages {
		var data struct {
			Repository *struct {
				PullRequest *struct {
					ReviewThreads threadPage `json:"reviewThreads"`
				} `json:"pullRequest"`
			} `json:"repository"`
		}
		vars := map[string]any{"owner": ref.Owner, "name": ref.Repo, "number": ref.Number, "after": after}
		if err := c.GraphQL(ctx, api, threadsQuery, vars, &data); err != nil {
			return nil, Wrap(doing, err)
		}
		if data.Repository == nil || data.Repository.PullRequest == nil {
			return nil, Wrap(doing, ErrNotFound)
		}
		page := data.Repository.PullRequest.ReviewThreads
		threads = append(threads, page.threads()...)
		if !page.PageInfo.HasNextPage || page.PageInfo.EndCursor == "" {
			return threads, nil
		}
		after = &page.PageInfo.EndCursor
	}
	return nil, Wrap(doing, fmt.Errorf("%w: more than %d pages", ErrTooLarge, maxThreadPages))
}

// threads returns a page's threads whose first comment is known.
func (p threadPage) threads() (list []ReviewThread) {
	for _, n := range p.Nodes {
		if len(n.Comments.Nodes) == 0 || n.ID == "" {
			continue
		}
		first := n.Comments.Nodes[0]
		id, err := strconv.ParseInt(strings.Trim(string(first.ID), `"`), 10, 64)
		if err != nil {
			continue
		}
		list = append(list, ReviewThread{ID: n.ID, Comment: id, Own: first.Own, Resolved: n.IsResolved,
			By:      n.ResolvedBy.Login,
			Answers: max(0, n.Comments.TotalCount-1)})
	}
	return list
}

// GraphQL sends one request to the API's GraphQL address, once, and decodes its data. An
// answer that contains errors is an error, whatever data it has: ErrNoAccess, ErrNotFound,
// ErrStale, ErrDeclined, a rate limit's *transport.StatusError or the server's own message.
func (c *Client) GraphQL(ctx context.Context, api *gh.Client, query string, vars map[string]any, data any) error {
	req, err := api.NewRequest(http.MethodPost, c.graphql.String(),
		map[string]any{"query": query, "variables": vars})
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []graphQLError  `json:"errors"`
	}
	resp, err := api.Do(ctx, req, &answer)
	if err != nil {
		return err
	}
	if len(answer.Errors) > 0 && strings.HasPrefix(answer.Errors[0].Type, "RATE_LIMIT") { // or RATE_LIMITED
		resp.StatusCode = http.StatusTooManyRequests // what REST would say, with the same headers
		limited := transport.Status(resp.Response)
		limited.Code, limited.Message = http.StatusOK, guard.Line(answer.Errors[0].Message, 300)
		return limited
	}
	if len(answer.Errors) > 0 {
		return answer.Errors[0].asError()
	}
	if len(answer.Data) == 0 {
		return errIncomplete
	}
	return json.Unmarshal(answer.Data, data)
}

type graphQLError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (e graphQLError) asError() error {
	switch e.Type {
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		return fmt.Errorf("%w: %.300q", ErrNoAccess, e.Message)
	case "NOT_FOUND":
		return fmt.Errorf("%w: %.300q", ErrNotFound, e.Message)
	case "STALE_DATA":
		return fmt.Errorf("%w: %.300q", ErrStale, e.Message)
	case "UNPROCESSABLE", "INVALID":
		return fmt.Errorf("%w: %.300q", ErrDeclined, e.Message)
	}
	return errors.New(strconv.Quote(e.Message[:min(len(e.Message), 300)]))
}

// graphQLURL returns the GraphQL address for a REST address: next to it on github.com and
// ghe.com, /api/graphql on an Enterprise Server.
func graphQLURL(rest *url.URL) string {
	at := *rest
	at.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, "/"), "/v3") + "/graphql"
	return at.String()
}

const closingQuery = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      closingIssuesReferences(first: 10) { nodes { number repository { nameWithOwner } } }
    }
  }
}`

// ClosingIssues lists the issues that merging a pull request closes, by keyword or link, as
// owner/repo#12. The list is empty for a pull request against another branch than the
// default. It returns ErrNotFound or ErrNoAccess.
func (c *Client) ClosingIssues(ctx context.Context, ref pull.Ref) ([]string, error) {
	doing := "listing the issues that " + ref.String() + " closes"
	var data struct {
		Repository *struct {
			PullRequest *struct {
				Closes struct {
					Nodes []struct {
						Number     int `json:"number"`
						Repository struct {
							Name string `json:"nameWithOwner"`
						} `json:"repository"`
					} `json:"nodes"`
				} `json:"closingIssuesReferences"`
			} `json:"pullRequest"`
		} `json:"repository"`
	}
	vars := map[string]any{"owner": ref.Owner, "name": ref.Repo, "number": ref.Number}
	if err := c.GraphQL(ctx, c.client(http.MethodPost), closingQuery, vars, &data); err != nil {
		return nil, Wrap(doing, err)
	}
	if data.Repository == nil || data.Repository.PullRequest == nil {
		return nil, Wrap(doing, ErrNotFound)
	}
	var all []string
	for _, n := range data.Repository.PullRequest.Closes.Nodes {
		if n.Number > 0 && n.Repository.Name != "" {
			all = append(all, fmt.Sprintf("%s#%d", n.Repository.Name, n.Number))
		}
	}
	return all, nil
}
