package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render/terminal"

	"github.com/org/pr-review-action/internal/local"
)

// remoteOf returns the repository with the drafts of the pull request that arg names.
func (a *app) remoteOf(ctx context.Context, arg string) (*remote, error) {
	ref, err := a.ParseRef(arg)
	if err != nil {
		return nil, err
	}
	return a.remote(ctx, ref)
}

// showPull prints a draft of a pull request: the one in the local store if it has one for the
// current commit, else from GitHub the one of --code or the newest of the instance.
func (a *app) showPull(ctx context.Context, arg string, o *showOptions) error {
	ref, err := a.ParseRef(arg)
	if err != nil {
		return err
	}
	thread, err := a.StoredPull(ctx, ref)
	if err != nil {
		return err
	}
	if thread != "" {
		return a.show(ctx, []string{thread}, o)
	}
	r, err := a.remote(ctx, ref)
	if err != nil {
		return err
	}
	return r.show(ctx, o.printer(a))
}

// findOnGitHub looks on GitHub for a thread that the local store lacks, as the error lacks says.
// It returns nil if lacks is another error, or if GitHub has no draft of the thread either.
func (a *app) findOnGitHub(ctx context.Context, args []string, lacks error) *remote {
	if len(args) != 1 || problem.Check(lacks) != 1 {
		return nil
	}
	of, instance, ok := pull.OfThread(args[0])
	if !ok {
		return nil
	}
	there, options := *a.Terminal, *a.Options
	options.Instance, options.Typed = instance, args[0]
	there.Options = &options
	r, err := (&app{&there}).remoteOf(ctx, of)
	if err == nil {
		_, err = r.namedDrafts(ctx)
	}
	if err != nil {
		return nil
	}
	return r
}

// show prints the newest draft that the arguments name.
func (r *remote) show(ctx context.Context, only func(driver.Report) error) error {
	drafts, err := r.namedDrafts(ctx)
	if err != nil {
		return err
	}
	report, err := r.open(ctx, drafts[0])
	switch {
	case err != nil:
		return err
	case only != nil:
		return only(report)
	case r.JSON:
		return report.Print(r.Stdout)
	}
	r.ShowDraft(report)
	return r.printStanding(ctx, drafts[0], report)
}

// namedDrafts returns the drafts that the arguments name, newest first: those of --code, else all
// of the pull request and instance. It errors if there are none.
func (r *remote) namedDrafts(ctx context.Context) ([]parkedDraft, error) {
	drafts := r.drafts(ctx, func(n handoff.Name) bool {
		return n.Number == r.ref.Number && n.Instance == r.Instance && (r.Code == "" || n.Code == r.Code)
	})
	drafts = slices.DeleteFunc(drafts, func(d parkedDraft) bool {
		return r.Typed != "" && !pull.MatchThread(r.Typed, d.Thread)
	})
	switch {
	case len(drafts) == 0 && r.readErr != nil:
		return nil, r.readErr
	case len(drafts) == 0:
		return nil, problem.Refuse(1, "no draft of "+r.ref.String()+" is parked on GitHub",
			fmt.Sprintf("%s threads %s lists what is; --instance and --code name another one", r.Name,
				r.ref.FullName()))
	}
	return drafts, nil
}

// open opens a draft and reads all of it.
func (r *remote) open(ctx context.Context, d parkedDraft) (driver.Report, error) {
	p := r.protection(d.Manifest)
	if err := p.Check(); err != nil {
		return driver.Report{}, problem.Usage(fmt.Sprintf("the draft %s is protected by trust: %s, and there is no key",
			d.code, d.Trust), "set PR_REVIEW_CHECKPOINT_KEY to the checkpoint-key of its workflow")
	}
	opened, err := p.Open(d.zip)
	if err != nil {
		return driver.Report{}, err
	}
	store := graph.NewMemory()
	if err := store.Save(ctx, opened.Manifest.Thread, opened.Snapshot); err != nil {
		return driver.Report{}, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, store, driver.Sealing(p)...)
	if err != nil {
		return driver.Report{}, err
	}
	report, err := driver.Describe(ctx, flow, opened.Manifest.Thread)
	report.Packed = opened
	return report.WithArtifact(opened.Digest), err
}

// printStanding prints, below a draft, what has become of it or how to decide it.
func (r *remote) printStanding(ctx context.Context, d parkedDraft, report driver.Report) error {
	if claim, decided := r.decision(ctx, d); decided {
		fmt.Fprintf(r.Stdout, "Code %s, decided: %s by %s.\n", d.code, claim.Record.Decision,
			guard.Line(claim.Record.By, driver.MaxLine))
		return nil
	}
	now, err := r.api.Pull(ctx, r.ref)
	if err != nil {
		return err
	}
	if !now.Open() || now.HeadSHA != d.Subject.Head {
		fmt.Fprintf(r.Stdout, "Code %s, superseded: %s is at commit %.7s, %s.\n", d.code, r.ref, now.HeadSHA, now.State)
		return nil
	}
	if page := r.postedPage(ctx, d); page != "" {
		fmt.Fprintf(r.Stdout, "Code %s, superseded: a review of this commit is at\n  %s\n", d.code, page)
		return nil
	}
	if err := checkpoint.CheckExpiry(d.Manifest, r.Now()); err != nil {
		return err
	}
	way := "or with GitHub's own command line"
	if d.Waits() {
		way = "or on the page of its run"
	}
	fmt.Fprintf(r.Stdout, "Code %s, until %s. Decide with\n  %s --approve\n(%s)\n%s\n  %s\n", d.code,
		d.ExpiresAt.Format("2 January 2006, 15:04 MST"), r.resumeLine(d), local.Others(report), way, r.howToDecide(d))
	return nil
}

