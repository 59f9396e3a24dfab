package githubtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// serveGraphQL answers the requests of GraphQL that this server knows: whose token
// it is, the threads on a pull request's diff, resolving one, and a commit.
func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	s.exchange(w, r, "api", func(c *call) answer {
		if c.who.kind == "runtime" || c.who.kind == "bad" || c.who.kind == "none" {
			return refusal(http.StatusUnauthorized, "Bad credentials")
		}
		var q struct {
			Query     string `json:"query"`
			Variables struct {
				Owner, Name, After, ID string
				Number                 int
			} `json:"variables"`
		}
		if err := json.Unmarshal(c.body, &q); err != nil {
			return refusal(http.StatusBadRequest, "Problems parsing JSON")
		}
		switch v := q.Variables; {
		case q.Query == "query { viewer { login } }": // an installation too has one, as gh auth status shows in a job
			return ok(object{"data": object{"viewer": object{"login": c.who.user.Login}}})
		case strings.HasPrefix(q.Query, "query(") && strings.Contains(q.Query, "reviewThreads(first: 100"):
			return c.threads(s.repos[strings.ToLower(v.Owner+"/"+v.Name)], v.Number, number(v.After))
		case strings.HasPrefix(q.Query, "query(") && strings.Contains(q.Query, "closingIssuesReferences(first: 10)"):
			return c.closes(s.repos[strings.ToLower(v.Owner+"/"+v.Name)], v.Number)
		case strings.HasPrefix(q.Query, "mutation(") && strings.Contains(q.Query, "resolveReviewThread("):
			return c.resolve(v.ID)
		case strings.HasPrefix(q.Query, "mutation(") && strings.Contains(q.Query, "createCommitOnBranch("):
			return c.commitOnBranch(c.body)
		}
		s.violation("GraphQL: %.200q is not known here", q.Query)
		return graphQLError("undefinedField", "Field doesn't exist")
	})
}

func graphQLError(kind, message string) answer {
	return ok(object{"data": nil, "errors": []object{{"type": kind, "message": message}}})
}

// threads is a page of a hundred threads behind the first so many.
func (c *call) threads(r *Repo, n, after int) answer {
	if r == nil || !c.who.sees(r) || r.pulls[n] == nil {
		return graphQLError("NOT_FOUND", "Could not resolve to a PullRequest")
	}
	if !c.who.may(r, []string{"pull_requests:read"}) {
		return graphQLError("FORBIDDEN", "Resource not accessible by integration")
	}
	all := r.pulls[n].threads()
	end := min(after+100, len(all))
	nodes := []object{}
	for _, t := range all[min(after, end):end] {
		own := c.who.user != nil && t.review.User == c.who.user.Login
		first := object{"fullDatabaseId": strconv.FormatInt(t.first.ID, 10), "viewerDidAuthor": own}
		nodes = append(nodes, object{"id": t.id(), "isResolved": t.first.Resolved, "resolvedBy": t.first.closer(),
			"comments": object{"totalCount": 1 + t.answers, "nodes": []object{first}}})
	}
	page := object{"hasNextPage": end < len(all), "endCursor": strconv.Itoa(end)}
	list := object{"pageInfo": page, "nodes": nodes}
	return ok(object{"data": object{"repository": object{"pullRequest": object{"reviewThreads": list}}}})
}

// resolve marks a thread as resolved. An app's token needs the right to write
// contents too, as others have found out: no page of GitHub's says it.
func (c *call) resolve(id string) answer {
	for _, r := range c.s.repos {
		for _, p := range r.pulls {
			for _, t := range p.threads() {
				if t.id() != id || !c.who.sees(r) {
					continue
				}
				if !c.who.may(r, []string{"pull_requests:write"}) || !c.who.may(r, []string{"contents:write"}) {
					return graphQLError("FORBIDDEN", "Resource not accessible by integration")
				}
				t.first.Resolved, t.first.ResolvedBy = true, c.who.user.Login
				return ok(object{"data": object{"resolveReviewThread": object{"thread": object{"id": id,
					"isResolved": true}}}})
			}
		}
	}
	return graphQLError("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
}

// thread is a comment on the diff with what answers it.
type thread struct {
	review  *Review
	first   *Comment
	answers int
}

func (t thread) id() string { return "PRRT_" + strconv.FormatInt(t.first.ID, 10) }

func (p *Pull) threads() []*thread {
	var all []*thread
	opened := map[int64]*thread{}
	for _, r := range p.reviews {
		for i := range r.Comments {
			k := &r.Comments[i]
			switch t := opened[k.ReplyTo]; {
			case r.State == "PENDING":
			case t != nil:
				t.answers++
			default:
				t = &thread{review: r, first: k}
				opened[k.ID] = t
				all = append(all, t)
			}
		}
	}
	return all
}

// closer is the user who resolved the thread; of an app GitHub tells none.
func (k *Comment) closer() object {
	if k.ResolvedBy == "" || strings.HasSuffix(k.ResolvedBy, "[bot]") {
		return nil
	}
	return object{"login": k.ResolvedBy}
}

// ResolveThread closes the thread that a comment opened, as somebody does on the page;
// an empty login opens it again.
func (p *Pull) ResolveThread(id int64, login string) {
	p.set(func() {
		for _, t := range p.threads() {
			if t.first.ID == id {
				t.first.Resolved, t.first.ResolvedBy = login != "", login
			}
		}
	})
}

// EditComment changes the text of a comment, as who may write can.
func (p *Pull) EditComment(id int64, body string) {
	p.set(func() {
		for _, r := range p.reviews {
			for i := range r.Comments {
				if r.Comments[i].ID == id {
					r.Comments[i].Body = body
				}
			}
		}
	})
}
