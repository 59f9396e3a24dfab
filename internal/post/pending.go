package post

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/transport"
)

// pending is the state of a review that only its account sees.
const pending = "PENDING"

// maxTries is the number of retries of a write with an unknown outcome.
const maxTries = 3

// poster posts one request: it looks for the review, creates a pending one, looks again and
// submits it. GitHub keeps one pending review per account and pull request, and submits it once.
// So jobs of one account that post the same, or resume a killed job, end up with one review.
type poster struct {
	r    Reader
	w    Writer
	q    Request
	sent bool // a Submit was sent and its outcome is unknown
}

// sighting is the result of a look at the pull request.
type sighting struct {
	posted  Posted
	found   bool
	reviews []github.Review
}

func (s sighting) pending() []github.Review {
	return slices.DeleteFunc(slices.Clone(s.reviews), func(r github.Review) bool { return r.State != pending })
}

// isUnclear reports whether the outcome of a write is unknown.
func isUnclear(err error) bool {
	return errors.Is(err, write.ErrUnknown) || errors.Is(err, write.ErrGone)
}

// post tries until the outcome is known.
func (p *poster) post(ctx context.Context) (Posted, error) {
	var lost error
	for try := range maxTries + 1 {
		most := 0
		if p.q.Tried || lost != nil {
			most = handoff.Settle
		}
		posted, err := p.try(ctx, 2*try, most)
		if !isUnclear(err) {
			if err != nil && lost != nil && problem.Check(err) == 0 {
				err = fmt.Errorf("%w; looking for it: %w", lost, err)
			}
			return posted, err
		}
		lost = err
	}
	return Posted{}, lost
}

// try posts once, after waiting for earlier writes to show. It deletes a pending review that it
// does not submit.
func (p *poster) try(ctx context.Context, least, most int) (Posted, error) {
	s, err := p.lookUntilSettled(ctx, least, most)
	if err == nil && !s.found {
		s, err = p.checkRecords(ctx, s)
	}
	if err != nil || s.found {
		return s.posted, err
	}
	held, s, err := p.hold(ctx, s)
	posted := s.posted
	if err == nil && !s.found {
		posted, err = p.release(ctx, held)
	}
	if held.ID != 0 && posted.URL != held.URL && !isUnclear(err) {
		_ = p.w.DeletePending(context.WithoutCancel(ctx), p.q.Ref, held.ID) // the next job finds what remains
	}
	return posted, err
}

// lookUntilSettled waits up to most seconds for the review to show; after least seconds a pending one is
// enough, because it can be submitted only once.
func (p *poster) lookUntilSettled(ctx context.Context, least, most int) (sighting, error) {
	for second := 0; ; second++ {
		s, err := p.look(ctx)
		if err != nil || s.found || second >= most || second >= least && slices.ContainsFunc(s.pending(), p.isTwin) {
			return s, err
		}
		if err := transport.Sleep(ctx, time.Second); err != nil {
			return s, err
		}
	}
}

// look lists the reviews and finds ours if it is posted.
func (p *poster) look(ctx context.Context) (s sighting, err error) {
	if s.reviews, err = p.r.Reviews(ctx, p.q.Ref); err == nil {
		s.posted, s.found, err = Look(ctx, listedReader{p.r, s.reviews}, p.q)
		s.posted.Before = s.found && !p.sent
	}
	return s, err
}

// listedReader is a Reader whose reviews are already listed.
type listedReader struct {
	Reader
	reviews []github.Review
}

func (l listedReader) Reviews(context.Context, pull.Ref) ([]github.Review, error) {
	return l.reviews, nil
}

// checkRecords checks whether another decision takes precedence, and whether a record names an existing
// review.
func (p *poster) checkRecords(ctx context.Context, s sighting) (sighting, error) {
	if p.q.Race == nil {
		return s, nil
	}
	on, err := p.q.Race.Claims(ctx)
	if err == nil {
		err = handoff.Governed(on, p.q.Race.Record)
	}
	if err != nil {
		return s, err
	}
	return p.findRecorded(on, s)
}

