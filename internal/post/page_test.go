package post_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
)

// page is a pull request: it keeps the reviews that were made on it, as GitHub does.
type page struct {
	now     pull.Pull // the pull request; open at the reviewed head where zero
	reviews []github.Review
	writes  []write.Comment // of pending reviews too
	refuse  error           // of a review with comments
	lost    []error         // of the next writes, nil for none; fail says whether they take effect
	fail    bool
	broken  error     // of reading
	posts   int       // writes that were tried
	moves   time.Time // when somebody pushes
}

func (p *page) Pull(context.Context, pull.Ref) (pull.Pull, error) {
	switch {
	case !p.moves.IsZero() && time.Now().After(p.moves):
		p.now = pull.Pull{State: "open", HeadSHA: strings.Repeat("cd", 20)}
	case p.now.HeadSHA == "":
		p.now = pull.Pull{State: "open", HeadSHA: head}
	}
	return p.now, p.broken
}

// Stands believes every bot's marker.
func (p *page) Stands(_ context.Context, r github.Review, _ marker.Review) (bool, error) {
	return r.UserType == "Bot", p.broken
}

func (p *page) Reviews(context.Context, pull.Ref) ([]github.Review, error) {
	return slices.Clone(p.reviews), p.broken
}

func (p *page) CommentsOf(context.Context, pull.Ref, int64) (list []github.ReviewComment, _ error) {
	for _, c := range p.writes {
		list = append(list, github.ReviewComment{Path: c.Path, Body: c.Body})
	}
	return list, p.broken
}

// write does what a write does, unless it fails, and loses its answer.
func (p *page) write(do func()) error {
	p.posts++
	var lost error
	if len(p.lost) > 0 {
		lost, p.lost = p.lost[0], p.lost[1:]
	}
	if lost == nil || !p.fail {
		do()
	}
	return lost
}

func (p *page) CreatePending(_ context.Context, to pull.Ref, commit, body string,
	comments []write.Comment) (int64, string, error) {
	if p.at("") >= 0 {
		return 0, "", write.ErrPending
	}
	if p.refuse != nil && len(comments) > 0 {
		return 0, "", p.refuse
	}
	id := int64(len(p.reviews) + 1)
	r := github.Review{ID: id, Body: body, UserType: "Bot", CommitID: commit, State: "PENDING",
		URL: fmt.Sprintf("https://x/%s/%d", to.FullName(), id)}
	if err := p.write(func() {
		p.reviews, p.writes = append(p.reviews, r), append(p.writes, comments...)
	}); err != nil {
		return 0, "", err
	}
	return id, r.URL, nil
}

// at is where the pending review is, of an address where one is given.
func (p *page) at(id string) int {
	return slices.IndexFunc(p.reviews, func(r github.Review) bool {
		return r.State == "PENDING" && (id == "" || fmt.Sprint(r.ID) == id)
	})
}

func (p *page) Submit(_ context.Context, _ pull.Ref, id int64, body string) (string, error) {
	i := p.at(fmt.Sprint(id))
	if i < 0 {
		return "", write.ErrGone
	}
	err := p.write(func() { p.reviews[i].State, p.reviews[i].Body = "COMMENTED", body })
	return p.reviews[i].URL, err
}

func (p *page) DeletePending(_ context.Context, _ pull.Ref, id int64) error {
	i := p.at(fmt.Sprint(id))
	if i < 0 {
		return write.ErrGone
	}
	p.reviews, p.writes = slices.Delete(p.reviews, i, i+1), nil
	return nil
}

// overtaken is a page on which another process posts right before a creation.
type overtaken struct{ *page }

func (o overtaken) CreatePending(ctx context.Context, to pull.Ref, commit, body string,
	comments []write.Comment) (int64, string, error) {
	if _, err := post.Review(ctx, o.page, o.page, request()); err != nil {
		return 0, "", err
	}
	return o.page.CreatePending(ctx, to, commit, body, comments)
}

// keeps is a page of a job that dies before it can take its review away.
type keeps struct{ *page }

func (keeps) DeletePending(context.Context, pull.Ref, int64) error { return errors.New("dead") }
