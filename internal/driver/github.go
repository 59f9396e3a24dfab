package driver

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/recall"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/settings"
)

// Reviews returns a reader of pull requests with the settings of a job or a command.
func (f *Front) Reviews(s settings.Settings, api *github.Client, runs *handoff.Runs) *post.Ours {
	return post.NewOurs(post.Ours{
		Client: api, Runs: runs, Protection: s.Protection, Author: s.AllowAuthor,
		Retention: time.Duration(s.Records) * 24 * time.Hour, Now: f.Now, Decided: map[string]bool{},
	})
}

// Runs returns a reader of the runs in a pull request's repository.
func Runs(api *github.Client, ref pull.Ref, event string, files ...string) *handoff.Runs {
	return &handoff.Runs{API: api, Ref: ref, Names: reviewpr.Names, Event: event, Files: files}
}

// PullNow returns what resume check 9 compares of a pull request.
func PullNow(c ingest.Change) post.Now {
	return post.Now{Open: c.Pull.Open(), Merged: c.Pull.Merged, HeadSHA: c.Head, DiffDigest: c.Digest()}
}

// Post posts the approved review of a thread when no other job is ahead in the race.
func Post(ctx context.Context, o *post.Ours, s reviewpr.State, race *handoff.Race, tried bool,
	warn func(string)) (post.Posted, error) {
	w := write.New(o.Client)
	q := post.Request{
		Ref: s.Pull.Ref, Commit: s.Draft.Subject.Head, Thread: s.Draft.Thread,
		Diff: s.Draft.Subject.Digest, Base: *s.Pull, Drafted: s.Draft.CreatedAt, Digest: s.Decision.Digest,
		Key: o.Protection.MarkerKey(), Review: s.Review(), Decision: *s.Decision, Race: race, Tried: tried,
		Now: func(ctx context.Context) (now post.Now, err error) {
			c, err := ingest.Current(ctx, o.Client, s.Pull.Ref)
			if err == nil {
				now = PullNow(c)
			}
			return now, err
		},
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

// LocalReview returns the review of local input, with every finding in the body,
// because there are no lines to attach comments to.
func LocalReview(s reviewpr.State) string {
	return LocalBody(s) + "\n\n" + render.Approval(*s.Decision, s.Draft.Rules) + "\n"
}

// Recall returns what was said about a pull request before; tell receives what could
// not be read. Together with an error it returns the part without our earlier reviews.
func Recall(ctx context.Context, o *post.Ours, instance string, change ingest.Change, known [][]finding.Earlier,
	tell func(string)) ([]finding.Earlier, error) {
	all, left, err := recall.Recall(ctx, o, recall.Change{Pull: *change.Pull, Instance: instance, Files: change.Files,
		Unlisted: change.Unlisted, Known: known})
	for _, why := range left {
		tell(why.Error())
	}
	return all, err
}

// Dispatch returns the command that starts a workflow for a pull request.
func Dispatch(workflow string, ref pull.Ref, number int) string {
	return DispatchOn(workflow, ref, fmt.Sprintf("pull-request=%d", number))
}

// DraftName returns the name of a pull request's draft as the deciding workflow takes it.
func DraftName(number int, code string) string { return fmt.Sprintf("%d-%s", number, code) }

// DispatchOn returns the command that starts a workflow with a field, such as ticket=PAY-88.
func DispatchOn(workflow string, ref pull.Ref, field string) string {
	return fmt.Sprintf("gh workflow run %s --repo %s -f %s", path.Base(workflow), ref.FullName(), field)
}

// Approval returns the command that approves the deployment a run waits for, by its
// environment's id; "" if the run or the environment is unknown.
func Approval(ref pull.Ref, run, environment int64) string {
	if run == 0 || environment == 0 {
		return ""
	}
	return fmt.Sprintf("gh api -X POST repos/%s/actions/runs/%d/pending_deployments -F 'environment_ids[]=%d' "+
		"-f state=approved -f comment=", ref.FullName(), run, environment)
}

// Quoted quotes s for a shell unless it is a single plain word.
func Quoted(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/.:#@~_-", r)
	}) < 0
	if plain && s != "" && !strings.HasPrefix(s, "~") && !strings.HasPrefix(s, "#") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Start starts a workflow on the default branch, branch, and returns the URL of its run.
func Start(ctx context.Context, api *github.Client, ref pull.Ref, workflow, branch string,
	inputs map[string]string) (page string, err error) {
	page, err = write.New(api).Dispatch(ctx, ref, workflow, branch, inputs)
	return page, wrapAnswerRefusal(err, ref.Web()+"/actions")
}

// Answer approves or rejects a run's pending deployment, and returns the run's URL.
func Answer(ctx context.Context, api *github.Client, ref pull.Ref, run int64, to github.Pending, approve bool,
	comment string) (page string, err error) {
	page = RunPage(ref, run)
	return page, wrapAnswerRefusal(write.New(api).Answer(ctx, ref, run, to.ID, approve, comment), page)
}

// wrapAnswerRefusal says where to look if somebody else's answer came first, or if it is not known whether
// GitHub took this one.
func wrapAnswerRefusal(err error, page string) error {
	switch {
	case errors.Is(err, write.ErrAnswered):
		return problem.As(problem.Refused, err, "look at "+page+": somebody has decided meanwhile, or a push has "+
			"withdrawn the draft")
	case errors.Is(err, write.ErrUntold):
		return problem.As(problem.Failed, err, "look at "+page+" before you decide again: GitHub may have taken it")
	}
	return err
}

// RunPage returns the URL of a workflow run.
func RunPage(ref pull.Ref, run int64) string {
	return fmt.Sprintf("%s/actions/runs/%d", ref.Web(), run)
}
