package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// remoteDrafts bounds how many drafts of a repository are read for the list.
const remoteDrafts = 50

// remote is a repository on GitHub whose drafts are artifacts.
type remote struct {
	*app
	api     *github.Client
	ref     pull.Ref // without a number: the whole repository
	branch  string   // the default branch
	runs    *handoff.Runs
	stored  []handoff.Stored // drafts and decisions that the repository's runs stored
	readErr error            // why a draft, perhaps a valid one, could not be read
}

// remote makes the client and lists the stored artifacts. The key is a secret, so it may come
// from the environment.
func (a *app) remote(ctx context.Context, ref pull.Ref) (*remote, error) {
	if _, err := a.FromEnv(a.Getenv, "checkpoint-key"); err != nil {
		return nil, err
	}
	if err := a.InRepository(); err != nil {
		return nil, err
	}
	api, err := a.GitHub(ref, a.Settings)
	if err != nil {
		return nil, err
	}
	if !api.Authorized() {
		return nil, problem.Usage("there is no token, and GitHub hands out no draft without one",
			"set GITHUB_TOKEN to one that may read actions there, such as $(gh auth token)",
			problem.At(ref.FullName()+" on "+ref.Host))
	}
	r := &remote{app: a, api: api, ref: ref,
		runs: driver.Runs(api, ref, "", a.DraftWorkflow, a.DecideWorkflow)}
	repo, err := api.Repository(ctx, ref.Owner, ref.Repo)
	if err != nil {
		return nil, err
	}
	r.branch = repo.DefaultBranch
	return r, r.refresh(ctx)
}

// refresh reads the list of stored artifacts again.
func (r *remote) refresh(ctx context.Context) (err error) {
	r.stored, err = handoff.List(ctx, r.runs.Everything())
	r.runs.TellCut(r.Stderr)
	return handoff.NeedsActions(err, "the repository's artifacts cannot be read")
}

// parkedDraft is a draft on GitHub that passed checks 1 to 4.
type parkedDraft struct {
	checkpoint.Manifest
	zip  checkpoint.Zip
	code string
	name string
}

// drafts reads the wanted drafts that are not partial, newest first, each once. It warns of
// a draft that fails a check, and leaves it out.
func (r *remote) drafts(ctx context.Context, wanted func(handoff.Name) bool) []parkedDraft {
	var drafts []parkedDraft
	for _, s := range r.stored {
		name, ok := reviewpr.Names.Parse(s.Name)
		known := slices.ContainsFunc(drafts, func(d parkedDraft) bool { return d.name == s.Name })
		if !ok || name.Partial > 0 || s.Expired || known || !wanted(name) {
			continue
		}
		if len(drafts) == remoteDrafts {
			fmt.Fprintf(r.Stderr, "Only the newest %d drafts are read.\n", remoteDrafts)
			break
		}
		origin := handoff.Origin{Names: reviewpr.Names, Subject: checkpoint.Subject{RepositoryID: s.RepositoryID},
			Workflow: r.DraftWorkflow, Branch: r.branch, RunFacts: r.runs.Facts(r.branch), Now: r.Now()}
		zip, m, err := origin.Peek(ctx, handoff.Candidates([]handoff.Stored{s}, s.RepositoryID)[0])
		if err != nil && problem.Check(err) == 0 {
			r.readErr = err
		}
		if err != nil {
			r.Warn(s.Name + " is left out: " + driver.Gist(err))
			continue
		}
		drafts = append(drafts, parkedDraft{m, zip, name.Code, s.Name})
	}
	return drafts
}

// protection returns what opens a draft. With a key, a seal is required, whatever the draft
// says about itself; without one, the draft's own trust tells whether a key is needed.
func (r *remote) protection(m checkpoint.Manifest) checkpoint.Protection {
	p := checkpoint.Protection{Trust: m.Trust, Key: r.Protection.Key}
	if p.Key != (checkpoint.Key{}) && p.Trust != checkpoint.TrustEncrypt {
		p.Trust = checkpoint.TrustSeal
	}
	return p
}

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

// howToDecide returns the page or the command to decide a draft with.
func (r *remote) howToDecide(d parkedDraft) string {
	if d.Waits() {
		return r.runPage(d.RunID)
	}
	return driver.DispatchOn(r.DecideWorkflow, r.ref, "draft="+driver.DraftName(d.Subject.Number, d.code)) +
		fmt.Sprintf(" -f checkpoint-digest=%s -f decision=approve", d.zip.Digest())
}

// runPage returns the address of a run's page.
func (r *remote) runPage(run int64) string { return driver.RunPage(r.ref, run) }

// resumeLine returns the command that resumes a draft on GitHub.
func (r *remote) resumeLine(d parkedDraft) string {
	ref := r.ref
	ref.Number = d.Subject.Number
	command := r.Name + " resume " + driver.Quoted(ref.String())
	if d.Subject.Instance != "" {
		command += " --instance " + d.Subject.Instance
	}
	command += " --code " + d.code
	if r.Post && !d.Waits() {
		command += " --post"
	}
	return command
}
