package app

import (
	"context"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/linter"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wire"
)

// session is a thread of the local store, with what is needed to decide it.
type session struct {
	store  wire.Store
	thread string
	api    *github.Client // nil for local input
}

// resuming is the command that goes on with a thread. No password is in it.
func (a *app) resuming(thread string, o *options) string {
	command := a.name + " resume " + driver.Quoted(abbreviated(thread))
	if o.store != "" && !wire.WithPassword(o.store) {
		command += " --store " + driver.Quoted(o.store)
	}
	return command
}

// abbreviated shortens a thread's last part to what names it.
func abbreviated(thread string) string {
	i := strings.LastIndexByte(thread, ':')
	return thread[:i+1] + thread[i+1:min(len(thread), i+8)]
}

// withCommands are the flags that give the commands of texts, one a line.
func withCommands(texts []string) (flags string) {
	for line := range strings.Lines(strings.Join(texts, "\n")) {
		if command := strings.TrimSpace(line); command != "" {
			flags += " --command " + driver.Quoted(command)
		}
	}
	return flags
}

// localRun is a review on this machine.
type localRun struct {
	session
	app      *app
	options  *options
	admitted bool // whatever the repository's admission rules say
	change   ingest.Change
	opened   bool // the files of change are not read yet
	reviewer *wire.Reviewer
	progress *progress
	usedIDs  int // of the draft that this one replaces
}

// report describes a stored thread.
func (a *app) report(ctx context.Context, s session) (driver.Report, error) {
	flow, err := reviewpr.New(reviewpr.Steps{}, s.store)
	if err != nil {
		return driver.Report{}, err
	}
	return driver.ReportOf(ctx, flow, s.store, s.thread, checkpoint.Protection{})
}

func (r *localRun) files(ctx context.Context) (ingest.Change, error) {
	return ingest.Files(ctx, r.api, r.change)
}

// reviews are those of a pull request as the command line sees them, which needs no
// record on GitHub for what its local store has decided.
func (s session) reviews(a *app, o *options, ref pull.Ref, decided ...reviewpr.State) *post.Ours {
	all := a.Reviews(o.Settings, s.api, driver.Runs(s.api, ref, "", o.DraftWorkflow, o.DecideWorkflow))
	for _, d := range decided {
		all.Decided[d.Decision.Digest] = d.Decision.Decision == decision.Approve
	}
	return all
}

// linters is where linters' results are: paths are those of the working folder.
func (r *localRun) linters() linter.Source {
	return linter.Source{Findings: r.options.Findings, Wait: r.options.FindingsWait, Dir: "."}
}
