package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

var errLost = errors.New("the answer was off its schema, and writing it again lost findings")

// unreadableError says, in our own words, why a file cannot be shown to a model.
type unreadableError string

func (e unreadableError) Error() string { return string(e) }

// reason returns, in plain words, why a file was not reviewed in full. It is shown in the review,
// so it contains no text and no address from outside.
func reason(err error) finding.Reason {
	if e, ok := errors.AsType[*partError](err); ok {
		return finding.Reason(fmt.Sprintf("part %d of %d: %s", e.part, e.of, reason(e.err)))
	}
	if errors.Is(err, limit.ErrDown) {
		return "the model's server failed call after call, so it was not asked again"
	}
	if e, ok := errors.AsType[*llm.StatusError](err); ok {
		return finding.Reason(fmt.Sprintf("the model's address answered %d: %s", e.Code, e.Next()))
	}
	if e, ok := errors.AsType[*brokenError](err); ok {
		if e.partly {
			return finding.Reason(e.problem)
		}
		return finding.Reason("the model's answer could not be used: " + e.problem)
	}
	if e, ok := errors.AsType[unreadableError](err); ok {
		return finding.Reason(e)
	}
	for _, known := range []error{llm.ErrRefused, llm.ErrTruncated, llm.ErrEmpty, llm.ErrNotChat, llm.ErrPage,
		llm.ErrNoTools, errLost, agent.ErrTurns, llm.ErrNoLimit, cost.ErrFileSpent} {
		if errors.Is(err, known) {
			return finding.Reason(known.Error())
		}
	}
	switch {
	case errors.Is(err, transport.ErrTooLarge):
		return "the model's answer was too large"
	case errors.Is(err, transport.ErrRedirect):
		return "the model's address redirects elsewhere, which was not followed"
	case errors.Is(err, transport.ErrTimeout) || errors.Is(err, context.DeadlineExceeded):
		return "the model did not answer in time"
	}
	return "the model could not be reached"
}

type partError struct {
	part, of int
	err      error
}

func (e *partError) Error() string { return fmt.Sprintf("part %d of %d: %v", e.part, e.of, e.err) }

func (e *partError) Unwrap() error { return e.err }

// notKeptError reports an answer that could not be stored: using it would mean paying for it again
// after a crash, so the run ends.
type notKeptError struct{ error }

func (e *notKeptError) Unwrap() error { return e.error }
