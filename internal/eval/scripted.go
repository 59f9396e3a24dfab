package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/llm"
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

// Chat answers a question about a file of a case.
func (s script) Chat(ctx context.Context, _ llm.Request) (llm.Answer, error) {
	of, ok := ctx.Value(subjectKey{}).(subject)
	if !ok {
		return llm.Answer{}, errors.New("the scripted model was asked about no file")
	}
	return llm.Answer{Text: oracle.Answer(s.Options, of.of.ID, of.of.Golden, of.file), Usage: cost.Usage{Calls: 1}}, nil
}
