package job

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// origin returns where checkpoints of this workflow must come from.
func (j *job) origin(change ingest.Change) handoff.Origin {
	return j.originOf(reviewpr.PullRequest(j.ref, change.Pull.RepoID, j.Instance), change.Pull.DefaultBranch,
		func(head string) string { return pull.ThreadID(j.ref, j.Instance, head) })
}

// originOf returns where checkpoints about a subject must come from. branch is the default branch.
func (j *job) originOf(about checkpoint.Subject, branch string, thread func(head string) string) handoff.Origin {
	return handoff.Origin{
		Names: j.runs.Names, Subject: about, Thread: thread, Branch: branch, Dispatched: j.isTicketJob(),
		Workflow: cmp.Or(workflowFile(j.env.WorkflowRef), j.DraftWorkflow), Run: j.env.RunID,
		RunFacts: j.runs.Facts(branch), Protection: j.Protection, Now: j.Now(),
	}
}

// lag is the time, in seconds, for which GitHub's lists may lack what an earlier job has stored.
const lag = 4

// candidates lists the artifacts with the draft's name. A draft of this run may be too new
// for GitHub's lists, so candidates looks for it again until lag is over.
func (j *job) candidates(ctx context.Context, r handoff.Resume) (found []handoff.Candidate, err error) {
	for second := 0; ; second += 2 {
		found, err = j.listCandidates(ctx, r)
		if len(found) > 0 || err != nil || second >= lag || r.Run != j.env.RunID || j.CheckpointDir != "" {
			return found, err
		}
		if err := transport.Sleep(ctx, 2*time.Second); err != nil {
			return nil, err
		}
	}
}

// listCandidates lists the artifacts with the draft's name. If checkpoint-dir is set it reads that
// folder. Otherwise it asks for this run's by the runner's protocol and, if there is none,
// the API for those of the run or, if r.Run is 0, of the repository.
func (j *job) listCandidates(ctx context.Context, r handoff.Resume) ([]handoff.Candidate, error) {
	if j.CheckpointDir != "" {
		found, err := handoff.Named(ctx, j.carriers().Own(), r.Name)
		if err != nil {
			return nil, problem.New("the folder of checkpoint-dir cannot be read", err.Error(),
				"name the folder that holds the draft's zip")
		}
		return handoff.Candidates(found, r.Subject.RepositoryID), nil
	}
	if j.store != nil && r.Run == j.env.RunID {
		zip, err := j.store.Download(ctx, r.Name, checkpoint.MaxZip)
		if err == nil {
			found := github.Artifact{Name: r.Name, Size: int64(len(zip)), RunID: r.Run,
				RepositoryID: r.Subject.RepositoryID}
			return []handoff.Candidate{{Artifact: found, Fetch: func(context.Context) ([]byte, error) {
				return zip, nil
			}}}, nil
		}
		status, ok := errors.AsType[*transport.StatusError](err)
		if !errors.Is(err, artifact.ErrNotFound) && !(ok && status.Code == http.StatusNotFound) {
			return nil, handoff.Unusable(r.Name, err)
		}
	}
	found, err := j.runs.Stored(ctx, r.Name, r.Run)
	if errors.Is(err, github.ErrNotFound) {
		err = nil // no such run here: check 1
	}
	return handoff.Candidates(found, r.Subject.RepositoryID),
		handoff.NeedsActions(err, "the draft's artifact cannot be read")
}

// decisionsOn returns what records decisions on a draft.
func (j *job) decisionsOn(s reviewpr.State) *handoff.Decisions {
	return j.decisions(s.Pull, s.Draft.Subject.Digest)
}

// decisions returns what records decisions on drafts of the pull request.
func (j *job) decisions(pr *pull.Pull, diff string) *handoff.Decisions {
	return j.decisionsOf(reviewpr.PullRequest(j.ref, pr.RepoID, j.Instance), pr.DefaultBranch,
		func(ctx context.Context, thread string) (string, bool, error) { return j.posted(ctx, thread, diff) })
}

// posted finds the posted review of a thread's diff, of any if diff is empty, whichever of its drafts was approved.
func (j *job) posted(ctx context.Context, thread, diff string) (string, bool, error) {
	return post.FindPosted(ctx, j.ours, j.ref, thread, diff)
}

