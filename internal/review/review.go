// Package review is the step that reviews one changed file by asking a model,
// which may look around before it judges.
//
// A file is labelled first where a model is named for that, then reviewed in as
// many parts as it needs; grave findings are looked at a second time. The room
// never calls a file clean on an answer that it could not read: such a file is
// failed, with the reason. What it holds back stays in the result, marked. Filters
// over all files come later. Start reading at Model.Review, then at part.go.
package review

import (
	"context"
	"io"
	"slices"
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

// maxPatch bounds the bytes of a patch that is sent to a model. Beyond, a file
// of few but huge lines would cost more than its review can be worth.
const maxPatch = 512 << 10

// maxPart bounds, as far as hunks allow, the bytes of a diff in one question.
const maxPart = 64 << 10

// Reviewer reviews one changed file.
//
// What goes wrong with a file is the result's state and reason. The error says
// that the file was not reached: the context ended, the run's budget did
// (cost.ErrSpent), or an answer could not be kept. The result holds only the
// calls and the usage that were paid.
type Reviewer interface {
	Review(ctx context.Context, f diff.File) (finding.FileReview, error)
	// Key names this reviewer's result for a file: equal keys, equal questions.
	// It is empty where a result costs nothing and need not be found again.
	Key(f diff.File) string
}

// Chatter asks a model.
type Chatter = budget.Chatter

// Options say whom a Model asks, and what it tells.
type Options struct {
	Review   Chatter
	Verify   Chatter // looks at grave findings again; nil for nobody
	Classify Chatter // labels a file first; nil for nobody

	Limits agent.Limits // of one conversation; the zero value is one turn
	Tools  tool.Set     // offered where more than one turn is allowed
	Guides Guides       // what the repository wants of its reviews
	// what linters say of a file, one line each, as hints; nil for nothing
	Linters func(path string) []string
	// a file as it is after the change; nil where it cannot be read
	Head func(ctx context.Context, path string) ([]byte, error)
	// pieces of the new tree that a reviewer of a part of a file's patch needs, and are
	// not in it; nil for none
	Pack       func(ctx context.Context, path, patch string) []prompt.Piece
	PackTokens int           // that a pack may have: a part of each file's key
	Effort     string        // that was set for every request, so that no label changes it; empty for none
	MaxTokens  int           // of one answer, reasoning included; 0 for 16,384
	FileCap    cost.MicroUSD // of one file; 0 for none

	Random io.Reader        // draws the prompts' boundaries; safe for concurrent use, as crypto/rand.Reader is
	Now    func() time.Time // nil where times are not told
	Redact *secret.Redactor // what must be neither asked with nor kept; nil for what has a credential's form
}

// Guides are what a repository wants of its reviews. All of it comes from its
// base commit, but for the pages.
type Guides struct {
	Language     string                     // of the findings' text, such as German; empty for English
	Guidelines   func(path string) []string // for a file; nil for none
	Instructions []prompt.Document          // for who works on the repository
	Style        bool                       // whether matters of style are findings

	// Pages of the team's wiki, not of the base. Their digest stands for them in keys, so
	// that a run which cannot fetch them again finds what it has paid for.
	Pages       []prompt.Document
	PagesDigest string
}

func (g Guides) guidelines(path string) []string {
	if g.Guidelines == nil {
		return nil
	}
	return g.Guidelines(path)
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

	// OnFailure, where set before the first review, is told what lies behind a
	// file that failed. It is called from the goroutine of the review. The cause
	// may hold an address and a server's message, which the reason does not.
	OnFailure func(path string, cause error)

	// Once, where set before the first review, keeps every answer before it is
	// used and gives it back when the same question comes again (P4).
	Once Once
}

// NewModel returns a reviewer over models.
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

// Recorded is a paid answer as it is kept, or what the tools gave that it called.
// Texts are untrusted; the question is not in it, but for the boundary that goes
// on through the conversation.
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

	Vectors []byte    `json:"vectors,omitempty"` // as embed.Answer has them: of a query, of a change's own code
	Scores  []float64 `json:"scores,omitempty"`  // of what a search found, by a reranker
}

// Once gives the kept answer of a key, or lets do ask and keeps what it says. An
// error of do is passed on and not kept; any other error says that the answer
// could not be kept.
type Once func(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error)

// Rules is the reviewer that asks nobody: what rules say of a change is flagged
// before any review, beside a model too.
type Rules struct{}

// Key is empty: rules cost nothing.
func (Rules) Key(diff.File) string { return "" }

// Review says whether the file could be read.
func (Rules) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	if err := ctx.Err(); err != nil {
		return finding.FileReview{Path: f.Path}, err
	}
	if err := readable(f); err != nil {
		return finding.FileReview{Path: f.Path, State: finding.Failed, Reason: reason(err)}, nil
	}
	return finding.FileReview{Path: f.Path, State: finding.Reviewed}, nil
}
