package githubtest

import (
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// issue is an issue that is no pull request, with what was said under it.
type issue struct {
	number              int
	title, body, author string
	at                  time.Time
	remarks             []remark
}

// remark is a comment of a conversation.
type remark struct {
	id           int64
	author, body string
	at           time.Time
}

// AddIssue opens an issue under a number, which no pull request may have.
func (r *Repo) AddIssue(number int, author, title, body string) {
	defer r.s.lock()()
	r.s.user(author)
	r.issues[number] = &issue{number, title, body, author, r.s.now(), nil}
}

// Comment puts a comment under the pull request's conversation.
func (p *Pull) Comment(login, body string) {
	p.set(func() {
		p.repo.s.user(login)
		p.remarks = append(p.remarks, remark{p.repo.s.nextID(), login, body, p.repo.s.now()})
	})
}

// getIssue answers issues and pull requests, which are issues too.
func getIssue(c *call) answer {
	n := number(c.PathValue("issue_number"))
	if p := c.repo.pulls[n]; p != nil {
		v := c.repo.issueJSON(issue{n, p.options.Title, p.options.Body, p.options.Author, p.created, nil}, p.state)
		v["pull_request"] = object{"url": p.apiURL(), "html_url": p.webURL()}
		return ok(v)
	}
	if found := c.repo.issues[n]; found != nil {
		return ok(c.repo.issueJSON(*found, "open"))
	}
	return refusal(http.StatusNotFound, "Not Found")
}

func (r *Repo) issueJSON(i issue, state string) object {
	return object{
		"id": i.number, "number": i.number, "title": i.title, "body": null(i.body), "state": state,
		"user":               r.s.author(i.author),
		"author_association": r.association(i.author), "created_at": stamp(i.at), "updated_at": stamp(i.at),
		"html_url": fmt.Sprintf("%s/%s/issues/%d", r.s.WebURL, r.FullName(), i.number),
		"url":      fmt.Sprintf("%s/repos/%s/issues/%d", r.s.URL, r.FullName(), i.number),
	}
}

// remarks are the comments of the conversation that a path names, and where it is
// read; nil where there is none.
func (c *call) remarks() (*[]remark, string) {
	n := number(c.PathValue("issue_number"))
	if p := c.repo.pulls[n]; p != nil {
		return &p.remarks, p.webURL()
	}
	if i := c.repo.issues[n]; i != nil {
		return &i.remarks, fmt.Sprintf("%s/%s/issues/%d", c.s.WebURL, c.repo.FullName(), n)
	}
	return nil, ""
}

func (c *call) remarkJSON(k remark, page string) object {
	return object{
		"id": k.id, "body": k.body, "user": c.s.author(k.author), "created_at": stamp(k.at),
		"updated_at":         stamp(k.at),
		"author_association": c.repo.association(k.author),
		"html_url":           fmt.Sprintf("%s#issuecomment-%d", page, k.id),
	}
}

func listRemarks(c *call) answer {
	said, at := c.remarks()
	if said == nil {
		return notFound()
	}
	return paged(c, *said, 0, func(k remark) object { return c.remarkJSON(k, at) })
}

func createRemark(c *call) answer {
	said, at := c.remarks()
	var q struct{ Body string }
	c.read(&q)
	if said == nil {
		return notFound()
	}
	k := remark{c.s.nextID(), c.who.user.Login, q.Body, c.s.now()}
	*said = append(*said, k)
	return answer{status: http.StatusCreated, value: c.remarkJSON(k, at)}
}

// Said are the comments under an issue, oldest first.
func (r *Repo) Said(number int) (all []string) {
	defer r.s.lock()()
	for _, k := range r.issues[number].remarks {
		all = append(all, k.body)
	}
	return all
}

var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):? #([1-9][0-9]*)`)

// closes are the issues that a pull request into the default branch closes, as far
// as its description says so.
func (c *call) closes(r *Repo, n int) answer {
	if r == nil || !c.who.sees(r) || r.pulls[n] == nil {
		return graphQLError("NOT_FOUND", "Could not resolve to a PullRequest")
	}
	nodes := []object{}
	for _, m := range closing.FindAllStringSubmatch(r.pulls[n].options.Body, -1) {
		if number := number(m[1]); r.issues[number] != nil && r.pulls[n].options.Base == r.defaultBranch {
			nodes = append(nodes, object{"number": number, "repository": object{"nameWithOwner": r.FullName()}})
		}
	}
	return ok(object{"data": object{"repository": object{"pullRequest": object{
		"closingIssuesReferences": object{"nodes": nodes}}}}})
}