// decisionsOf returns what records decisions on drafts of a subject. standing finds what
// was done on a thread.
func (j *job) decisionsOf(about checkpoint.Subject, branch string,
	standing func(context.Context, string) (string, bool, error)) *handoff.Decisions {
	decisions := &handoff.Decisions{
		Records: j.records(about, branch), Run: j.env.RunID, Listed: j.CheckpointDir == "" && j.store != nil,
		Keyed: j.Protection.Keyed(), Warn: j.warnOf, Standing: standing,
	}
	if j.own {
		decisions.Records = unrecorded{j.records(about, branch)}
	}
	return decisions
}

// unrecorded reads decisions but stores none: only a run can upload an artifact.
type unrecorded struct{ *handoff.Artifacts }

func (unrecorded) Put(context.Context, decision.Record) error { return nil }

func (j *job) records(about checkpoint.Subject, branch string) *handoff.Artifacts {
	all := &handoff.Artifacts{Runs: j.runs, Subject: about, Branch: branch, Protection: j.Protection, Out: j.Stdout,
		Warn: j.warnOf}
	if j.store != nil || j.CheckpointDir != "" {
		all.Own = j.carriers().Decisions()
	}
	if j.CheckpointDir != "" {
		all.Folder = all.Own
	}
	return all
}

// warnOf writes an annotation that says what happened and, if err is not nil, why.
func (j *job) warnOf(what string, err error) {
	if err != nil {
		what += ": " + driver.Explain(err)
	}
	j.warn(what)
}

// earlierRuns is what earlier runs have left for a pull request.
type earlierRuns struct {
	done   driver.Report // set if this commit was decided already
	paid   reviewpr.Paid
	drafts []checkpoint.Draft // of this commit, which the new draft replaces
	stays  []finding.Finding  // of those drafts that this account may not decide
	again  time.Time          // when again: true made the draft that this run makes or continues, or zero
	// code of the draft whose findings stay, and who had it drafted again
	withdrew, withdrewBy string
	known                [][]finding.Earlier // from decided drafts of the pull request, newest first
}

// readEarlierRuns looks for earlier decisions and paid results. A result that cannot be read is
// paid for again.
func (j *job) readEarlierRuns(ctx context.Context, change ingest.Change) (earlierRuns, error) {
	url, posted, err := j.posted(ctx, change.Thread, "")
	diff := ""
	if posted { // perhaps against another base
		var now ingest.Change
		if now, err = ingest.Current(ctx, j.api, j.ref); err == nil {
			diff = now.Digest()
			url, posted, err = j.posted(ctx, change.Thread, diff)
		}
	}
	switch {
	case ctx.Err() != nil:
		return earlierRuns{}, ctx.Err()
	case err != nil: // the deciding job checks again
		j.warnOf("whether this commit was reviewed before could not be read", err)
	case posted:
		return earlierRuns{done: j.reportUndrafted(ctx, change, reviewpr.Posted, url,
			"this commit was reviewed and posted before; push a commit for a new review")}, nil
	}
	items, origin := j.listStored(ctx), j.origin(change)
	records := j.records(origin.Subject, origin.Branch)
	var b earlierRuns
	found := handoff.Candidates(j.checkpoints(items, origin.Subject), change.Pull.RepoID)
	if j.Anew {
		b.drafts, err = j.decisions(change.Pull, "").Withdrawable(ctx, origin, found, change.Thread, diff,
			j.newRecord())
		if err != nil {
			return earlierRuns{}, err
		}
		if b.stays, err = j.findingsToKeep(ctx, b.drafts, change); err != nil {
			return earlierRuns{}, err
		}
		b.again = j.began.UTC()
		if len(b.stays) > 0 {
			b.withdrew, b.withdrewBy = b.drafts[0].Code, j.actor()
		}
	}
	for _, left := range origin.Earlier(ctx, found, b.paid.Take(change.Thread, j.Anew, len(b.stays) > 0)) {
		if !j.Anew { // otherwise most of these belong to the drafts that are replaced
			j.tell(left.Error())
		}
	}
	if !j.Anew {
		codes := b.continueAgain(change.Thread)
		if records.Rejected(ctx, items, change.Thread, func(r decision.Record) bool {
			return r.At.After(b.again) || slices.Contains(codes, r.Code)
		}) {
			return earlierRuns{done: j.reportUndrafted(ctx, change, reviewpr.Aborted, "",
				"a draft of this commit was rejected; again: true drafts it again")}, nil
		}
	}
	b.known = j.decidedFindings(ctx, records, b.paid.Drafts, items)
	return b, nil
}

