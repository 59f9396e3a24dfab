package driver

import (
	"context"
	"time"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/recall"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/settings"
)

// Reviews makes what reads a pull request with the settings of a job or a command.
func (f *Front) Reviews(s settings.Settings, api *github.Client, runs *handoff.Runs) *post.Ours {
	return post.NewOurs(post.Ours{
		Client: api, Runs: runs, Protection: s.Protection, Author: s.AllowAuthor,
		Retention: time.Duration(s.Records) * 24 * time.Hour, Now: f.Now, Decided: map[string]bool{},
	})
}

// Runs reads the runs of a pull request's repository.
func Runs(api *github.Client, ref pull.Ref, event string, files ...string) *handoff.Runs {
	return &handoff.Runs{API: api, Ref: ref, Names: reviewpr.Names, Event: event, Files: files}
}

// PullNow is what resume check 9 compares of a pull request as it was read.
func PullNow(c ingest.Change) post.Now {
	return post.Now{Open: c.Pull.Open(), Merged: c.Pull.Merged, HeadSHA: c.Head, DiffDigest: c.Digest()}
}

// Post posts the approved review of a thread when nobody is ahead in the race.
func Post(ctx context.Context, o *post.Ours, s reviewpr.State, race *handoff.Race, tried bool,
	warn func(string)) (post.Posted, error) {
	w := write.New(o.Client)
	q := post.Request{
		Ref: s.Pull.Ref, Commit: s.Draft.Head, Thread: s.Draft.Thread, Digest: s.Decision.Digest,
		Key: o.Protection.MarkerKey(), Review: s.Review(), Decision: *s.Decision, Race: race,
		Tried: tried,
	}
	if s.Draft.Config.Comments.Resolve {
		q.Threads = &post.Threads{List: o.Threads, Resolve: w.ResolveThread}
	}
	done, err := post.Review(ctx, o, w, q)
	if done.Unresolved != nil {
		warn(Explain(done.Unresolved))
	}
	return done, err
}

// LocalReview is the review of local input, with every finding in the body:
// there are no lines to put comments at.
func LocalReview(s reviewpr.State) string {
	return LocalBody(s) + "\n\n" + render.Approval(*s.Decision, s.Draft.Rules) + "\n"
}

// Recall returns what was said of a pull request before; tell hears of what could
// not be had. With an error it is what could be had without our earlier reviews.
func Recall(ctx context.Context, o *post.Ours, instance string, change ingest.Change, known [][]finding.Earlier,
	tell func(string)) ([]finding.Earlier, error) {
	all, left, err := recall.Recall(ctx, o, recall.Change{Pull: *change.Pull, Instance: instance, Files: change.Files,
		Unlisted: change.Unlisted, Known: known})
	for _, why := range left {
		tell(why.Error())
	}
	return all, err
}
