package job

import (
	"cmp"
	"context"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
)

// remark says on the mark that a decision was refused: GitHub tells nobody but who
// pushed of a job that failed. The draft passed check 9, so the head is its own.
func (j *job) remark(ctx context.Context, why error) {
	p, err := j.api.Pull(ctx, j.ref)
	if err == nil {
		m := write.Mark{Instance: j.Instance, Code: checkpoint.Code(cmp.Or(j.Digest, j.Code)),
			Page: driver.RunPage(j.ref, j.env.RunID)}
		_, err = write.New(j.api).Remark(ctx, j.ref, p.HeadSHA, m, driver.Gist(why))
	}
	if err != nil {
		j.warning("the mark does not say that the decision was refused", err)
	}
}

// lapse clears the mark of a draft that nobody decided in time.
func (j *job) lapse(ctx context.Context) {
	p, err := j.api.Pull(ctx, j.ref)
	if err == nil {
		_, err = write.New(j.api).Unmark(ctx, j.ref, p.HeadSHA, j.Instance, write.Lapsed, "")
	}
	if err != nil {
		j.warning("the mark that a draft waits could not be cleared", err)
	}
}

// waits is the job that shows on the commit that a draft waits, and where. It
// holds no model's key, and says nothing of a finding but how many there are.
func (j *job) waits(ctx context.Context) (driver.Report, error) {
	if j.Digest == "" && j.Code == "" {
		return driver.Report{}, problem.Usage("neither checkpoint-digest nor code says which draft waits",
			"pass checkpoint-digest from the draft job's outputs")
	}
	g, err := j.reviewed(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	draft, err := g.verify(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	m := draft.Manifest
	on, err := g.desk(reviewpr.State{}).Claims(ctx, draft.Code)
	if err != nil {
		return driver.Report{}, err
	}
	review, posted, err := post.FindPosted(ctx, j.ours, j.ref, m.Thread)
	if err != nil || posted || slices.ContainsFunc(on, func(c handoff.Claim) bool {
		return c.Record.Digest == draft.Digest
	}) {
		if err == nil {
			err = j.unmark(ctx, m.Subject.Head, posted, review)
		}
		return driver.Report{Message: "draft " + draft.Code + " was decided, so the commit is not marked"}, err
	}
	err = write.New(j.api).Mark(ctx, j.ref, m.Subject.Head, write.Mark{
		Instance: j.Instance, Code: draft.Code, Findings: m.Findings, Blockers: m.Blockers, Expires: m.ExpiresAt,
		Page: driver.RunPage(j.ref, m.RunID),
	})
	if err != nil {
		return driver.Report{}, err
	}
	// outputs are the draft job's
	return driver.Report{Message: "the commit shows that draft " + draft.Code + " waits"}, nil
}

// unmark clears the mark of a draft that was decided, where there is one.
func (j *job) unmark(ctx context.Context, head string, posted bool, page string) error {
	end := write.Rejected
	if posted {
		end = write.Posted
	}
	_, err := write.New(j.api).Unmark(ctx, j.ref, head, j.Instance, end, page)
	return err
}
