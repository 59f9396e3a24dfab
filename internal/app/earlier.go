package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
)

// artifactPages bounds how far back a repository's artifacts are searched, 100
// a page: the API cannot search by prefix.
const artifactPages = 5

// before is what earlier runs have left of a pull request.
type before struct {
	done   report // where this commit was decided already
	paid   reviewpr.Paid
	drafts []checkpoint.Opened // of this very commit, with again: true
}

// before looks for what was decided and paid before. What was paid and cannot
// be read is paid again.
func (j *job) before(ctx context.Context, change ingest.Change) (before, error) {
	url, posted, err := post.Standing(ctx, j.api, j.ref, change.Thread)
	if err != nil {
		return before{}, err
	}
	if posted {
		return before{done: decided(change, reviewpr.Posted, url, "this commit was reviewed and posted before; push a commit for a new review")}, nil
	}
	items := j.left(ctx)
	r := j.trusting(change)
	var b before
	switch {
	case j.anew:
		b.drafts = j.draftsOf(ctx, r, items, change.Thread)
		for _, d := range b.drafts {
			if err := j.withdrawable(ctx, change.Pull, d); err != nil {
				return before{}, err
			}
		}
		r.Again = true
		r.Candidates = j.candidatesOf(j.checkpoints(items), r.RepoID)
		r.Earlier(ctx, &b.paid, change.Thread)
	case j.remembersAbort(ctx, items, change.Thread):
		return before{done: decided(change, reviewpr.Aborted, "", "a draft of this commit was rejected; again: true drafts anew")}, nil
	default:
		r.Candidates = j.candidatesOf(j.checkpoints(items), r.RepoID)
		for _, left := range r.Earlier(ctx, &b.paid, change.Thread) {
			fmt.Fprintln(j.Stdout, guard.Line(left.Error(), maxLine))
		}
	}
	return b, nil
}

// decided is the report of a commit that needs no draft any more.
func decided(change ingest.Change, outcome, url, why string) report {
	r := report{Outcome: outcome, Thread: change.Thread, Head: change.Head, DiffDigest: change.Digest(), ReviewURL: url, Message: why}
	r.state.Draft.Name, r.state.Draft.Web = change.Name, change.Pull.Web()
	return r
}

// checkpoints are the drafts and partial checkpoints of this pull request and
// instance, each once.
func (j *job) checkpoints(all []source) []source {
	var out []source
	for _, s := range all {
		name, ok := checkpoint.ParseName(s.Name)
		known := slices.ContainsFunc(out, func(o source) bool { return o.Name == s.Name && o.RunID == s.RunID })
		if ok && name.Pull == j.ref.Number && name.Instance == j.instance && !known {
			out = append(out, s)
		}
	}
	return out
}

// trusting is what an earlier checkpoint is checked against.
func (j *job) trusting(change ingest.Change) reviewpr.Resume {
	return reviewpr.Resume{
		Ref: j.ref, RepoID: change.Pull.RepoID, Instance: j.instance, Branch: change.Pull.DefaultBranch, Protection: j.protection,
		Workflow: cmp.Or(workflowFile(j.env.WorkflowRef), j.draftWorkflow), Run: j.env.RunID, RunFacts: j.runFacts, Now: j.Now(),
	}
}

// left lists what earlier attempts and, where a seal can vouch for them, other
// runs have stored. Several places may hold one artifact.
func (j *job) left(ctx context.Context) []source {
	var all []source
	for _, place := range j.places() {
		items, err := place.List(ctx)
		if err != nil {
			fmt.Fprintln(j.Stdout, guard.Line("looking for earlier results: "+err.Error(), maxLine))
		}
		for _, i := range items {
			all = append(all, source{i, place})
		}
	}
	return all
}

// places are where checkpoints of this pull request may be.
func (j *job) places() []artifactstore.Carrier {
	if j.checkpointDir != "" {
		return []artifactstore.Carrier{j.carrier()}
	}
	rest := artifactstore.REST{API: j.api, Owner: j.ref.Owner, Repo: j.ref.Repo, Prefix: "pr-review-", RunID: j.env.RunID, Pages: artifactPages}
	if j.protection.Keyed() || j.anew {
		rest.RunID = 0
	}
	var places []artifactstore.Carrier // the run's own first
	if j.store != nil {
		places = append(places, j.carrier())
	}
	if j.store != nil && j.protection.Keyed() {
		places = append(places, j.cache())
	}
	return append(places, rest)
}

// carrier stores this run's checkpoints.
func (j *job) carrier() artifactstore.Carrier {
	if j.checkpointDir != "" {
		return artifactstore.Dir{Path: j.checkpointDir, Prefix: "pr-review-"}
	}
	return artifactstore.Runtime{Client: j.store, Prefix: "pr-review-", Days: j.retention, RunID: j.env.RunID, RepositoryID: j.env.RepositoryID}
}

// cache carries what "Re-run all jobs" would delete. Anybody may have written
// to it, so it is for sealed checkpoints alone.
func (j *job) cache() artifactstore.Carrier {
	return artifactstore.Cache{Client: j.store, Prefix: fmt.Sprintf("pr-review-%d-%s-%d-", j.ref.Number, j.instance, j.env.RunID)}
}

