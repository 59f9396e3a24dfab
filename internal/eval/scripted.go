package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
)

// Scripted is the reviewer that knows the answers: it finds a set share of the
// known defects and makes a set amount of noise. What it measures is the
// pipeline, and never a model.
func Scripted(o oracle.Options) Reviewer {
	return Reviewer{Name: score.Scripted, Chat: script{o}}
}

type script struct{ oracle.Options }

// Identity names all that settles its answers.
func (s script) Identity() string {
	return fmt.Sprintf("scripted, recall %g, noise %g, seed %d", s.Recall, s.Noise, s.Seed)
}

// Chat answers a question about a file of a case. It stands by what it has found:
// a second look refutes nothing.
func (s script) Chat(ctx context.Context, q llm.Request) (llm.Answer, error) {
	of, ok := ctx.Value(subjectKey{}).(subject)
	if !ok {
		return llm.Answer{}, errors.New("the scripted model was asked about no file")
	}
	if q.SchemaName == prompt.Verifying().SchemaName {
		return llm.Answer{Text: `{"verdicts": []}`, Usage: cost.Usage{Calls: 1}}, nil
	}
	text := oracle.Answer(s.Options, of.of.ID, of.of.Golden, of.file)
	return llm.Answer{Text: oracle.Shown(text, q.User, of.file.Patch), Usage: cost.Usage{Calls: 1}}, nil
}
