package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Review is a posted or pending review.
type Review struct {
	ID       int64
	User     string
	State    string // COMMENTED, APPROVED or PENDING
	Body     string
	CommitID string
	URL      string // html_url
	Comments []Comment
	At       time.Time
}

type reviews struct {
	*change
	all []*Review
}

// Reviews returns the reviews of the pull request, pending ones included.
func (p *reviews) Reviews() (out []Review) {
	defer p.repo.Host.Lock()()
	for _, r := range p.all {
		v := *r
		v.Comments = slices.Clone(r.Comments)
		out = append(out, v)
	}
	return out
}

// AddReview adds a review as if the user had posted it.
func (p *reviews) AddReview(login, body string, comments ...Comment) Review {
	return p.Put(Review{User: login, State: "COMMENTED", Body: body, Comments: comments})
}

// Put adds a review as if its user had begun or posted it.
func (p *reviews) Put(r Review) Review {
	defer p.repo.Host.Lock()()
	r.CommitID = p.head.SHA
	return *p.add(r)
}

func (p *reviews) add(r Review) *Review {
	h := p.repo.Host
	r.ID, r.At, r.User = h.NextID(), h.Now(), h.User(r.User).Login
	r.URL = fmt.Sprintf("%s#pullrequestreview-%d", p.page, r.ID)
	for i := range r.Comments {
		r.Comments[i].ID = h.NextID()
	}
	p.all = append(p.all, &r)
	if r.State != "PENDING" {
		p.updated = r.At
	}
	return &r
}

// EditReview changes the text of a review, as its author or an administrator may.
func (p *reviews) EditReview(id int64, body string) {
	p.set(func() {
		for _, r := range p.all {
			if r.ID == id {
				r.Body = body
			}
		}
	})
}

// ChangeComment changes a comment, such as its text, as anybody with write access may.
func (p *reviews) ChangeComment(id int64, change func(*Comment)) {
	p.set(func() {
		for _, r := range p.all {
			for i := range r.Comments {
				if r.Comments[i].ID == id {
					change(&r.Comments[i])
				}
			}
		}
	})
}

// ResolveThread resolves the thread that a comment opened, like a user on the page; an empty login opens it again.
func (p *reviews) ResolveThread(id int64, login string) {
	p.ChangeComment(id, func(k *Comment) { k.Resolved, k.ResolvedBy = login != "", login })
}

func (p *reviews) json(r *Review) object {
	v := object{
		"id": r.ID, "user": p.repo.Host.Author(r.User), "body": r.Body, "state": r.State, "html_url": r.URL,
		"pull_request_url": p.repo.Address("/pulls/%d", p.Number), "commit_id": r.CommitID,
		"author_association": p.repo.Association(r.User),
	}
	if r.State != "PENDING" {
		v["submitted_at"] = fakehttp.Stamp(r.At)
	}
	return v
}

func (p *reviews) comments(r *Review) []object {
	return fakehttp.List(r.Comments, func(k Comment) object {
		v := object{
			"id": k.ID, "pull_request_review_id": r.ID, "path": k.Path, "body": k.Body,
			"diff_hunk": p.hunkOf(k, r.CommitID), "user": p.repo.Host.Author(r.User),
			"commit_id": r.CommitID, "original_commit_id": r.CommitID, "created_at": fakehttp.Stamp(r.At),
			"updated_at": fakehttp.Stamp(r.At), "html_url": fmt.Sprintf("%s#discussion_r%d", p.page, k.ID),
			"pull_request_url":   p.repo.Address("/pulls/%d", p.Number),
			"author_association": p.repo.Association(r.User),
		}
		if k.ReplyTo > 0 {
			v["in_reply_to_id"] = k.ReplyTo
		}
		p.setPlace(v, k, r.CommitID)
		return v
	})
}

// visible returns the reviews that a call sees: pending ones only of its own account.
func (p *reviews) visible(c *call) []*Review {
	return slices.DeleteFunc(slices.Clone(p.all), func(r *Review) bool {
		return r.State == "PENDING" && !c.Who.Is(r.User)
	})
}

