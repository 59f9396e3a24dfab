// Package post writes the approved review to the pull request, once.
//
// It is the only step that writes there, and it holds no model. It is the part of
// resume check 13 that looks at the pull request. Start reading at Review; poster holds
// the review back until it may be seen.
package post

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

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

// Reader reads what is on the pull request already, pending reviews of its own
// account among them. Stands tells whether a review with a marker was posted by this
// product, after a decision.
type Reader interface {
	Pull(ctx context.Context, ref pull.Ref) (pull.Pull, error)
	Reviews(ctx context.Context, ref pull.Ref) ([]github.Review, error)
	CommentsOf(ctx context.Context, ref pull.Ref, review int64) ([]github.ReviewComment, error)
	Stands(ctx context.Context, r github.Review, m marker.Review) (bool, error)
}

// Writer makes a review that its account alone sees, and submits it or takes it away.
type Writer interface {
	CreatePending(ctx context.Context, ref pull.Ref, commit, body string, comments []write.Comment) (id int64,
		url string, err error)
	Submit(ctx context.Context, ref pull.Ref, review int64, body string) (url string, err error)
	DeletePending(ctx context.Context, ref pull.Ref, review int64) error
}

// Request is an approved review. Review holds the findings as they were
// decided; Digest is the checkpoint's; Key seals the marker and is nil without one;
// Race is nil where nobody else can decide; Threads is nil where those of resolved
// findings stay as they are. Tried says that a process before this one may have
// written and not lived to say so.
type Request struct {
	Ref      pull.Ref
	Commit   string
	Thread   string
	Digest   string
	Key      []byte
	Review   render.Review
	Decision decision.Record // that approves
	Race     *handoff.Race
	Threads  *Threads
	Tried    bool
}

// Threads reads the threads on the pull request's diff and marks one as resolved.
type Threads struct {
	List    func(ctx context.Context, ref pull.Ref) ([]github.ReviewThread, error)
	Resolve func(ctx context.Context, id string) error
}

// Posted says where the review stands. Before is set where it had been posted
// earlier and nothing was written now. Unresolved says why threads stay open that
// were to be resolved; the review stands all the same.
type Posted struct {
	URL        string
	Before     bool
	Unresolved error
}

// Review posts the review as one COMMENT at the reviewed commit. It makes the review
// first as a pending one, of which GitHub keeps one of an account, and submits it when
// it has looked once more whether it was posted before, whether another job decides the
// same draft, and whether the pull request moved since check 9. Where GitHub refuses
// the inline comments, all of them are posted in the body instead, so that a bad
// anchor costs nothing else (P7). A write whose outcome is not known is looked for, and
// tried again up to three times.
func Review(ctx context.Context, r Reader, w Writer, q Request) (Posted, error) {
	posted, err := (&poster{r: r, w: w, q: q}).post(ctx)
	if err == nil && q.Threads != nil {
		posted.Unresolved = q.resolve(ctx)
	}
	return posted, err
}

// Rendered gives the body and the inline comments of a review as they are posted.
func Rendered(r render.Review) (body string, comments []write.Comment) {
	for _, f := range r.Findings {
		if f.Placement == finding.Inline {
			comments = append(comments, write.Comment{Path: f.Path, Side: string(f.Side), StartLine: f.StartLine,
				Line: f.Line, Body: render.Comment(f)})
		}
	}
	return render.Body(r), comments
}

// inline reports whether the review has inline comments.
func inline(r render.Review) bool {
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Placement == finding.Inline })
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

// Look is resume check 13 on the pull request: it finds the review where it was
// posted before, by its marker. Another review of ours of the thread is a
// refusal. It writes nothing, so it also answers what became of a
// write whose outcome is unknown.
func Look(ctx context.Context, r Reader, q Request) (Posted, bool, error) {
	reviews, err := ours(ctx, r, q.Ref, q.Thread)
	if err != nil || len(reviews) == 0 {
		return Posted{}, false, err
	}
	for _, review := range reviews {
		if have, _ := marker.Parse(review.Body); have.Same(q.named()) {
			return Posted{URL: review.URL, Before: true}, true, nil
		}
	}
	return Posted{}, false, another(reviews[0])
}

func another(posted github.Review) error {
	return problem.Refuse(13, "another review of this commit has already been posted, nothing was posted now",
		"a commit is reviewed once; push a new one for a new review", problem.At(posted.URL))
}

// FindPosted finds our review of a thread, whatever was approved in it.
func FindPosted(ctx context.Context, r Reader, ref pull.Ref, thread string) (url string, found bool, err error) {
	reviews, err := ours(ctx, r, ref, thread)
	if err != nil || len(reviews) == 0 {
		return "", false, err
	}
	return reviews[0].URL, true, nil
}

// ours lists the posted reviews of a thread that are ours, oldest first.
func ours(ctx context.Context, r Reader, ref pull.Ref, thread string) (all []github.Review, err error) {
	reviews, err := r.Reviews(ctx, ref)
	if err != nil {
		return nil, err
	}
	for _, review := range reviews {
		have, ok := marker.Parse(review.Body)
		if !ok || have.Thread != thread || review.State == pending {
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
