package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
)

type builder struct {
	api      API
	cases    []dataset.Case
	approved []github.MergedPull // without a remark; cases to be
	notes    []string

	unheeded, unreviewed, spare int // pull requests that are no case, and need no note of their own
}

// look makes a case of a pull request with remarks, and remembers one that was
// approved without any.
func (b *builder) look(ctx context.Context, p github.MergedPull) error {
	comments, err := b.api.ReviewComments(ctx, p.Ref)
	if err != nil {
		return b.leave(ctx, p, err)
	}
	if len(comments) == 0 {
		return b.lookApproved(ctx, p)
	}
	remarks := choose(comments, p.Author)
	if len(remarks) == 0 {
		b.unheeded++
		return nil
	}
	return b.add(ctx, p, remarks)
}

func (b *builder) lookApproved(ctx context.Context, p github.MergedPull) error {
	reviews, err := b.api.Reviews(ctx, p.Ref)
	if err != nil {
		return b.leave(ctx, p, err)
	}
	if approved(reviews, p.Author) {
		b.approved = append(b.approved, p)
	} else {
		b.unreviewed++
	}
	return nil
}

func (b *builder) keepClean(ctx context.Context) error {
	most := 2 * len(b.cases)
	for i, p := range b.approved {
		if len(b.cases) == most {
			b.spare = len(b.approved) - i
			return nil
		}
		if err := b.add(ctx, p, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(ctx context.Context, p github.MergedPull, remarks []remark) error {
	c, err := b.build(ctx, p, remarks)
	if err != nil {
		return b.leave(ctx, p, err)
	}
	b.cases = append(b.cases, c)
	if lost := len(remarks) - len(c.Golden); lost > 0 {
		b.note("%s: %d of %d remarks are left out: they are on no line of the change", p.Ref, lost, len(remarks))
	}
	return nil
}

// leave notes a pull request that is left out, unless the error ends it all.
func (b *builder) leave(ctx context.Context, p github.MergedPull, err error) error {
	status, answered := errors.AsType[*transport.StatusError](err)
	if ctx.Err() != nil || errors.Is(err, github.ErrNoAccess) || answered && status.Limited {
		return err
	}
	b.note("%s is left out: %v", p.Ref, err)
	return nil
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, guard.Line(fmt.Sprintf(format, args...), 0))
}

// summary counts what is left out as a matter of course.
func (b *builder) summary() []string {
	var lines []string
	for _, left := range []struct {
		n   int
		why string
	}{
		{b.unheeded, "they have comments, but none is a reviewer's remark on a line that was changed afterwards"},
		{b.unreviewed, "they have no comments, and no person approved them without a remark"},
		{b.spare, "they are clean, and there are as many clean cases as others without them"},
	} {
		if left.n > 0 {
			lines = append(lines, fmt.Sprintf("pull requests left out because %s: %d", left.why, left.n))
		}
	}
	return lines
}