func (p *reviews) list(c *call) answer { return fakehttp.Paged(c.Request, p.visible(c), p.json) }

func (p *reviews) listComments(c *call) answer {
	all := []object{}
	for _, r := range p.visible(c) {
		if r.State != "PENDING" {
			all = append(all, p.comments(r)...)
		}
	}
	return fakehttp.Paged(c.Request, all, maps.Clone[object])
}

func ofReview(handle func(*Pull, *call, *Review) answer) func(*Pull, *call) answer {
	return func(p *Pull, c *call) answer {
		for _, r := range p.visible(c) {
			if fmt.Sprint(r.ID) == c.PathValue("review_id") {
				return handle(p, c, r)
			}
		}
		return fakehttp.NotFound()
	}
}

func (p *reviews) listCommentsOf(c *call, r *Review) answer {
	return fakehttp.Paged(c.Request, p.comments(r), maps.Clone[object])
}

type reviewRequest struct {
	CommitID string    `json:"commit_id"`
	Body     string    `json:"body"`
	Event    string    `json:"event"`
	Comments []Comment `json:"comments"`
}

// states maps events to a review's state. Other events are not supported: this product's reviews only comment.
var states = map[string]string{"": "PENDING", "COMMENT": "COMMENTED"}

func (p *reviews) create(c *call) answer {
	if c.Who.Kind == "none" {
		return c.Forbidden()
	}
	var q reviewRequest
	c.Read(&q)
	if reasons := p.refuse(c, &q); len(reasons) > 0 {
		return refuseReview(reasons)
	}
	return fakehttp.OK(p.json(p.add(Review{User: c.Who.User.Login, State: states[q.Event], Body: q.Body,
		CommitID: q.CommitID, Comments: q.Comments})))
}

func refuseReview(reasons []string) answer {
	var all []any
	for _, r := range reasons {
		all = append(all, r)
	}
	return fakehttp.Unprocessable("Unprocessable Entity", all...)
}

// submit posts a pending review, with another body if one is sent. It is not known whether a COMMENT may have none,
// so here it may not.
func (p *reviews) submit(c *call, r *Review) answer {
	var q reviewRequest
	if c.Read(&q); r.State != "PENDING" {
		return refuseReview([]string{"Review has already been submitted."})
	}
	if reasons := q.refuse(); len(reasons) > 0 {
		return refuseReview(reasons)
	}
	r.State, r.Body, r.At = states[q.Event], q.Body, p.repo.Host.Now()
	p.updated = r.At
	return fakehttp.OK(p.json(r))
}

func (p *reviews) remove(_ *call, r *Review) answer {
	if r.State != "PENDING" {
		return fakehttp.Unprocessable("Can not delete a non-pending pull request review")
	}
	p.all = slices.DeleteFunc(p.all, func(o *Review) bool { return o == r })
	return fakehttp.OK(p.json(r))
}

// refuse lists GitHub's reasons against a review. It completes the commit and the sides of the comments. While an
// account has a pending review it cannot make another one, whatever the event.
func (p *reviews) refuse(c *call, q *reviewRequest) (reasons []string) {
	if slices.ContainsFunc(p.all, func(r *Review) bool { return r.State == "PENDING" && c.Who.Is(r.User) }) {
		reasons = append(reasons, "User can only have one pending review per pull request")
	}
	reasons = append(reasons, q.refuse()...)
	if q.CommitID == "" {
		q.CommitID = p.head.SHA
	}
	head, files := p.repo.Objects.Commits[q.CommitID], p.files()
	switch {
	case head == p.head:
	case head == nil || !slices.Contains(p.commits(), head):
		return append(reasons, "The commit_id is not part of the pull request")
	default:
		files = p.filesAt(head)
	}
	for i := range q.Comments {
		reasons = append(reasons, q.Comments[i].refuse(files)...)
	}
	return reasons
}

// refuse lists the reasons against an event and its body.
func (q *reviewRequest) refuse() []string {
	if states[q.Event] == "" {
		return []string{"the event " + q.Event + " is not known here"}
	}
	return refuseBody(q.Body, q.Event == "")
}
