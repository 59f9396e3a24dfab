// Package post writes the approved review to the pull request, once.
//
// It is the only step that writes there, and it holds no model. Start reading
// at Review.
package post

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

// Reader reads what is on the pull request already.
type Reader interface {
	Pull(ctx context.Context, ref pull.Ref) (pull.Pull, error)
	Reviews(ctx context.Context, ref pull.Ref) ([]github.Review, error)
	Viewer(ctx context.Context) (github.Viewer, error)
}

// Writer writes one review.
type Writer interface {
	CreateReview(ctx context.Context, ref pull.Ref, commit, body string, comments []write.Comment) (id int64, url string, err error)
}

// Request is an approved review. Review holds the findings as they were
// decided; Digest is the checkpoint's.
type Request struct {
	Ref      pull.Ref
	Commit   string
	Thread   string
	Digest   string
	Review   render.Review
	Approval render.Approval
}

// Posted says where the review stands. Before is set where it had been posted
// earlier and nothing was written now.
type Posted struct {
	URL    string
	Body   string
	Before bool
}

// Review posts the review as one COMMENT at the reviewed commit. Before it
// writes it looks for a review of the same thread by the same author (resume
// check 13), and whether the pull request moved since check 9. Where GitHub refuses the inline comments, all of them are posted
// in the body instead, so that a bad anchor costs nothing else (P7).
func Review(ctx context.Context, r Reader, w Writer, q Request) (Posted, error) {
	marker := render.Marker{Thread: q.Thread, Digest: q.Digest, Approved: Approved(q.Review)}
	earlier, err := earlierReview(ctx, r, q.Ref, marker)
	if err != nil || earlier.Before {
		return earlier, err
	}
	if err := unmoved(ctx, r, q); err != nil {
		return Posted{}, err
	}
	body, comments := Rendered(q.Review)
	body = render.Posted(body, q.Approval, marker)
	_, url, err := w.CreateReview(ctx, q.Ref, q.Commit, body, comments)
	if errors.Is(err, write.ErrRefused) && len(comments) > 0 {
		body, _ = Rendered(q.Review.InBody())
		body = render.Posted(body, q.Approval, marker)
		_, url, err = w.CreateReview(ctx, q.Ref, q.Commit, body, nil)
	}
	if errors.Is(err, write.ErrUnknown) {
		if found, lookErr := earlierReview(ctx, r, q.Ref, marker); lookErr == nil && found.Before {
			return Posted{URL: found.URL, Body: found.Body}, nil // it stands: the answer alone was lost
		}
	}
	return Posted{URL: url, Body: body}, err
}

// unmoved looks at the pull request once more: between the checks and the write
// lie the reading of approvals, decisions and reviews (T24). A push in the last
// moment still leaves the review at the commit that its body names.
func unmoved(ctx context.Context, r Reader, q Request) error {
	now, err := r.Pull(ctx, q.Ref)
	if err != nil {
		return err
	}
	if now.Open() && now.HeadSHA == q.Commit {
		return nil
	}
	return &checkpoint.Refusal{Check: 9, What: fmt.Sprintf("#%d changed while this draft was being posted, nothing was posted", q.Ref.Number), Rows: [][2]string{
		{"draft", fmt.Sprintf("for commit %.7s", q.Commit)},
		{"now", fmt.Sprintf("commit %.7s, %s", now.HeadSHA, now.State)},
		{"next", "decide the draft of the new commit"},
	}}
}

// CheckRecord is the part of resume check 13 that a decision on record answers:
// the same verdict on the same draft may be given again, another one may not.
func CheckRecord(r decision.Record, digest string, now decision.Verdict) error {
	if r.Digest != digest || r.Decision == now {
		return nil
	}
	return &checkpoint.Refusal{Check: 13, What: "this draft was decided otherwise before, nothing was posted", Rows: [][2]string{
		{"where", fmt.Sprintf("%s by %s on %s", r.Decision, r.By, r.At.Format("2 January 2006, 15:04 MST"))},
		{"next", "a draft is decided once; push a new commit for a new review"},
	}}
}

// Rendered gives the body and the inline comments of a review as they are posted.
func Rendered(r render.Review) (body string, comments []write.Comment) {
	for _, f := range r.Findings {
		if f.Placement == finding.Inline {
			comments = append(comments, write.Comment{Path: f.Path, Side: string(f.Side), StartLine: f.StartLine, Line: f.Line, Body: render.Comment(f)})
		}
	}
	return render.Body(r), comments
}

// Approved is the digest of the approved set: body and comments.
func Approved(r render.Review) string {
	body, comments := Rendered(r)
	text, err := json.Marshal(struct {
		Body     string
		Comments []write.Comment
	}{body, comments})
	if err != nil {
		panic(fmt.Sprintf("post: a review of strings and numbers does not encode: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// earlierReview looks for a review of the thread by our own author: the same
// one was posted before, another one refuses this one.
func earlierReview(ctx context.Context, r Reader, ref pull.Ref, want render.Marker) (Posted, error) {
	viewer, err := r.Viewer(ctx)
	if err != nil {
		return Posted{}, err
	}
	reviews, err := r.Reviews(ctx, ref)
	if err != nil {
		return Posted{}, err
	}
	for _, review := range reviews {
		have, ok := render.ParseMarker(review.Body)
		if !ok || have.Thread != want.Thread || !viewer.Wrote(review) {
			continue
		}
		if have == want {
			return Posted{URL: review.URL, Body: review.Body, Before: true}, nil
		}
		return Posted{}, &checkpoint.Refusal{Check: 13, What: "another review of this commit was posted before, nothing was posted now", Rows: [][2]string{
			{"where", review.URL},
			{"next", "a commit is reviewed once; push a new one for a new review"},
		}}
	}
	return Posted{}, nil
}
