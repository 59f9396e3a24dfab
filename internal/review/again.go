package review

import (
	"errors"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
)

const maxQuoted = 64 << 10

// again is the second question about a part of a file; there is none where it cannot
// help: the first answer is whole, was cut off before it had a finding, or did not come.
func (t *task) again(in prompt.Input, first attempt) (q question, ok bool) {
	q = t.opening(in)
	asked := q.user
	switch {
	case repairable(first):
		q.task, q.user = repairing, func(b guard.Boundary) string {
			return prompt.Repair(b, in.Path, first.broken.problem, first.text)
		}
	case errors.As(first.err, new(*brokenError)), errors.Is(first.err, llm.ErrEmpty),
		errors.Is(first.err, llm.ErrRefused):
		q.task, q.user = asking, func(b guard.Boundary) string { return prompt.Again(asked(b)) }
	default:
		return q, false
	}
	q.boundary, q.key = first.boundary, Hash(t.key, q.task, in.Patch, first.text)
	return q, true
}

// repairable reports whether a broken answer holds JSON with findings that can be
// written again. One that holds none is no word on the file: it is asked anew,
// with the diff, since a repair could only make it a clean one.
func repairable(a attempt) bool {
	text := strings.TrimSpace(Unfence(a.text))
	return a.broken != nil && atLeast(a) > 0 && len(text) <= maxQuoted &&
		(strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["))
}

// atLeast is a lower bound of the findings that a broken answer was to hold. An
// answer with one brace holds none; one with more holds at least one.
func atLeast(a attempt) int {
	if len(a.findings) == 0 && strings.Count(a.text, "{") > 1 {
		return 1
	}
	return len(a.findings)
}

// better settles what two attempts at one file come to. A repair has not seen
// the diff, so it cannot make a finding go away: where it holds fewer than the
// broken answer did, it is no whole answer. Nor is one of an answer that was cut off
// at the output limit: what would have followed nobody has said.
func better(first, second attempt) attempt {
	switch {
	case errors.Is(first.err, llm.ErrTruncated) && len(second.findings) > len(first.findings):
		second.err = first.err
	case errors.Is(first.err, llm.ErrTruncated):
		return first
	case second.err == nil && repairable(first) && len(second.findings) < atLeast(first):
		second.err = errLost
	}
	if second.err != nil && len(first.findings) > len(second.findings) {
		return first // with the reason for what it lacks
	}
	return second
}

// attempt is what one conversation, or one call, came to.
type attempt struct {
	boundary guard.Boundary
	text     string
	findings []finding.Finding // those that are whole
	err      error             // why the answer is not whole; nil when it is
	broken   *brokenError      // what is wrong with its JSON, also where it was cut off; nil for nothing
}
