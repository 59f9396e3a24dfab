package review

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/suggest"
)

// reviewPart requests the findings in a part of the patch, a second time if the answer is
// unusable, checks them against the lines that they quote, and has the severe ones verified. The
// error says that the file was not reached.
func (t *task) reviewPart(ctx context.Context, patch string, parts int) (attempt, error) {
	in := t.input(ctx, patch, parts)
	c := &conversation{task: t, next: t.firstQuestion(in)}
	text, err := c.run(ctx)
	a := attempt{boundary: c.next.boundary, text: text}
	a.read(err, in.Path)
	if err := t.stopError(ctx, a.err); err != nil {
		return a, err
	}
	if q, ok := t.secondQuestion(in, a); ok {
		r, err := t.ask(ctx, q)
		b := attempt{boundary: r.Boundary, text: r.Text, err: err}
		if err == nil {
			b.read(endings[r.Ended], in.Path)
		}
		if err := t.stopError(ctx, b.err); err != nil {
			return b, err // the first answer is kept: with more budget or time the review continues
		}
		a = betterOf(a, b)
	}
	found, moved := newQuotes(patch).check(t.redactFindings(a.findings))
	t.out.Moved += moved
	a.findings, err = t.verify(ctx, in, found)
	return a, err
}

// redactFindings removes credentials from findings: JSON escapes may have hidden them in the kept
// answer.
func (t *task) redactFindings(found []finding.Finding) []finding.Finding {
	for i := range found {
		f := &found[i]
		for _, text := range []*string{&f.Category, &f.Title, &f.Body, &f.Suggestion, &f.Quote} {
			*text = t.Redact.Redact(*text)
		}
	}
	return found
}

// firstQuestion returns the first question about a part: for its findings, or for a revision of them.
func (t *task) firstQuestion(in prompt.Input) question {
	q := question{
		task: reviewing, chat: t.Options.Review,
		request: t.request(prompt.Reviewing(in.Style)),
		user:    func(b guard.Boundary) string { return prompt.User(b, in) },
	}
	if t.revision != nil {
		r := t.revision.forPart(t.part)
		q.task = redrafting
		q.user = func(b guard.Boundary) string { return prompt.Redraft(b, in, r) }
	}
	q.key = Hash(t.key, q.task, in.Patch)
	return q
}

// read extracts the findings from an answer. One that was cut off may still have some.
func (a *attempt) read(ended error, path string) {
	a.err = ended
	if ended == nil || errors.Is(ended, llm.ErrTruncated) {
		found, bad := decode(a.text, path)
		a.broken, _ = errors.AsType[*brokenError](bad)
		a.findings, a.err = found, cmp.Or(ended, bad)
	}
}

const unreadHead = "the file could not be read to apply it"

// checkSuggestions checks the suggestions of the file's findings against the file after the
// change. The error says that the file was not reached.
func (t *task) checkSuggestions(ctx context.Context) error {
	found := t.out.Findings
	if !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Suggestion != "" }) {
		return nil
	}
	var head []byte
	unread := ""
	if t.Head != nil {
		var err error
		if head, err = t.Head(ctx, t.file.Path); err != nil {
			head, unread = nil, unreadHead
		}
		if err := t.stopError(ctx, err); err != nil {
			return err
		}
	}
	shown, _ := t.file.Anchors() // a patch that cannot be parsed shows no lines
	file := suggest.New(t.file.Path, shown, head)
	for i, f := range found {
		if err := t.stopError(ctx, ctx.Err()); err != nil {
			return err
		}
		if found[i] = file.Check(f); found[i].Suggestion != "" && found[i].SuggestionProblem == "" {
			found[i].SuggestionProblem = unread
		}
	}
	return nil
}

const maxQuoted = 64 << 10

// secondQuestion returns the second question about a part of a file, or false if it cannot help: the first
// answer is complete, was cut off before its first finding, or did not arrive.
func (t *task) secondQuestion(in prompt.Input, first attempt) (q question, ok bool) {
	q = t.firstQuestion(in)
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

// repairable reports whether a broken answer contains JSON with findings that can be rewritten. An
// answer without any tells nothing about the file: the question is asked again, with the diff,
// because a repair could only make it look clean.
func repairable(a attempt) bool {
	text := strings.TrimSpace(Unfence(a.text))
	return a.broken != nil && atLeast(a) > 0 && len(text) <= maxQuoted &&
		(strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["))
}

// atLeast returns a lower bound of the number of findings in a broken answer. An answer with one
// brace has none; one with more has at least one.
func atLeast(a attempt) int {
	if len(a.findings) == 0 && strings.Count(a.text, "{") > 1 {
		return 1
	}
	return len(a.findings)
}

// betterOf chooses between two attempts at one file. A repair has not seen the diff, so it cannot
// make a finding disappear: if it has fewer than the broken answer, it is incomplete. So is the
// repair of an answer that was cut off at the output limit, because the rest is unknown.
func betterOf(first, second attempt) attempt {
	switch {
	case errors.Is(first.err, llm.ErrTruncated) && len(second.findings) > len(first.findings):
		second.err = first.err
	case errors.Is(first.err, llm.ErrTruncated):
		return first
	case second.err == nil && repairable(first) && len(second.findings) < atLeast(first):
		second.err = errLost
	}
	if second.err != nil && len(first.findings) > len(second.findings) {
		return first // with the reason for what is missing
	}
	return second
}

// attempt is the outcome of one conversation, or of one call.
type attempt struct {
	boundary guard.Boundary
	text     string
	findings []finding.Finding // the valid ones
	err      error             // why the answer is incomplete; nil if it is complete
	broken   *brokenError      // what is wrong with its JSON, also if it was cut off; nil if nothing
}
