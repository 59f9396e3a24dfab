package post

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// Ours reads a pull request and decides which of its reviews this product posted. Anybody can
// write a marker, so it only counts with evidence: the review's account and, if that is a bot,
// which every workflow can be, the key, or else a recorded decision.
type Ours struct {
	*github.Client
	Runs       *handoff.Runs
	Protection checkpoint.Protection // of markers and records
	Folder     artifactstore.Carrier // another store of records; nil for none
	Decided    map[string]bool       // digests that are decided in the local store
	Retention  time.Duration         // of the records
	Author     bool                  // whether the pull request's author may decide
	Now        func() time.Time

	pull    *pull.Pull // nil until it is read
	viewer  *github.Viewer
	writers map[string]bool // by login
	proofs  map[string]bool // by review ID and body; a result is kept for the whole run
	asked   map[postedBy]int
}

// NewOurs returns a copy of o, ready for use.
func NewOurs(o Ours) *Ours {
	o.writers, o.proofs, o.asked = map[string]bool{}, map[string]bool{}, map[postedBy]int{}
	return &o
}

// Stands reports whether a review on the pull request is ours. A person with write access who
// posted with a token of their own has no record on GitHub, and counts.
func (o *Ours) Stands(ctx context.Context, r github.Review, m marker.Review) (bool, error) {
	by, err := o.accountKind(ctx, r, m)
	if err != nil || by == aWriter {
		return by == aWriter, err
	}
	return o.isProved(ctx, r, m, by)
}

// Remembers reports whether the lists of a review's marker count for later drafts. Unlike Stands,
// it demands a recorded decision of a person too.
func (o *Ours) Remembers(ctx context.Context, r github.Review, m marker.Review) (bool, error) {
	by, err := o.accountKind(ctx, r, m)
	if err != nil {
		return false, err
	}
	return o.isProved(ctx, r, m, by)
}

// postedBy is the kind of account that posted a review.
type postedBy int

const (
	nobody  postedBy = iota
	aBot             // shared by every workflow
	anApp            // possibly that of our token
	aWriter          // a person who may write here and decide, or whose token we use
)

// accountKind returns the kind of account of a review. The marker must name the commit of the review;
// the thread is for the caller to compare.
func (o *Ours) accountKind(ctx context.Context, r github.Review, m marker.Review) (postedBy, error) {
	if r.State == "PENDING" || r.CommitID == "" || !strings.HasSuffix(m.Thread, ":"+r.CommitID) {
		return nobody, nil
	}
	if o.viewer == nil {
		viewer, err := o.Viewer(ctx)
		if err != nil && !errors.Is(err, github.ErrNoAccess) { // without a token no review is known to be ours
			return nobody, err
		}
		o.viewer = &viewer
	}
	switch {
	case *o.viewer == github.Viewer{}:
		return nobody, nil
	case r.UserType == "Bot" && r.User == github.ActionsBot:
		return aBot, nil
	case r.UserType == "Bot" && o.viewer.Bot:
		return anApp, nil
	case r.UserType == "Bot" || r.User == "":
		return nobody, nil
	case strings.EqualFold(r.User, o.viewer.Login):
		return aWriter, nil
	}
	may, err := o.mayWrite(ctx, r.User)
	if !may || err != nil {
		return nobody, err
	}
	return aWriter, nil
}

// maxWriters is the number of accounts whose permission is read: anybody can review.
const maxWriters = 30

func (o *Ours) mayWrite(ctx context.Context, login string) (bool, error) {
	may, known := o.writers[login]
	if known || len(o.writers) == maxWriters {
		return may, nil
	}
	now, err := o.currentPull(ctx)
	if err != nil {
		return false, err
	}
	member, err := o.Member(ctx, now.Owner, now.Repo, login)
	if err != nil && !errors.Is(err, github.ErrNotFound) && !errors.Is(err, github.ErrNoAccess) {
		return false, err
	}
	own := strings.EqualFold(login, now.Author) && !o.Author
	o.writers[login] = !own && !member.Bot && github.MayWrite(member.Permission)
	return o.writers[login], nil
}

