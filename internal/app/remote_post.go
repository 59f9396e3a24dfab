package app

import (
	"context"
	"errors"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wire"
)

// postOwn approves a draft on GitHub and posts it with the caller's token, under their own
// account, after every check of a deciding job. No run records the decision: others learn of
// it from the review itself.
func (r *remote) postOwn(ctx context.Context, d parkedDraft, text string) error {
	if d.Waits() {
		return problem.Refuse(12, "the draft waits for an environment, so nobody posts it under their own account, "+
			"nothing was posted", "leave out --post: that answers for the environment",
			problem.At("environment "+d.Environment+", "+r.runPage(d.RunID)))
	}
	change, err := ingest.Current(ctx, r.api, r.ref)
	if err != nil {
		return err
	}
	verified, err := r.verify(ctx, d, change)
	if err != nil {
		return err
	}
	desk := r.desk(verified.Manifest)
	in, err := reviewpr.Subject().Open(ctx, verified,
		func(store graph.Store) (*graph.Flow[reviewpr.State], error) {
			return reviewpr.New(reviewpr.Steps{Post: func(ctx context.Context, s reviewpr.State) (post.Posted, error) {
				return driver.Post(ctx, r.reviews(d.Manifest), s, desk.Race(*s.Decision), true, r.Warn)
			}}, store, driver.Sealing(r.protection(d.Manifest))...)
		})
	if err != nil {
		return err
	}
	answer, err := r.approval(ctx, in, change.Pull.Author, text)
	if err != nil {
		return err
	}
	r.Say("Looking whether this was posted before; GitHub may show that some seconds late.")
	stop := driver.Beat(ctx, r.Say, driver.Deciding)
	err = in.CarryOut(ctx, desk, answer)
	if stop(); err != nil {
		return err
	}
	report, err := driver.ReportOf(context.WithoutCancel(ctx), in.Flow, in.Store, d.Thread, r.protection(d.Manifest))
	if err != nil {
		return err
	}
	return r.Decided(ctx, report)
}

// verify does checks 1 to 10 of a draft on GitHub.
func (r *remote) verify(ctx context.Context, d parkedDraft, now ingest.Change) (checkpoint.Draft, error) {
	found := slices.DeleteFunc(slices.Clone(r.stored), func(s handoff.Stored) bool { return s.Name != d.name })
	verified, _, err := handoff.Resume{
		Origin: handoff.Origin{
			Names: reviewpr.Names, Subject: reviewpr.PullRequest(r.ref, now.Pull.RepoID, d.Subject.Instance),
			Thread:   func(head string) string { return pull.ThreadID(r.ref, d.Subject.Instance, head) },
			Workflow: r.DraftWorkflow, Branch: r.branch, RunFacts: r.runs.Facts(r.branch),
			Protection: r.protection(d.Manifest), Now: r.Now(),
		},
		Graph: reviewpr.Name, Version: reviewpr.Version, Shown: d.zip.Digest(), Name: d.name,
		Settings: checkpoint.Settings{Trust: d.Trust, ToolVersion: wire.Version(),
			PromptFingerprint: prompt.Fingerprint()},
		Unmoved: func(_ context.Context, o checkpoint.Draft) error {
			return post.CheckHead(o.Manifest.Subject, o.Code, driver.PullNow(now))
		},
	}.Verify(ctx, handoff.Candidates(found, now.Pull.RepoID))
	return verified, err
}

// approval does checks 11 and 12, and returns the answer that the text gives in the name of
// the token's account.
func (r *remote) approval(ctx context.Context, in *handoff.Draft[reviewpr.State], author,
	text string) (answer decision.Answer, err error) {
	viewer, err := r.api.Viewer(ctx)
	if err != nil {
		return answer, err
	}
	if viewer.Bot {
		return answer, problem.Refuse(12, "the token is an app's or a job's, so no person decides, nothing was posted",
			"set GITHUB_TOKEN to your own, such as $(gh auth token)")
	}
	member, err := r.api.Member(ctx, r.ref.Owner, r.ref.Repo, viewer.Login)
	if err != nil && !errors.Is(err, github.ErrNotFound) && !errors.Is(err, github.ErrNoAccess) {
		return answer, err // without write access one cannot read that either
	}
	who := gate.Decider{Login: viewer.Login, Bot: member.Bot, Permission: member.Permission}
	if err := gate.MayDecide(who, author, r.AllowAuthor, false); err != nil {
		return answer, err
	}
	if err := gate.CheckDeciders(viewer.Login, in.State.Draft.Config.Deciders); err != nil {
		return answer, err
	}
	d, err := gate.Decide(text, decision.Approve, "", in.State.Items(), in.Manifest.ExpiresAt)
	record := in.Record(viewer.Login, r.Clock(), decision.ByCommandLine)
	return decision.Answer{Decision: d, Record: record.With(d)}, err
}

// desk returns a desk that reads the decisions of others, and stores none.
func (r *remote) desk(m checkpoint.Manifest) *handoff.Desk {
	warn := func(what string, err error) {
		if err != nil {
			what += ": " + driver.Explain(err)
		}
		r.Warn(what)
	}
	return &handoff.Desk{
		Records: readOnlyRecords{&handoff.Artifacts{
			Runs: r.runs, Subject: reviewpr.PullRequest(r.ref, m.Subject.RepositoryID, m.Subject.Instance),
			Branch: r.branch, Protection: r.protection(m), Out: r.Stderr, Warn: warn,
		}},
		Keyed: r.protection(m).Keyed(), Warn: warn,
		Standing: func(ctx context.Context, thread string) (string, bool, error) {
			return post.FindPosted(ctx, r.reviews(m), r.ref, thread)
		},
	}
}

// readOnlyRecords reads decisions but stores none: only a run can upload an artifact.
type readOnlyRecords struct{ *handoff.Artifacts }

func (readOnlyRecords) Put(context.Context, decision.Record) error { return nil }

// reviews returns the reviews of a draft's pull request, as a deciding job sees them.
func (r *remote) reviews(m checkpoint.Manifest) *post.Ours {
	s := r.Settings
	if s.Protection = r.protection(m); s.Protection.Check() != nil {
		s.Protection = checkpoint.Protection{}
	}
	runs := *r.runs
	runs.Ref.Number = m.Subject.Number
	return r.Reviews(s, r.api, &runs)
}
