// Package review reviews one changed file by asking a model, which may look around before it
// judges.
//
// If a model is configured for it, a file is first labeled. It is then reviewed in as many parts
// as needed, and severe findings are verified. The package never calls a file clean on an answer
// that it could not read: such a file is failed, with the reason. Findings that it filters stay
// in the result, marked. Filters over all files come later. Start reading at Model.Review, then at
// part.go.
package review

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tool"
)

// maxPatch is the size of the largest patch that is sent to a model, in bytes. Beyond that, a file
// of few but huge lines would cost more than its review can be worth.
const maxPatch = 512 << 10

// maxPart is the size of a diff in one question, in bytes, as far as hunks allow.
const maxPart = 64 << 10

// Reviewer reviews one changed file.
//
// What goes wrong with a file is in the result's state and reason. The error says that the file
// was not reached: the context ended, the run's budget was spent (cost.ErrSpent), or an answer
// could not be kept. The result then contains only the calls and the usage that were paid.
type Reviewer interface {
	Review(ctx context.Context, f diff.File) (finding.FileReview, error)
	// Key identifies this reviewer's result for a file: equal keys mean equal questions. It is
	// empty if a result costs nothing and need not be kept.
	Key(f diff.File) string
}

// Chatter asks a model.
type Chatter = budget.Chatter

// Options configures the models that a Model asks, and what it tells them.
type Options struct {
	Review   Chatter
	Verify   Chatter // verifies severe findings; nil for no verification
	Classify Chatter // labels a file first; nil for no labels

	Limits agent.Limits // of one conversation; the zero value is one turn
	Tools  tool.Set     // offered where more than one turn is allowed
	Guides Guides       // the repository's rules for its reviews
	// what linters report on a file, one line each, as hints; nil for none
	Linters func(path string) []string
	// what earlier reviews reported on a file; nil for nothing. No key covers it: it adds no defect
	Reported func(f diff.File) []finding.Finding
	// returns a file as it is after the change; an error if it cannot be read
	Head func(ctx context.Context, path string) ([]byte, error)
	// pieces of the new tree that a reviewer of a part of a file's patch needs and that are not in
	// the patch; nil for none
	Pack       func(ctx context.Context, path, patch string) []prompt.Piece
	PackTokens int           // size limit of a pack; included in each file's key
	Effort     string        // set for every request, so that no label changes it; empty if unset
	MaxTokens  int           // of one answer, reasoning included; 0 for 16,384
	FileCap    cost.MicroUSD // of one file; 0 for none

	Random io.Reader        // draws the prompts' boundaries; safe for concurrent use, as crypto/rand.Reader is
	Now    func() time.Time // nil to record no times
	Redact *secret.Redactor // removes what must be neither sent nor kept; nil for the forms of credentials only
}

// Guides holds a repository's rules for its reviews. All of it comes from the base commit, except
// the pages.
type Guides struct {
	Language     string                     // of the findings' text, such as German; empty for English
	Guidelines   func(path string) []string // for a file; nil for none
	Instructions []prompt.Document          // for anyone who works on the repository
	Style        bool                       // whether matters of style are findings

	// Pages of the team's wiki, not from the base. In keys their digest represents them, so that a
	// run that cannot fetch them again finds what was paid.
	Pages       []prompt.Document
	PagesDigest string
}

func (g Guides) guidelines(path string) []string {
	if g.Guidelines == nil {
		return nil
	}
	return g.Guidelines(path)
}

// instructions returns the files to show with a file: an AGENTS.md or REVIEW.md in a folder is about
// what lies below it.
func (g Guides) instructions(file string) []prompt.Document {
	return slices.DeleteFunc(slices.Clone(g.Instructions), func(d prompt.Document) bool {
		dir, name := path.Split(d.Path)
		return (name == "AGENTS.md" || name == "REVIEW.md") && !strings.HasPrefix(file, dir)
	})
}

func (o Options) linters(path string) (said []string) {
	if o.Linters == nil {
		return nil
	}
	for _, line := range o.Linters(path) {
		said = append(said, o.Redact.Redact(line))
	}
	return said
}

// Model is the reviewer that asks a model.
type Model struct {
	Options

	// OnFailure, if set before the first review, is called with the cause of a file's failure,
	// from the review's goroutine. Unlike the reason, the cause may contain an address and a
	// server's message.
	OnFailure func(path string, cause error)

	// Once, if set before the first review, keeps every answer before it is used and returns it
	// when the same question is asked again (P4).
	Once Once
}

// NewModel returns a reviewer that asks models.
func NewModel(o Options) *Model {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	o.Guides.Instructions = slices.Clone(o.Guides.Instructions)
	for i, d := range o.Guides.Instructions {
		o.Guides.Instructions[i].Text = o.Redact.Redact(d.Text)
	}
	return &Model{Options: o}
}

// Recorded is a paid answer as it is kept, or the results of the tools that it called. Texts are
// untrusted. The question is not included, except the boundary, which the conversation keeps
// using.
type Recorded struct {
	Boundary guard.Boundary `json:"boundary,omitempty"`
	Text     string         `json:"text,omitempty"`
	Ended    string         `json:"ended,omitempty"` // truncated, refused or empty; "" for a whole answer
	Usage    cost.Usage     `json:"usage"`

	Calls   []llm.Call    `json:"calls,omitempty"`
	State   []byte        `json:"state,omitempty"` // llm.Answer's
	Model   string        `json:"model,omitempty"`
	Finish  string        `json:"finish,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
	Results []tool.Record `json:"results,omitempty"`

	Vectors []byte    `json:"vectors,omitempty"` // in embed.Answer's form: of a query, or of a change's own code
	Scores  []float64 `json:"scores,omitempty"`  // of a search's results, from a reranker
}

// Once returns the kept answer for a key, or calls do and keeps its answer. It returns do's error
// and keeps nothing then; any other error says that the answer could not be kept.
type Once func(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error)

// Rules is the reviewer that asks no model: the findings of rules are made before any review, also
// if a model reviews.
type Rules struct{}

// Key returns "", because rules cost nothing.
func (Rules) Key(diff.File) string { return "" }

// Review reports whether the file could be read.
func (Rules) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	if err := ctx.Err(); err != nil {
		return finding.FileReview{Path: f.Path}, err
	}
	if err := readable(f); err != nil {
		return finding.FileReview{Path: f.Path, State: finding.Failed, Reason: reason(err)}, nil
	}
	return finding.FileReview{Path: f.Path, State: finding.Reviewed}, nil
}