// candidatesOf are listed artifacts, newest first. A folder and the cache hold
// what is ours and tell nothing of it: no size, no repository. Of an artifact
// whose run GitHub does not tell, nothing is assumed.
func (j *job) candidatesOf(found []source, repoID int64) []reviewpr.Candidate {
	var out []reviewpr.Candidate
	for _, s := range found {
		switch s.from.(type) {
		case artifactstore.Dir, artifactstore.Cache:
			s.RepositoryID = repoID
		}
		out = append(out, reviewpr.Candidate{
			Found: checkpoint.Found{
				Name: s.Name, Size: max(s.Size, 1), Digest: s.Digest, Expired: s.Expired, ExpiresAt: s.ExpiresAt,
				RepositoryID: s.RepositoryID,
			},
			Run: s.RunID,
			Fetch: func(ctx context.Context) ([]byte, error) {
				zip, err := s.from.Get(ctx, s.Item, checkpoint.MaxZip)
				return zip, unusable(s.Name, err)
			},
		})
	}
	return out
}

// draftsOf opens the parked drafts of this very commit, to withdraw them.
func (j *job) draftsOf(ctx context.Context, r reviewpr.Resume, all []source, thread string) []checkpoint.Opened {
	var drafts []checkpoint.Opened
	for _, c := range j.candidatesOf(j.checkpoints(all), r.RepoID) {
		opened, err := r.Open(ctx, c)
		same := err == nil && opened.Manifest.Thread == thread && opened.Manifest.Partial == 0
		if same && !slices.ContainsFunc(drafts, func(d checkpoint.Opened) bool { return d.Digest == opened.Digest }) {
			drafts = append(drafts, opened)
		}
	}
	return drafts
}

// withdrawable refuses, before anything is paid, what withdraw would refuse.
func (j *job) withdrawable(ctx context.Context, pr *pull.Pull, d checkpoint.Opened) error {
	on, err := j.claims(ctx, d.Code, pr)
	if err != nil {
		return err
	}
	return post.Governed(on, decision.Record{Thread: d.Manifest.Thread, Digest: d.Digest, Code: d.Code}.Withdraws(""))
}

// withdraw records that newer replaces the drafts, so that none of them can be
// decided any more. It is refused where one was approved.
func (j *job) withdraw(ctx context.Context, pr *pull.Pull, drafts []checkpoint.Opened, newer string) error {
	var errs []error
	for _, d := range drafts {
		record := decision.Record{Thread: d.Manifest.Thread, Digest: d.Digest, Code: d.Code, At: j.Now().UTC().Truncate(time.Second), By: j.by()}
		_, err := j.claimed(ctx, pr, record.Withdraws(newer), reviewpr.Draft{})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// by is the account that started this attempt of the run.
func (j *job) by() string { return cmp.Or(j.env.TriggeringActor, j.env.Actor) }

// remembersAbort reports whether a draft of this commit was rejected. Only a
// sealed record is believed: without a key an abort holds for its code alone.
func (j *job) remembersAbort(ctx context.Context, all []source, thread string) bool {
	if !j.protection.Keyed() {
		return false
	}
	for _, s := range all {
		if !strings.HasPrefix(s.Name, checkpoint.DecisionArtifactName("")) {
			continue
		}
		zip, err := s.from.Get(ctx, s.Item, checkpoint.MaxZip)
		if err != nil {
			continue // gone, or nobody's
		}
		record, err := j.protection.OpenRecord(zip)
		if err == nil && record.Thread == thread && record.Decision == decision.Abort && !record.Withdrawn() {
			return true
		}
	}
	return false
}

// carried is the store of a run under way.
func (j *job) carried(change ingest.Change) *artifactstore.Store {
	o := artifactstore.Options{
		Pack: func(saved graph.Saved, n int) (string, []byte, error) {
			packed, err := reviewpr.PackPartial(saved, n, j.protection)
			return checkpoint.PartialName(change.Pull.Number, j.instance, n, packed.Digest), packed.Zip, err
		},
		OnError: func(err error) {
			if !errors.Is(err, reviewpr.ErrNotRead) {
				j.runner.Warning("progress could not be stored: " + explain(err))
			}
		},
	}
	if j.checkpointDir != "" || j.store != nil {
		o.Carriers = []artifactstore.Carrier{j.carrier()}
	}
	if j.store != nil && j.protection.Keyed() && j.checkpointDir == "" {
		o.Carriers = append(o.Carriers, j.cache())
	}
	return artifactstore.New(o)
}

// put stores a whole checkpoint or a decision.
func (j *job) put(ctx context.Context, name string, zip []byte) error {
	return j.carrier().Put(ctx, name, zip)
}

// retained is when the server deletes the draft's artifact, as far as it says;
// a repository's own limit may be shorter than what was asked for.
func (j *job) retained(ctx context.Context, name string) time.Time {
	list, err := j.api.RunArtifacts(ctx, j.ref.Owner, j.ref.Repo, j.env.RunID, name)
	if err != nil || len(list) == 0 {
		return time.Time{}
	}
	return list[0].ExpiresAt
}
