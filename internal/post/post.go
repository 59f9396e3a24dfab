// Package post writes the approved review to the pull request, once.
//
// It is the only step that writes there, and it contains no model. It performs the part of resume
// check 13 that looks at the pull request. Start reading at Review; poster keeps the review
// pending until it may be seen.
package post

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

// Reader reads the pull request, including pending reviews of its own account. Stands reports
// whether this product posted a review with a marker after a decision.
type Reader interface {
	Pull(ctx context.Context, ref pull.Ref) (pull.Pull, error)
	Reviews(ctx context.Context, ref pull.Ref) ([]github.Review, error)
	CommentsOf(ctx context.Context, ref pull.Ref, review int64) ([]github.ReviewComment, error)
	Stands(ctx context.Context, r github.Review, m marker.Review) (bool, error)
}

// Writer creates a review that only its account sees, and submits or deletes it.
type Writer interface {
	CreatePending(ctx context.Context, ref pull.Ref, commit, body string, comments []write.Comment) (id int64,
		url string, err error)
	Submit(ctx context.Context, ref pull.Ref, review int64, body string) (url string, err error)
	DeletePending(ctx context.Context, ref pull.Ref, review int64) error
}

// Request is an approved review. Review holds the findings as decided; Digest is the checkpoint's;
// Key seals the marker and may be nil; Race is nil if nobody else can decide; Threads is nil to
// leave the threads of resolved findings alone. Now reads the diff too, and is asked if the base is
// not Base's. Tried means that an earlier process may have written the review and died before it
// could report.
type Request struct {
	Ref      pull.Ref
	Commit   string
	Thread   string
	Diff     string    // the digest of what was reviewed
	Base     pull.Pull // as it was reviewed
	Now      func(context.Context) (Now, error)
	Drafted  time.Time // when; what was posted until then is known to the draft
	Digest   string
	Key      []byte
	Review   render.Review
	Decision decision.Record // the approving decision
	Race     *handoff.Race
	Threads  *Threads
	Tried    bool
}

// Threads reads the threads on the pull request's diff and marks one as resolved.
type Threads struct {
	List    func(ctx context.Context, ref pull.Ref) ([]github.ReviewThread, error)
	Resolve func(ctx context.Context, id string) error
}

// Posted says where the review is. Before is set if it had been posted earlier and nothing was
// written now. Unresolved says why threads of resolved findings stay open; the review is posted
// nevertheless.
type Posted struct {
	URL        string
	Before     bool
	Unresolved error
}

// Review posts the review as one COMMENT at the reviewed commit. It first creates a pending
// review, of which GitHub keeps one per account. It submits that after checking again whether the
// review was posted before, whether another job decides the same draft, and whether the pull
// request moved since check 9. If GitHub refuses the inline comments, all of them are posted in
// the body, so that a bad anchor costs nothing else (P7). A write with an unknown outcome is
// looked for, and retried up to three times.
func Review(ctx context.Context, r Reader, w Writer, q Request) (Posted, error) {
	posted, err := (&poster{r: r, w: w, q: q}).post(ctx)
	if err == nil && q.Threads != nil {
		posted.Unresolved = q.resolveThreads(ctx)
	}
	return posted, err
}

// Rendered returns the body and the inline comments of a review as they are posted.
func Rendered(r render.Review) (body string, comments []write.Comment) {
	for _, f := range r.Findings {
		if f.Placement == finding.Inline {
			comments = append(comments, write.Comment{Path: f.Path, Side: string(f.Side), StartLine: f.StartLine,
				Line: f.Line, Body: render.Comment(f)})
		}
	}
	return render.Body(r), comments
}

// hasInline reports whether the review has inline comments.
func hasInline(r render.Review) bool {
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Placement == finding.Inline })
}

// Approved returns the digest of what was approved: body and comments.
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

// Look is resume check 13 on the pull request: it finds a review that was posted before, by its
// marker. A different review of ours in the thread is a refusal. Look writes nothing, so it also
// tells the outcome of a write if that is unknown.
func Look(ctx context.Context, r Reader, q Request) (Posted, bool, error) {
	reviews, err := ourReviews(ctx, r, q.Ref, q.Thread, q.barsPosting)
	if err != nil || len(reviews) == 0 {
		return Posted{}, false, err
	}
	for _, review := range reviews {
		if have, _ := marker.Parse(review.Body); have.Same(q.identity()) {
			return Posted{URL: review.URL, Before: true}, true, nil
		}
	}
	return Posted{}, false, anotherPosted(reviews[0])
}

func anotherPosted(posted github.Review) error {
	return problem.Refuse(13, "another review of this commit has already been posted, nothing was posted now",
		"a commit is reviewed once; push a new one for a new review, or draft again if its base changed",
		problem.At(posted.URL))
}

// barsPosting reports whether a review of the thread bars another: one of the same diff, or one that was posted after
// this was drafted and may say the same.
func (q Request) barsPosting(r github.Review, m marker.Review) bool {
	return m.MayBeOf(q.Diff) || r.At.After(q.Drafted)
}

// FindPosted finds our review of a thread's diff, whatever was approved in it.
func FindPosted(ctx context.Context, r Reader, ref pull.Ref, thread, diff string) (url string, found bool, err error) {
	url, _, err = FindDraft(ctx, r, ref, thread, diff)
	return url, url != "", err
}

// FindDraft returns the page of our review of a thread's diff and the digest of the draft that it was. Both
// are empty if there is none.
func FindDraft(ctx context.Context, r Reader, ref pull.Ref, thread, diff string) (url, digest string, err error) {
	reviews, err := ourReviews(ctx, r, ref, thread, func(_ github.Review, m marker.Review) bool {
		return m.MayBeOf(diff)
	})
	if err != nil || len(reviews) == 0 {
		return "", "", err
	}
	have, _ := marker.Parse(reviews[0].Body)
	return reviews[0].URL, have.Digest, nil
}

// ourReviews returns the posted reviews of a thread that are ours and wanted, oldest first. Those of one
// thread may be of several diffs: the same commit against another base.
func ourReviews(ctx context.Context, r Reader, ref pull.Ref, thread string,
	wanted func(github.Review, marker.Review) bool) (all []github.Review, err error) {
	reviews, err := r.Reviews(ctx, ref)
	if err != nil {
		return nil, err
	}
	for _, review := range reviews {
		have, ok := marker.Parse(review.Body)
		if !ok || have.Thread != thread || review.State == pending || !wanted(review, have) {
			continue
		}
		stands, err := r.Stands(ctx, review, have)
		if err != nil {
			return nil, err
		}
		if stands {
			all = append(all, review)
		}
	}
	return all, nil
}
