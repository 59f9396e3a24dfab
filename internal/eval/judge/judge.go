// Package judge asks a model whether a finding is about a known issue, and
// whether a finding that matches none is true.
//
// Path and line alone overstate a review: a comment on the right line may give
// the wrong reason. The judge sees the known issue, the finding's words and, for
// the first vote, the hunk; never severities, other findings or the name of the
// model under test. Each ruling is the majority of up to three votes, and every
// vote is journalled. It decides no score.
//
// What it reads was written by others and may speak to it (P8). Texts stand
// between a boundary's marks. Of the votes on Same two of three are cast without
// the code, so that words in a diff carry no majority. And a yes where text
// addresses a judge is checked by control questions whose right answer is no.
// That protects from words that make a model say yes to whatever it is asked. It
// does not protect from words that make it say no, which only lower a score; from
// words that argue for exactly this finding; nor, in what the reviewer itself wrote
// and in Valid, which needs the code, from an address in another language or in
// letters that only look like the expected ones. Start reading at Judge.Same.
package judge

import (
	"context"
	"io"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/review"
)

// Judge puts questions to one model. It may be used from many goroutines.
type Judge struct {
	chat   review.Chatter
	random io.Reader
	once   review.Once
}

// Question is what a ruling is about. All of it is untrusted text. Issue is the
// known issue in a sentence, and empty for Valid. Line is on the new side, 1-based;
// Hunk is as the function of that name gives it.
type Question struct {
	Issue string `json:"issue"`
	Path  string `json:"path"`
	Title string `json:"title"`
	Body  string `json:"body"`
	Line  int    `json:"line"`
	Hunk  string `json:"-"`
}

// Ruling is the outcome. An answer off its schema, after one further try, is a no vote.
// Steered says that a control question was not answered with a clear no. Reason is
// untrusted text on one line. Usage has all calls, those that the journal knew included.
type Ruling struct {
	Yes     bool
	Votes   []bool
	Steered bool
	Reason  string
	Usage   cost.Usage
}

// New returns a judge over a model. The random
// source draws the boundaries and must be safe for concurrent use. Once keeps
// every answer before it is used (P4); nil keeps none.
func New(chat review.Chatter, random io.Reader, once review.Once) *Judge {
	if once == nil {
		once = func(ctx context.Context, _ string, do func(context.Context) (review.Recorded, error)) (review.Recorded,
			error) {
			return do(ctx)
		}
	}
	return &Judge{chat: chat, random: random, once: once}
}

// Same rules whether the finding and the known issue are the same defect, so that a fix of
// one is a fix of the other. An error says that a vote could not be had or kept; the ruling
// then holds the usage that was paid.
func (j *Judge) Same(ctx context.Context, q Question) (Ruling, error) {
	return j.rule(ctx, same(), q)
}

// Valid rules whether the hunk shows that the finding is a true defect which the
// change brings in. Errors are those of Same.
func (j *Judge) Valid(ctx context.Context, q Question) (Ruling, error) {
	q.Issue = ""
	return j.rule(ctx, valid(), q)
}