// remoteThreads lists the drafts that are parked on GitHub.
func (a *app) remoteThreads(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return problem.Usage("threads takes one repository", a.Name+" threads owner/repo")
	}
	ref, err := a.Repository(args[0])
	if err != nil {
		return problem.Usage(err.Error(), "name it owner/repo; without an argument the local store's drafts are listed")
	}
	r, heads, err := a.remoteHeads(ctx, ref)
	if err != nil {
		return err
	}
	return r.printDrafts(ctx, r.drafts(ctx, func(handoff.Name) bool { return true }), heads)
}

// remoteHeads returns a repository and the head commits of its open pull requests by number.
func (a *app) remoteHeads(ctx context.Context, ref pull.Ref) (*remote, map[int]string, error) {
	r, err := a.remote(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	heads, err := r.api.OpenHeads(ctx, ref.Owner, ref.Repo)
	return r, heads, err
}

// printDrafts lists the undecided drafts.
func (r *remote) printDrafts(ctx context.Context, drafts []parkedDraft, heads map[int]string) error {
	list := []terminal.Parked{}
	all := r.standings(ctx, drafts, heads)
	for _, d := range drafts {
		now := all[d.code]
		if now.record != nil && !now.record.Withdrawn() {
			continue
		}
		name := fmt.Sprintf("#%d", d.Subject.Number)
		if d.Subject.Instance != "" {
			name += "@" + d.Subject.Instance
		}
		where := ""
		if now.state == terminal.Waits {
			where = r.howToDecide(d)
		}
		list = append(list, terminal.Parked{Name: name, Outcome: d.Outcome, Thread: d.Thread, Code: d.code,
			Artifact: d.name, RunID: d.RunID, Findings: d.Findings, Blockers: d.Blockers, State: now.state,
			Created: d.CreatedAt, Expires: d.ExpiresAt, Where: where})
	}
	if r.JSON {
		return driver.PrintJSON(r.Stdout, map[string]any{"threads": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(r.Stderr, "No draft waits in "+r.ref.FullName())
	}
	fmt.Fprint(r.Stdout, terminal.Threads(list, r.Now()))
	return nil
}

// standing tells what has become of a draft on GitHub.
type standing struct {
	state  terminal.Waiting // only Waits can be decided
	record *decision.Record // the decision on it; nil for none
}

// standings returns by code whether drafts can still be decided, given the head commits of
// the open pull requests. A commit gets one review, so an approval of another draft of the
// commit, or a review that somebody posted under their own account, supersedes a draft.
func (r *remote) standings(ctx context.Context, drafts []parkedDraft, heads map[int]string) map[string]standing {
	all, reviewed := map[string]standing{}, map[string]bool{} // by code; by thread
	for _, d := range drafts {
		now := standing{state: terminal.Waits}
		switch claim, decided := r.decision(ctx, d); {
		case decided:
			now.record, now.state = &claim.Record, terminal.Superseded
			reviewed[d.Thread] = reviewed[d.Thread] || now.record.Decision == decision.Approve
			if now.record.Withdrawn() {
				now.state = terminal.Withdrawn
			}
		case checkpoint.CheckExpiry(d.Manifest, r.Now()) != nil:
			now.state = terminal.Expired
		case heads[d.Subject.Number] != d.Subject.Head: // a newer draft of the same head supersedes nothing
			now.state = terminal.Superseded
		}
		all[d.code] = now
	}
	for _, d := range drafts {
		now := all[d.code]
		if now.state == terminal.Waits && (reviewed[d.Thread] || r.postedPage(ctx, d) != "") {
			now.state = terminal.Superseded
		}
		all[d.code] = now
	}
	return all
}

// decidable returns the drafts that can still be decided.
func (r *remote) decidable(ctx context.Context, drafts []parkedDraft, heads map[int]string) []parkedDraft {
	all := r.standings(ctx, drafts, heads)
	return slices.DeleteFunc(slices.Clone(drafts), func(d parkedDraft) bool {
		return all[d.code].state != terminal.Waits
	})
}

// decision returns the recorded decision on a draft that was acted on: the oldest one from a
// run that may decide and has not failed.
func (r *remote) decision(ctx context.Context, d parkedDraft) (handoff.Claim, bool) {
	for _, s := range slices.Backward(r.stored) {
		if s.Name != reviewpr.Names.Decision(d.code) {
			continue
		}
		claim, ours, err := r.runs.Claim(ctx, s, r.protection(d.Manifest), s.RepositoryID, r.branch)
		if err == nil && ours && (claim.Live || claim.Done) {
			return claim, true
		}
	}
	return handoff.Claim{}, false
}

// postedPage returns the page of our review of a draft's commit. It is empty if there is none, or
// if the review cannot be shown to be ours.
func (r *remote) postedPage(ctx context.Context, d parkedDraft) string {
	ref := r.ref
	ref.Number = d.Subject.Number
	page, _, err := post.FindPosted(ctx, r.reviews(d.Manifest), ref, d.Thread)
	if err != nil {
		return ""
	}
	return page
}
