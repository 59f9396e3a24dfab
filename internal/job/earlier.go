package job

import (
	"context"
	"errors"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
)

// before is what earlier runs have left for a pull request.
type before struct {
	done   driver.Report // set if this commit was decided already
	paid   reviewpr.Paid
	drafts []checkpoint.Draft  // of this commit, which the new draft replaces
	stays  []finding.Finding   // of those drafts that this account may not decide
	known  [][]finding.Earlier // from decided drafts of the pull request, newest first
}

// before looks for earlier decisions and paid results. A result that cannot be read is
// paid for again.
func (j *job) before(ctx context.Context, change ingest.Change) (before, error) {
	url, posted, err := post.FindPosted(ctx, j.ours, j.ref, change.Thread)
	if ctx.Err() != nil {
		return before{}, ctx.Err()
	}
	if err != nil { // the deciding job checks again
		j.warning("whether this commit was reviewed before could not be read", err)
	}
	if posted {
		return before{done: j.undrafted(ctx, change, reviewpr.Posted, url,
			"this commit was reviewed and posted before; push a commit for a new review")}, nil
	}
	items, origin := j.left(ctx), j.origin(change)
	records := j.records(origin.Subject, origin.Branch)
	if !j.Anew && records.Rejected(ctx, items, change.Thread) {
		return before{done: j.undrafted(ctx, change, reviewpr.Aborted, "",
			"a draft of this commit was rejected; again: true drafts it again")}, nil
	}
	var b before
	found := handoff.Candidates(j.checkpoints(items, origin.Subject), change.Pull.RepoID)
	if j.Anew {
		if b.drafts, err = j.desk(change.Pull).Withdrawable(ctx, origin, found, change.Thread, j.now()); err != nil {
			return before{}, err
		}
		if b.stays, err = j.stays(ctx, b.drafts, change); err != nil {
			return before{}, err
		}
	}
	for _, left := range origin.Earlier(ctx, found, b.paid.Take(change.Thread, j.Anew)) {
		if !j.Anew { // otherwise most of these belong to the drafts that are replaced
			j.tell(left.Error())
		}
	}
	b.known = j.known(ctx, records, b.paid.Drafts, items)
	return b, nil
}

// known returns what decided drafts tell later ones, if a seal vouches for the drafts and
// for their decisions.
func (j *job) known(ctx context.Context, records *handoff.Artifacts, drafts []checkpoint.Draft,
	items []handoff.Stored) (known [][]finding.Earlier) {
	if !j.Protection.Keyed() {
		return nil
	}
	for _, d := range drafts {
		for _, s := range items {
			if s.Name != reviewpr.Names.Decision(d.Code) {
				continue
			}
			record, err := records.Record(ctx, s)
			if err != nil || record.Digest != d.Digest || record.Withdrawn() {
				continue
			}
			if record.Decision == decision.Approve { // recorded before the review is posted, and posting may fail
				if _, posted, err := post.FindPosted(ctx, j.ours, j.ref, record.Thread); err != nil || !posted {
					continue
				}
			}
			known = append(known, reviewpr.PostedFindings(d.Snapshot, record))
			break
		}
	}
	return known
}

// recall returns a function that reads what was said about the pull request before.
func (j *job) recall(known [][]finding.Earlier) func(context.Context, ingest.Change) ([]finding.Earlier, error) {
	return func(ctx context.Context, change ingest.Change) ([]finding.Earlier, error) {
		return driver.Recall(ctx, j.ours, j.Instance, change, known, j.tell)
	}
}

// undrafted returns the report on a commit that needs no draft.
func (j *job) undrafted(ctx context.Context, change ingest.Change, outcome, url, why string) driver.Report {
	r := driver.Report{Outcome: outcome, Thread: change.Thread, Head: change.Head, ReviewURL: url, Message: why}
	r.State.Draft.Name, r.State.Draft.Web = change.Name, change.Pull.Web()
	j.stand(ctx, change, &r)
	return r
}

// stand adds to a report without a draft the posted findings that still stand, as far as
// GitHub can tell without the change's content.
func (j *job) stand(ctx context.Context, change ingest.Change, r *driver.Report) {
	earlier, err := j.recall(nil)(ctx, change)
	r.State.Earlier, r.Standing, r.Read = earlier, finding.Standing(earlier), err == nil
	if err != nil {
		j.tell("what was posted before could not be read: " + driver.Explain(err))
	}
}

// checkpoints returns the drafts and partial checkpoints of a subject, each once.
func (j *job) checkpoints(all []handoff.Stored, about checkpoint.Subject) []handoff.Stored {
	var out []handoff.Stored
	for _, s := range all {
		known := slices.ContainsFunc(out, func(o handoff.Stored) bool { return o.Name == s.Name && o.RunID == s.RunID })
		name, ok := j.runs.Names.Parse(s.Name)
		if ok && !known && name.Of(about) {
			out = append(out, s)
		}
	}
	return out
}

// left lists what earlier runs have stored. An artifact in several places is listed for each.
func (j *job) left(ctx context.Context) []handoff.Stored {
	var all []handoff.Stored
	for _, place := range j.carriers().Earlier(j.runs.Everything()) {
		found, err := handoff.List(ctx, place)
		if err != nil {
			j.tell("looking for earlier results: " + err.Error())
		}
		all = append(all, found...)
	}
	j.runs.TellCut(j.Stdout)
	return all
}

// stays returns the findings of drafts that this account withdraws but may not decide.
// Otherwise anyone could ask a model again until it is silent.
func (j *job) stays(ctx context.Context, drafts []checkpoint.Draft,
	change ingest.Change) (all []finding.Finding, err error) {
	for _, d := range drafts {
		err := j.mayDecide(ctx, d.Manifest, change.Config.Deciders, change.Pull.Author)
		if err == nil {
			continue
		}
		if problem.Check(err) == 0 || j.by() == "" { // a withdrawal must name an account
			return nil, err
		}
		found, err := reviewpr.Judgements(d.Snapshot)
		if err != nil {
			return nil, problem.Refuse(12, "the draft "+d.Code+
				" cannot be read, and who may not decide it may not withdraw it",
				"let somebody who may decide draft it again", problem.At(err.Error()))
		}
		all = append(all, found...)
	}
	return all, nil
}

// now returns a record with this job's time and account, and no decision.
func (j *job) now() decision.Record { return decision.Record{At: j.Clock(), By: j.by()} }

// carried returns the store of a review in progress.
func (j *job) carried(change ingest.Change) *artifactstore.Store {
	return j.carrying(func(saved graph.Saved, n int) (string, []byte, error) {
		packed, err := reviewpr.PackPartial(saved, n, j.Protection)
		subject := reviewpr.PullRequest(j.ref, change.Pull.RepoID, j.Instance)
		return reviewpr.Names.Partial(subject, n, packed.Digest), packed.Zip, err
	})
}

// carrying returns the store of a run in progress. pack makes a checkpoint of the progress.
func (j *job) carrying(pack func(graph.Saved, int) (string, []byte, error)) *artifactstore.Store {
	return artifactstore.New(artifactstore.Options{
		Carriers: j.carriers().Progress(), Pack: pack,
		OnError: func(err error) {
			if !errors.Is(err, handoff.ErrNotRead) {
				j.warning("progress could not be stored", err)
			}
		},
	})
}