// currentPull returns the pull request. It is read once, because its author does not change.
func (o *Ours) currentPull(ctx context.Context) (pull.Pull, error) {
	if o.pull == nil {
		now, err := o.Pull(ctx, o.Runs.Ref)
		if err != nil {
			return now, err
		}
		o.pull = &now
	}
	return *o.pull, nil
}

// isProved reports whether a review results from a decision: by the marker's MAC if there is a key,
// otherwise by the record, or because it is older than records are kept. A result is kept for the
// whole run, so that a review from before its own decision was recorded gains nothing by the
// record.
func (o *Ours) isProved(ctx context.Context, r github.Review, m marker.Review, by postedBy) (ok bool, err error) {
	of := fmt.Sprint(r.ID, r.Body)
	if ok, known := o.proofs[of]; known || by == nobody {
		return ok, nil
	}
	key := o.Protection.MarkerKey()
	switch sealed := m.Sealed(key); {
	case sealed, key != nil && by != aWriter:
		ok = sealed
	case o.Decided[m.Digest], key == nil && !r.At.IsZero() && o.Now().Sub(r.At) > o.Retention:
		ok = true
	case o.asked[by] < maxProofs:
		o.asked[by]++
		ok, err = o.hasRecord(ctx, r, m)
	}
	if ok && err == nil && by == anApp {
		ok, err = o.isOwn(ctx, r.User)
	}
	if err == nil {
		o.proofs[of] = ok
	}
	return ok, err
}

// isOwn reports whether our token belongs to that app.
func (o *Ours) isOwn(ctx context.Context, app string) (bool, error) {
	login, err := o.App(ctx)
	if errors.Is(err, github.ErrNoAccess) || errors.Is(err, github.ErrNotFound) {
		return false, nil
	}
	return strings.EqualFold(login, app), err
}

// Limits of look-ups, newest first: reviews by each kind of account, and for each the artifacts
// with its record's name, which anybody can use.
const (
	maxProofs  = 30
	maxRecords = 20
)

// maxClockSkew is the largest assumed difference between the clocks of GitHub's services.
const maxClockSkew = time.Minute

// hasRecord looks for the decision that a review carries out: an approval of its digest and thread
// that an entitled run stored before the review was posted. It is looked up by its exact name, so
// that no other artifact hides it.
func (o *Ours) hasRecord(ctx context.Context, r github.Review, m marker.Review) (bool, error) {
	if len(m.Digest) != 64 {
		return false, nil
	}
	now, err := o.currentPull(ctx)
	if err != nil {
		return false, err
	}
	name := o.Runs.Names.Decision(checkpoint.Code(m.Digest))
	found, err := handoff.Named(ctx, artifactstore.REST{API: o.Client, Owner: now.Owner, Repo: now.Repo,
		Artifacts: github.Artifacts{Name: name}}, name)
	if errors.Is(err, github.ErrNoAccess) && o.Runs.Event == "" {
		return false, nil // a person's own token that may not read artifacts
	}
	if err != nil {
		return false, handoff.NeedsActions(err, "the decisions behind posted reviews cannot be read")
	}
	found = slices.DeleteFunc(found, func(s handoff.Stored) bool {
		return s.Expired || !r.At.IsZero() && s.Created.After(r.At.Add(maxClockSkew))
	})
	found = found[:min(len(found), maxRecords)]
	if o.Folder != nil {
		there, _ := handoff.Named(ctx, o.Folder, name) // an unreadable folder has no decision
		found = append(found, there...)
	}
	for _, s := range found {
		claim, ours, err := o.Runs.Claim(ctx, s, o.Protection, now.RepoID, now.DefaultBranch)
		if err != nil && problem.Check(err) == 0 {
			return false, err
		}
		on := claim.Record
		if err == nil && ours && on.Digest == m.Digest && strings.EqualFold(on.Thread, m.Thread) &&
			on.Decision == decision.Approve {
			return true, nil
		}
	}
	return false, nil
}
