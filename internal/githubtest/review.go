package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Review is a review as it was posted.
type Review struct {
	ID       int64
	User     string
	State    string // COMMENTED, APPROVED or PENDING
	Body     string
	CommitID string
	URL      string // html_url
	Comments []Comment
	At       time.Time

	pull *Pull
}

// Reviews are the reviews of the pull request, pending ones included.
func (p *Pull) Reviews() []Review {
	defer p.repo.s.lock()()
	var out []Review
	for _, r := range p.reviews {
		v := *r
		v.Comments = slices.Clone(r.Comments)
		out = append(out, v)
	}
	return out
}

// AddReview puts a review there as if the user had posted it.
func (p *Pull) AddReview(login, body string, comments ...Comment) Review {
	defer p.repo.s.lock()()
	return *p.addReview(login, "COMMENTED", body, p.head.sha, comments)
}

// AddPending puts a pending review there as if the user had begun it.
func (p *Pull) AddPending(login, body string, comments ...Comment) Review {
	defer p.repo.s.lock()()
	return *p.addReview(login, "PENDING", body, p.head.sha, comments)
}

// EditReview changes the text of a review as its author, or an administrator, may.
func (p *Pull) EditReview(id int64, body string) {
	defer p.repo.s.lock()()
	for _, r := range p.reviews {
		if r.ID == id {
			r.Body = body
		}
	}
}

// Approve puts an approval there as if the user had posted it.
func (p *Pull) Approve(login, body string) Review {
	defer p.repo.s.lock()()
	return *p.addReview(login, "APPROVED", body, p.head.sha, nil)
}

func (p *Pull) addReview(login, state, body, sha string, comments []Comment) *Review {
	s := p.repo.s
	r := &Review{ID: s.nextID(), User: s.user(login).Login, State: state, Body: body, CommitID: sha, At: s.now(),
		Comments: comments, pull: p}
	r.URL = fmt.Sprintf("%s#pullrequestreview-%d", p.webURL(), r.ID)
	for i := range r.Comments {
		r.Comments[i].ID = s.nextID()
	}
	p.reviews = append(p.reviews, r)
	if state != "PENDING" {
		p.updated = s.now()
	}
	return r
}

func (r *Review) json() object {
	p := r.pull
	v := object{
		"id": r.ID, "user": p.repo.s.author(r.User), "body": r.Body, "state": r.State, "html_url": r.URL,
		"pull_request_url": p.apiURL(),
		"commit_id":        r.CommitID, "author_association": p.repo.association(r.User),
	}
	if r.State != "PENDING" {
		v["submitted_at"] = stamp(r.At)
	}
	return v
}

// visible are the reviews that an identity sees: pending ones only its own.
func (p *Pull) visible(who *identity) []*Review {
	return slices.DeleteFunc(slices.Clone(p.reviews), func(r *Review) bool {
		return r.State == "PENDING" && (who.user == nil || who.user.Login != r.User)
	})
}

func listReviews(c *call, p *Pull) answer { return paged(c, p.visible(c.who), 0, (*Review).json) }

func ofReview(c *call, p *Pull) *Review {
	for _, r := range p.visible(c.who) {
		if fmt.Sprint(r.ID) == c.PathValue("review_id") {
			return r
		}
	}
	return nil
}

func listReviewComments(c *call, p *Pull) answer {
	if r := ofReview(c, p); r != nil {
		return paged(c, r.Comments, 0, r.commentJSON)
	}
	return notFound()
}

func listComments(c *call, p *Pull) answer {
	comments := []object{}
	for _, r := range p.visible(c.who) {
		if r.State != "PENDING" {
			comments = append(comments, list(r.Comments, r.commentJSON)...)
		}
	}
	return paged(c, comments, 0, func(o object) object { return o })
}

// reviewRequest is the body of a POST.
type reviewRequest struct {
	CommitID string    `json:"commit_id"`
	Body     string    `json:"body"`
	Event    string    `json:"event"`
	Comments []Comment `json:"comments"`
}

// createReview stores a review whole or not at all.
func createReview(c *call, p *Pull) answer {
	if c.who.kind == "none" {
		return c.forbidden()
	}
	var q reviewRequest
	c.read(&q)
	if reasons := p.refuse(&q, c.who); len(reasons) > 0 {
		return refusal(http.StatusUnprocessableEntity, "Unprocessable Entity", reasons...)
	}
	return ok(p.addReview(c.who.user.Login, states[q.Event], q.Body, q.CommitID, q.Comments).json())
}

