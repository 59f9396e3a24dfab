// Package review is the step that reviews one changed file, by a model or by
// rules.
//
// It never drops a finding and never calls a file clean on an answer that it
// could not read: such a file is failed, with the reason. Filters and anchors
// come later, when all files are there. Start reading at Model.Review.
package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
)

// maxPatch bounds the bytes of a patch that is sent to a model. Beyond, a file
// of few but huge lines would cost more than its review can be worth.
const maxPatch = 256 << 10

// maxTokens bounds the output of one call, reasoning included.
const maxTokens = 16_384

// ErrSpent says that a file was not reviewed because no money is left for it.
var ErrSpent = errors.New("the budget was spent")

// Reviewer reviews one changed file.
//
// What goes wrong with a file is the result's state and reason. The error says
// that the file was not reached: the context ended, the budget did (ErrSpent),
// or an answer could not be kept. The result holds only the usage that was paid.
type Reviewer interface {
	Review(ctx context.Context, f diff.File) (finding.FileReview, error)
	// Key names this reviewer's result for a file: equal keys, equal questions.
	// It is empty where a result costs nothing and need not be found again.
	Key(f diff.File) string
}

// Chatter asks a model; *llm.Client is one. Where an error comes with a usage,
// the usage was paid.
type Chatter interface {
	Chat(ctx context.Context, r llm.Request) (llm.Answer, error)
	// Identity names all that settles an answer beside the request, such as the
	// model. It is hashed into keys, and holds neither credentials nor addresses.
	Identity() string
}

// Model is the reviewer that asks a model: one call per file, and a second one
// where the first answer cannot be used.
type Model struct {
	chat   Chatter
	random io.Reader

	// OnFailure, where set before the first review, is told what lies behind a
	// file that failed. It is called from the goroutine of the review. The cause
	// may hold an address and a server's message, which the reason does not.
	OnFailure func(path string, cause error)

	// Once, where set before the first review, keeps every answer before it is
	// used and gives it back when the same question comes again (P4).
	Once Once
}

// NewModel returns a reviewer over a model. The random source draws the prompt's
// boundaries; it must be safe for concurrent use, as crypto/rand.Reader is.
func NewModel(c Chatter, random io.Reader) *Model { return &Model{chat: c, random: random} }

// Review asks for the findings in a file's patch.
func (m *Model) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	if len(f.Patch) > maxPatch {
		return finding.FileReview{Path: f.Path, State: finding.Skipped, Reason: finding.TooLarge}, nil
	}
	if err := readable(f); err != nil {
		return m.fail(f, err, cost.Usage{}), nil
	}
	last, used := m.attempts(ctx, f)
	switch {
	case errors.As(last.err, new(*notKeptError)), errors.Is(last.err, ErrSpent):
		return finding.FileReview{Path: f.Path, Usage: used}, last.err
	case last.err != nil && ctx.Err() != nil:
		return finding.FileReview{Path: f.Path, Usage: used}, fmt.Errorf("reviewing a file: %w", ctx.Err())
	case last.err != nil && len(last.findings) == 0:
		return m.fail(f, last.err, used), nil
	}
	out := finding.FileReview{Path: f.Path, State: finding.Reviewed, Findings: last.findings, Usage: used}
	if last.err != nil {
		out.State, out.Reason = finding.Partly, reason(last.err)
	}
	return out, nil
}

func (m *Model) fail(f diff.File, cause error, used cost.Usage) finding.FileReview {
	if m.OnFailure != nil {
		m.OnFailure(f.Path, cause)
	}
	return finding.FileReview{Path: f.Path, State: finding.Failed, Reason: reason(cause), Usage: used}
}

// readable checks that there is something to review. A file without a readable
// patch is never a clean one.
func readable(f diff.File) error {
	if diff.CheckPath(f.Path) != nil {
		return unreadableError("its path is none that a repository can hold")
	}
	if f.Patch == "" {
		return unreadableError(cmp.Or(f.Problem, "it has no patch to read"))
	}
	if _, err := diff.Hunks(f.Patch); err != nil {
		return unreadableError("its patch cannot be read")
	}
	return nil
}

// attempts makes the first call and, where it may help, the second.
func (m *Model) attempts(ctx context.Context, f diff.File) (attempt, cost.Usage) {
	in := prompt.Input{Path: f.Path, OldPath: f.OldPath, Status: string(f.Status), Patch: f.Patch}
	first := m.ask(ctx, question{
		key: hash(m.Key(f), "first"), path: in.Path, avoid: []string{in.Path, in.OldPath, in.Patch},
		user: func(b guard.Boundary) string { return prompt.User(b, in) },
	})
	user := m.next(in, first)
	if user == nil {
		return first, first.usage
	}
	second := m.ask(ctx, question{
		key: hash(m.Key(f), "second", string(reason(first.err)), first.text), path: in.Path, boundary: first.boundary, user: user,
	})
	used := cost.Add(first.usage, second.usage)
	if errors.Is(second.err, ErrSpent) {
		return second, used // the first answer is kept: with more money the file is gone on with
	}
	return better(first, second), used
}