// findRecorded finds the review that the same decision's record names, whatever its current text and
// whoever posted it.
func (p *poster) findRecorded(on []handoff.Claim, s sighting) (sighting, error) {
	for _, c := range on {
		i := slices.IndexFunc(s.reviews, func(r github.Review) bool {
			have, _ := marker.Parse(r.Body)
			return c.Record.Thread == p.q.Thread && c.Record.Review == r.ID && r.State != pending &&
				p.q.barsPosting(r, have)
		})
		if i < 0 {
			continue
		}
		if !c.Record.Same(p.q.Race.Record) {
			return s, anotherPosted(s.reviews[i])
		}
		s.posted, s.found = Posted{URL: s.reviews[i].URL, Before: !p.sent}, true
		break
	}
	return s, nil
}

// isTwin reports whether a pending review's marker names the review to be posted.
func (p *poster) isTwin(r github.Review) bool {
	have, _ := marker.Parse(r.Body)
	return have.Same(p.q.identity())
}

// hold returns the pending review to submit: one that another job created for the same decision,
// or else a new one. It waits for any other that is in the way, as long as that one's job may
// take, and then deletes it if that does no harm. It polls less often during a long wait, because
// a job's token has a thousand requests an hour.
func (p *poster) hold(ctx context.Context, s sighting) (held github.Review, _ sighting, err error) {
	newest, most, cleared := int64(0), handoff.Settle, false
	for second, step := 0, 1; ; second += step {
		if held, err = p.adopt(ctx, s); err != nil || held.ID != 0 {
			return held, s, err
		}
		if len(s.pending()) == 0 {
			if held, err = p.create(ctx); !errors.Is(err, write.ErrPending) {
				return p.preferOlder(ctx, held, err)
			}
		}
		for _, r := range s.pending() {
			if r.ID <= newest {
				continue
			}
			if newest, second, most, cleared = r.ID, 0, handoff.Settle, false; p.fromOtherInstance(r) {
				most = handoff.Patience
			}
		}
		switch {
		case second >= most+handoff.Settle:
			err = p.blockedError(s.pending()...)
		case second >= most && !cleared:
			cleared = true
			if s, err = p.checkRecords(ctx, s); err == nil && !s.found { // its owner may have decided by now
				err = p.clear(ctx, s)
			}
		default:
			err = nil
		}
		if step = 1; second >= handoff.Settle && second < most {
			step = handoff.Pace
		}
		if err == nil && !s.found {
			err = transport.Sleep(ctx, time.Duration(step)*time.Second)
		}
		if err != nil || s.found {
			return held, s, err
		}
		if s, err = p.look(ctx); err != nil || s.found {
			return held, s, err
		}
	}
}

// fromOtherInstance reports whether a pending review belongs to another instance's draft of this commit,
// whose job may be waiting for its turn.
func (p *poster) fromOtherInstance(r github.Review) bool {
	have, ours := marker.Parse(r.Body)
	return ours && have.Thread != p.q.Thread && strings.HasSuffix(have.Thread, ":"+p.q.Commit)
}

// adopt returns the oldest pending review that is complete and equals the one to post.
func (p *poster) adopt(ctx context.Context, s sighting) (github.Review, error) {
	for _, r := range s.pending() {
		if !p.isTwin(r) {
			continue
		}
		comments, err := p.r.CommentsOf(ctx, p.q.Ref, r.ID)
		if err != nil && !errors.Is(err, github.ErrNotFound) {
			return github.Review{}, err
		}
		if err == nil && (p.matchesForm(p.q.Review, r, comments) || p.matchesForm(p.q.Review.InBody(), r, comments)) {
			return r, nil
		}
	}
	return github.Review{}, nil
}

// matchesForm reports whether a pending review matches one form of the review exactly (P2).
func (p *poster) matchesForm(form render.Review, r github.Review, comments []github.ReviewComment) bool {
	body, want := renderMarked(form)
	var said, have []string
	for _, c := range want {
		said = append(said, c.Path+"\n"+strings.TrimSpace(c.Body))
	}
	for _, c := range comments {
		have = append(have, c.Path+"\n"+strings.TrimSpace(c.Body))
	}
	slices.Sort(said)
	slices.Sort(have)
	return strings.HasPrefix(r.Body, strings.TrimRight(body, "\n")) && slices.Equal(said, have)
}

// create creates the pending review, with all findings in the body if GitHub refuses the comments.
func (p *poster) create(ctx context.Context) (github.Review, error) {
	held, err := p.send(ctx, p.q.Review)
	if errors.Is(err, write.ErrRefused) && hasInline(p.q.Review) {
		return p.send(ctx, p.q.Review.InBody())
	}
	return held, err
}

