// Package judge asks a model whether a finding is about a known issue, and
// whether a finding that matches none is true.
//
// Path and line alone overstate a review: a comment on the right line may give
// the wrong reason. The judge sees the known issue, the finding's text and, for
// the first vote, the hunk; never severities, other findings or the name of the
// model under test. Each ruling is the majority of up to three votes, and every
// vote is journalled. It computes no score.
//
// Its input was written by others and may try to steer it (P8). Texts are wrapped
// in a boundary's marks. Two of three votes on Same are cast without the code, so
// that words in a diff cannot carry a majority. And if a text addresses a judge, a
// yes is checked by control questions whose right answer is no. That protects
// against words that make a model say yes to whatever it is asked. It does not
// protect against words that make it say no, which only lower a score; against
// words that argue for exactly this finding; nor, in what the reviewer itself wrote
// and in Valid, which needs the code, against an address in another language or in
// letters that only look like the expected ones. Start reading at Judge.Same.
package judge

import (
	"context"
	"io"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/review"
)

// Judge asks one model. It is safe for concurrent use.
type Judge struct {
	chat   review.Chatter
	random io.Reader
	once   review.Once
}

// Question is what a ruling is about. All of it is untrusted text. Issue is the
// known issue in one sentence; Valid ignores it. Line is on the new side, 1-based.
// Hunk comes from the function of that name.
type Question struct {
	Issue string `json:"issue"`
	Path  string `json:"path"`
	Title string `json:"title"`
	Body  string `json:"body"`
	Line  int    `json:"line"`
	Hunk  string `json:"-"`
}

// Ruling is the outcome. An answer that violates its schema, after one retry, is a no vote.
// Steered reports that a control question was not answered with a clear no. Reason is
// untrusted text on one line. Usage covers all calls, including those from the journal.
type Ruling struct {
	Yes     bool
	Votes   []bool
	Steered bool
	Reason  string
	Usage   cost.Usage
}

// New returns a judge that asks chat. random draws the boundaries and must be safe
// for concurrent use. once keeps every answer before it is used (P4); nil keeps
// none.
func New(chat review.Chatter, random io.Reader, once review.Once) *Judge {
	if once == nil {
		once = func(ctx context.Context, _ string, do func(context.Context) (review.Recorded, error)) (review.Recorded,
			error) {
			return do(ctx)
		}
	}
	return &Judge{chat: chat, random: random, once: once}
}

// Same rules whether the finding and the known issue are the same defect, so that fixing one
// fixes the other. It returns an error if a vote could not be obtained or kept, and then a
// ruling that holds only the usage.
func (j *Judge) Same(ctx context.Context, q Question) (Ruling, error) {
	return j.rule(ctx, same(), q)
}

// Valid rules whether the hunk shows that the finding is a true defect that the
// change introduces. It returns the errors of Same.
func (j *Judge) Valid(ctx context.Context, q Question) (Ruling, error) {
	q.Issue = ""
	return j.rule(ctx, valid(), q)
}
