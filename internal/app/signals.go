package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/sarif"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// deciding takes a decision, and tells machines of it.
func (j *job) deciding(ctx context.Context, take func(context.Context) (report, error)) (report, error) {
	r, err := take(ctx)
	if err == nil && r.state.Decision != nil {
		j.signal(ctx, &r)
	}
	for _, void := range j.void {
		j.runner.Warning("an approval is void, " + void)
	}
	if check := problem.Check(err); j.Mark && (check == 11 || check == 12 || errors.As(err, new(*decision.Error))) {
		j.remark(ctx, err)
	}
	if j.Mark && outcomeOfError(err) == expired {
		j.lapse(ctx)
	}
	return r, err
}

// remark says on the mark that a decision was refused: GitHub tells nobody but who
// pushed of a job that failed. The draft passed check 9, so the head is its own.
func (j *job) remark(ctx context.Context, why error) {
	p, err := j.api.Pull(ctx, j.ref)
	if err == nil {
		m := write.Mark{Instance: j.Instance, Code: checkpoint.Code(cmp.Or(j.Digest, j.Code)), Page: j.runPage(j.env.RunID)}
		_, err = write.New(j.api).Remark(ctx, j.ref, p.HeadSHA, m, gist(why))
	}
	if err != nil {
		j.runner.Warning("the mark does not say that the decision was refused: " + explain(err))
	}
}

// lapse clears the mark of a draft that nobody decided in time.
func (j *job) lapse(ctx context.Context) {
	p, err := j.api.Pull(ctx, j.ref)
	if err == nil {
		_, err = write.New(j.api).Unmark(ctx, j.ref, p.HeadSHA, j.Instance, write.Lapsed, "")
	}
	if err != nil {
		j.runner.Warning("the mark that a draft waits could not be cleared: " + explain(err))
	}
}

// signal tells machines what a decision kept: a SARIF file, a check run, the end
// of the mark that a draft waits. The decision is carried out by then, so what
// fails here is a warning; but for the file, which a later step reads: without it
// the job fails, posted or not.
func (j *job) signal(ctx context.Context, r *report) {
	ref, head := j.ref, r.state.Draft.Head
	if j.CheckRun && r.Outcome == reviewpr.Posted {
		_, err := write.New(j.api).CheckRun(ctx, ref, write.Check{
			Head: head, Instance: j.Instance, Thread: r.Thread, Digest: r.Digest, Review: r.ReviewURL, Findings: r.standing(), Covered: r.state.Covered(), FailOn: j.FailOn,
		})
		if err != nil {
			j.runner.Warning(explain(err))
		}
	}
	if j.Mark {
		end := write.Rejected
		if r.Outcome == reviewpr.Posted {
			end = write.Posted
		}
		if _, err := write.New(j.api).Unmark(ctx, ref, head, j.Instance, end, r.ReviewURL); err != nil {
			j.runner.Warning("the mark that a draft waits could not be cleared: " + explain(err))
		}
	}
	signals(j.Settings, r, j.getenv("GITHUB_WORKSPACE"), j.runner.Warning)
}

// signals is what both a job and the command line tell: the SARIF file, and
// whether what was posted is as grave as fail-on. A relative file is of folder.
func signals(s settings.Settings, r *report, folder string, warn func(string)) {
	if s.Sarif != "" {
		if err := writeSarif(within(folder, s.Sarif), *r, warn); err != nil {
			r.failed = err
			return
		}
	}
	if n := finding.Reaching(r.standing(), s.FailOn); r.Outcome == reviewpr.Posted && n > 0 {
		r.failed = problem.New(fmt.Sprintf("%s of severity %s or graver, and fail-on is %s", render.Count(n, "posted finding"), s.FailOn, s.FailOn),
			r.place, "answer the review; without fail-on this succeeds whatever was found")
	}
}

// standing are the findings that the pull request has after a decision: those it
// kept, and those that an earlier review has posted and that are still there.
func (r report) standing() []finding.Finding {
	all := slices.Clone(r.Findings)
	for _, f := range r.Filtered {
		if f.Filtered == finding.AlreadyPosted {
			all = append(all, f)
		}
	}
	return all
}

// writeSarif writes what the decision kept: nothing of a draft that was rejected.
func writeSarif(file string, r report, warn func(string)) error {
	run := sarif.Run{Version: wire.Version(), Page: homepage, Instance: r.state.Draft.Instance, Head: r.state.Draft.Head}
	if r.Outcome == reviewpr.Posted {
		run.Findings = r.standing()
	}
	text, left, err := sarif.Encode(run)
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
	}
	if err != nil {
		return problem.New("the SARIF file could not be written", err.Error(), "name another file with sarif; the decision is carried out, and the same decision again writes the file")
	}
	if left > 0 {
		warn(fmt.Sprintf("the SARIF file leaves out %s, which are more than code scanning takes", render.Count(left, "finding")))
	}
	return nil
}

const homepage = "https://github.com/org/pr-review-action"

// within is a file of a folder, unless it says itself where it is.
func within(folder, file string) string {
	if folder == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(folder, file)
}

// waits is the job that shows on the commit that a draft waits, and where. It
// holds no model's key, and says nothing of a finding but how many there are.
func (j *job) waits(ctx context.Context) (report, error) {
	if j.Digest == "" && j.Code == "" {
		return report{}, problem.Usage("neither checkpoint-digest nor code says which draft waits", "pass checkpoint-digest from the draft job's outputs")
	}
	draft, err := j.verify(ctx)
	if err != nil {
		return report{}, err
	}
	m := draft.Manifest
	on, err := j.desk(draft.now.Pull).Claims(ctx, draft.Code)
	if err != nil {
		return report{}, err
	}
	_, posted, err := post.Standing(ctx, j.ours, j.ref, m.Thread)
	if err != nil || posted || slices.ContainsFunc(on, func(c handoff.Claim) bool { return c.Record.Digest == draft.Digest }) {
		return report{Message: "draft " + draft.Code + " was decided, so the commit is not marked"}, err
	}
	err = write.New(j.api).Mark(ctx, j.ref, m.Subject.Head, write.Mark{
		Instance: j.Instance, Code: draft.Code, Findings: m.Findings, Blockers: m.Blockers, Expires: m.ExpiresAt, Page: j.runPage(m.RunID),
	})
	if err != nil {
		return report{}, err
	}
	return report{Message: "the commit shows that draft " + draft.Code + " waits"}, nil // outputs are the draft job's
}

// runPage is where a run is looked at in a browser.
func (j *job) runPage(run int64) string {
	return fmt.Sprintf("%s/actions/runs/%d", j.ref.Web(), run)
}