// send creates one form of the review as pending, if the pull request has not moved.
func (p *poster) send(ctx context.Context, form render.Review) (github.Review, error) {
	if err := p.checkUnmoved(ctx); err != nil {
		return github.Review{}, err
	}
	body, comments := renderMarked(form)
	body = render.Posted(body, render.Approval(p.q.Decision, p.q.Review.Rules), p.q.marker(form))
	id, url, err := p.w.CreatePending(ctx, p.q.Ref, p.q.Commit, body, comments)
	return github.Review{ID: id, URL: url, Body: body}, err
}

// preferOlder looks again after a review was created. If GitHub accepted two at once, all jobs take the
// older one.
func (p *poster) preferOlder(ctx context.Context, made github.Review, err error) (held github.Review, s sighting,
	_ error) {
	if err != nil {
		return made, s, err
	}
	if s, err = p.look(ctx); err != nil || s.found {
		return made, s, err
	}
	s.reviews = slices.DeleteFunc(s.reviews, func(r github.Review) bool { return r.ID >= made.ID })
	older, err := p.adopt(ctx, s)
	if err != nil || older.ID == 0 {
		return made, s, err
	}
	if err = p.w.DeletePending(ctx, p.q.Ref, made.ID); errors.Is(err, write.ErrGone) {
		err = nil
	}
	return older, s, err
}

// clear deletes what a job of ours left of another review, and empty reviews, which an interrupted
// write leaves. Anything else belongs to a person.
func (p *poster) clear(ctx context.Context, s sighting) error {
	for _, r := range s.pending() {
		if _, ours := marker.Parse(r.Body); !ours {
			comments, err := p.r.CommentsOf(ctx, p.q.Ref, r.ID)
			if err != nil && !errors.Is(err, github.ErrNotFound) {
				return err
			}
			if strings.TrimSpace(r.Body) != "" || len(comments) > 0 {
				return p.blockedError(r)
			}
		}
		if err := p.w.DeletePending(ctx, p.q.Ref, r.ID); err != nil && !errors.Is(err, write.ErrGone) {
			return err
		}
	}
	return nil
}

// blockedError returns an error that names the pending reviews in the way, and how to delete them.
func (p *poster) blockedError(by ...github.Review) error {
	shown := &problem.Error{What: "a pending review of this token's account is in the way, nothing was posted"}
	next := "the draft still waits: submit that review or delete it, then decide the same again"
	for _, r := range by {
		shown.Rows = append(shown.Rows, problem.At(r.URL))
		next += fmt.Sprintf("; for a job's account in a workflow, with its GITHUB_TOKEN: gh api -X DELETE "+
			"repos/%s/pulls/%d/reviews/%d",
			p.q.Ref.FullName(), p.q.Ref.Number, r.ID)
	}
	shown.Rows = append(shown.Rows, [2]string{"next", next})
	return shown
}

// release records the decision with the review's id, waits for its turn and submits, if the pull
// request has not moved.
func (p *poster) release(ctx context.Context, held github.Review) (Posted, error) {
	if p.q.Race != nil {
		if s, err := p.awaitTurn(ctx, held.ID); err != nil || s.found {
			return s.posted, err
		}
	}
	if err := p.checkUnmoved(ctx); err != nil {
		return Posted{}, err
	}
	url, err := p.w.Submit(ctx, p.q.Ref, held.ID, held.Body)
	p.sent = p.sent || errors.Is(err, write.ErrUnknown)
	if err != nil {
		return Posted{}, err
	}
	return Posted{URL: cmp.Or(url, held.URL)}, nil
}

// awaitTurn waits until this job may submit. A review seen while waiting counts, even if a later
// listing is older.
func (p *poster) awaitTurn(ctx context.Context, review int64) (s sighting, err error) {
	race := *p.q.Race
	race.Record.Review = review
	race.Posted = func(ctx context.Context, on []handoff.Claim) (bool, error) {
		if s, err = p.look(ctx); err == nil && !s.found {
			s, err = p.findRecorded(on, s)
		}
		return s.found, err
	}
	if race.Claim != nil {
		err = race.Claim(ctx, race.Record)
	}
	if err == nil {
		err = handoff.Turn(ctx, race)
	}
	return s, err
}
