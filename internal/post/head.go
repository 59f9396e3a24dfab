package post

import (
	"context"
	"fmt"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/problem"
)

// Now is the current state of the pull request.
type Now struct {
	Open, Merged        bool
	HeadSHA, DiffDigest string
}

// CheckHead is check 9: the pull request is open, its head is the reviewed commit and its diff is
// the reviewed diff. For the message, code is the draft's and anew the command that drafts again.
func CheckHead(s checkpoint.Subject, code, anew string, now Now) error {
	draft := row("draft", "%s for commit %.7s", code, s.Head)
	diff := "another"
	if now.DiffDigest == s.Digest {
		diff = "the same"
	}
	anew = "decide the new draft, or start one: " + anew
	switch {
	case now.Merged:
		return problem.Refuse(9, fmt.Sprintf("#%d was merged, so none of its drafts can be decided", s.Number),
			"read the draft in its run's summary; nothing is posted to a merged pull request", draft)
	case !now.Open:
		return problem.Refuse(9, fmt.Sprintf("#%d was closed, so none of its drafts can be decided", s.Number),
			"reopen the pull request and decide again, or let the draft expire", draft)
	case now.HeadSHA != s.Head:
		return problem.Refuse(9, fmt.Sprintf("#%d has moved since this draft was made", s.Number), anew, draft,
			row("now", "commit %.7s, with %s diff", now.HeadSHA, diff))
	case now.DiffDigest != s.Digest:
		return problem.Refuse(9, fmt.Sprintf("#%d has a different diff since this draft was made", s.Number), anew,
			draft, row("now", "the same commit against another base"))
	}
	return nil
}

func row(label, format string, args ...any) [2]string {
	return [2]string{label, fmt.Sprintf(format, args...)}
}

// checkUnmoved checks the pull request again: reading approvals, decisions and reviews, and a wait,
// happen between the checks and the write (T24). Head and base make the diff, which is only read if
// the base is another. A push at the last moment still leaves the review at the commit that its body names.
func (p *poster) checkUnmoved(ctx context.Context) error {
	q := p.q
	pr, err := p.r.Pull(ctx, q.Ref)
	now := Now{Open: pr.Open(), HeadSHA: pr.HeadSHA, DiffDigest: q.Diff}
	if err == nil && (pr.BaseRef != q.Base.BaseRef || pr.BaseSHA != q.Base.BaseSHA) {
		now, err = q.Now(ctx)
	}
	if err != nil {
		return err
	}
	state := fmt.Sprintf("commit %.7s, %s", now.HeadSHA, pr.State)
	if now.Open && now.HeadSHA == q.Commit {
		if now.DiffDigest == q.Diff {
			p.q.Base = pr // the next look need not read the diff again
			return nil
		}
		state = "the same commit against another base"
	}
	return problem.Refuse(9,
		fmt.Sprintf("#%d changed while this draft was being posted, nothing was posted", q.Ref.Number),
		"decide the draft of the new commit or base",
		row("draft", "for commit %.7s", q.Commit), [2]string{"now", state})
}