// continueAgain continues the commit's newest draft that was made with again: true, if there is one: earlier
// rejections do not apply, and the findings that had to stay in it stay. It returns that draft's code and those of the
// drafts that it continued.
func (b *earlierRuns) continueAgain(thread string) (codes []string) {
	d, shown, codes := b.paid.Again(thread)
	b.again = d.Again
	if d.Withdrew != "" {
		b.stays, b.withdrew, b.withdrewBy = shown, d.Withdrew, d.WithdrewBy
	}
	return codes
}

// decidedFindings returns what decided drafts tell later ones, if a seal vouches for the drafts and
// for their decisions. If there are several decisions on a draft, the oldest counts, as in check 13.
func (j *job) decidedFindings(ctx context.Context, records *handoff.Artifacts, drafts []checkpoint.Draft,
	items []handoff.Stored) (known [][]finding.Earlier) {
	if !j.Protection.Keyed() {
		return nil
	}
	order.Stable(items, func(a, b handoff.Stored) int { return cmp.Compare(a.ID, b.ID) })
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
				if _, posted, err := j.posted(ctx, record.Thread, d.Manifest.Subject.Digest); err != nil || !posted {
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

// reportUndrafted returns the report on a commit that needs no draft.
func (j *job) reportUndrafted(ctx context.Context, change ingest.Change, outcome, url, why string) driver.Report {
	r := driver.Report{Outcome: outcome, Thread: change.Thread, Head: change.Head, ReviewURL: url, Message: why}
	r.State.Draft.Name, r.State.Draft.Web = change.Name, change.Pull.Web()
	j.addStanding(ctx, change, &r)
	return r
}

// addStanding adds to a report without a draft the posted findings that are still open, as far as
// GitHub can tell without the change's content.
func (j *job) addStanding(ctx context.Context, change ingest.Change, r *driver.Report) {
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

// listStored lists what earlier runs have stored. An artifact in several places is listed for each.
func (j *job) listStored(ctx context.Context) []handoff.Stored {
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

// findingsToKeep returns the findings of drafts that this account withdraws but may not decide.
// Otherwise anyone could ask a model again until it is silent.
func (j *job) findingsToKeep(ctx context.Context, drafts []checkpoint.Draft,
	change ingest.Change) (all []finding.Finding, err error) {
	for _, d := range drafts {
		err := j.checkMayDecide(ctx, d.Manifest, change.Config.Deciders, change.Pull.Author)
		if err == nil {
			continue
		}
		if problem.Check(err) == 0 || j.actor() == "" { // a withdrawal must name an account
			return nil, err
		}
		found, err := reviewpr.Judgements(d.Snapshot)
		if err != nil {
			return nil, problem.Refuse(12, "the draft "+d.Code+
				" cannot be read, and only somebody who may decide it may withdraw it",
				"let somebody who may decide draft it again", problem.At(err.Error()))
		}
		all = append(all, found...)
	}
	return all, nil
}

// newRecord returns a record with this job's time and account, and no decision.
func (j *job) newRecord() decision.Record { return decision.Record{At: j.Clock(), By: j.actor()} }

// reviewStore returns the store of a review in progress.
func (j *job) reviewStore(change ingest.Change) *artifactstore.Store {
	return j.progressStore(func(saved graph.Saved, n int) (string, []byte, error) {
		packed, err := reviewpr.PackPartial(saved, n, j.Protection)
		subject := reviewpr.PullRequest(j.ref, change.Pull.RepoID, j.Instance)
		return reviewpr.Names.Partial(subject, n, packed.Digest), packed.Zip, err
	})
}

// progressStore returns the store of a run in progress. pack makes a checkpoint of the progress.
func (j *job) progressStore(pack func(graph.Saved, int) (string, []byte, error)) *artifactstore.Store {
	return artifactstore.New(artifactstore.Options{
		Carriers: j.carriers().Progress(), Pack: pack,
		OnError: func(err error) {
			if !errors.Is(err, handoff.ErrNotRead) {
				j.warnOf("progress could not be stored", err)
			}
		},
	})
}

// artifactExpiry returns when the server deletes the draft's artifact, or the zero time if it does
// not say. A repository's own limit may be shorter than the requested time.
func (j *job) artifactExpiry(ctx context.Context, name string) time.Time {
	list, _, err := j.api.Artifacts(ctx, j.ref.Owner, j.ref.Repo, github.Artifacts{Run: j.env.RunID, Name: name})
	if err != nil || len(list) == 0 {
		return time.Time{}
	}
	return list[0].ExpiresAt
}