// states are what events make of a review.
var states = map[string]string{"": "PENDING", "COMMENT": "COMMENTED"}

// submitReview lets a pending review out, with another body where one is sent.
// Whether a COMMENT may do without one is not known, so it may not here.
func submitReview(c *call, p *Pull) answer {
	var q reviewRequest
	c.read(&q)
	r := ofReview(c, p)
	switch {
	case r == nil:
		return notFound()
	case r.State != "PENDING":
		return refusal(http.StatusUnprocessableEntity, "Unprocessable Entity", "Review has already been submitted.")
	}
	if reasons := q.refuse(); len(reasons) > 0 {
		return refusal(http.StatusUnprocessableEntity, "Unprocessable Entity", reasons...)
	}
	r.State, r.Body, r.At = states[q.Event], q.Body, p.repo.s.now()
	p.updated = r.At
	return ok(r.json())
}

// deleteReview takes a pending review away.
func deleteReview(c *call, p *Pull) answer {
	r := ofReview(c, p)
	switch {
	case r == nil:
		return notFound()
	case r.State != "PENDING":
		return refusal(http.StatusUnprocessableEntity, "Can not delete a non-pending pull request review")
	}
	p.reviews = slices.DeleteFunc(p.reviews, func(o *Review) bool { return o == r })
	return ok(r.json())
}

// maxBody is the limit of a body. The API names characters; which bodies are
// counted how is not known, so bytes, the stricter reading, are counted here.
const maxBody = 65536

// refuse lists GitHub's reasons against a review. It completes the commit and
// the sides of the comments. While an account has a pending review it can make no
// other one, whatever the event.
func (p *Pull) refuse(q *reviewRequest, who *identity) (reasons []any) {
	no := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if slices.ContainsFunc(p.reviews, func(r *Review) bool {
		return r.State == "PENDING" && r.User == who.user.Login
	}) {
		no("User can only have one pending review per pull request")
	}
	reasons = append(reasons, q.refuse()...)
	q.CommitID = or(q.CommitID, p.head.sha)
	head := p.repo.objects.commits[q.CommitID]
	if head == nil || head != p.head && !slices.Contains(p.commits(), head) {
		no("The commit_id is not part of the pull request")
		return reasons
	}
	files := p.files()
	if head != p.head {
		files = p.filesAt(head)
	}
	for i := range q.Comments {
		for _, reason := range q.Comments[i].refuse(files) {
			no("%s", reason)
		}
	}
	return reasons
}

// refuse lists the reasons against an event and its body.
func (q *reviewRequest) refuse() (reasons []any) {
	no := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	switch {
	case states[q.Event] == "":
		no("the event %s is not known here: a review says something, and no more", q.Event)
	case strings.TrimSpace(q.Body) == "" && q.Event == "COMMENT":
		no("Body can't be blank")
	}
	if len(q.Body) > maxBody {
		no("Body is too long (maximum is %d characters)", maxBody)
	}
	return reasons
}

// Refusals are the reasons for which createReview turns comments on files away,
// none where all of them may stand. It is the answer without the request.
func Refusals(files []File, comments ...Comment) (reasons []string) {
	for _, k := range comments {
		reasons = append(reasons, k.refuse(files)...)
	}
	return reasons
}

// refuse lists the reasons against a comment and finds its hunk.
func (k *Comment) refuse(files []File) []string {
	const thread = "Pull request review thread "
	switch {
	case strings.TrimSpace(k.Body) == "":
		return []string{"Body can't be blank"}
	case len(k.Body) > maxBody:
		return []string{fmt.Sprintf("Body is too long (maximum is %d characters)", maxBody)}
	}
	at := slices.IndexFunc(files, func(f File) bool { return f.Path == k.Path })
	if at < 0 {
		return []string{"Path could not be resolved"}
	}
	k.Side = or(k.Side, "RIGHT")
	right, hunks := places(files[at].Patch, k.Side)
	end, found := right[k.Line]
	if !found {
		return []string{thread + "line must be part of the diff", thread + "diff hunk can't be blank"}
	}
	k.hunk = hunks[end.hunk-1]
	if k.StartLine == 0 {
		return nil
	}
	startPlaces, _ := places(files[at].Patch, or(k.StartSide, k.Side))
	start, found := startPlaces[k.StartLine]
	switch {
	case !found:
		return []string{thread + "start line must be part of the diff"}
	case start.hunk != end.hunk:
		return []string{thread + "start line must be part of the same hunk as the line."}
	case start.position >= end.position:
		return []string{thread + "start line must precede the end line."}
	}
	return nil
}
