package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
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

// find returns the draft that an argument names: a thread of the local store or, if that has
// none, the repository on GitHub that may hold it. For a pull request, it is the store's
// draft of the current commit.
func (a *app) find(ctx context.Context, args []string, command string) (s local.Session, there *remote, err error) {
	var ref pull.Ref
	if len(args) == 1 && pull.LooksLikeRef(args[0]) {
		if ref, err = a.ParseRef(args[0]); err == nil {
			s, err = a.StoredPull(ctx, ref)
		}
		if err == nil && s.Thread == "" {
			there, err = a.remote(ctx, ref)
		}
		return s, there, err
	}
	if s, err = a.NamedThread(ctx, args, command); problem.Check(err) != 1 {
		return s, nil, err
	}
	of, instance, ok := pull.OfThread(args[0])
	if !ok {
		return s, nil, err
	}
	ref, failed := a.ParseRef(of)
	if failed == nil {
		there, failed = a.remote(ctx, ref)
	}
	if failed != nil {
		return s, nil, err
	}
	a.Instance, a.Typed = instance, args[0]
	return s, there, nil
}

// show prints the newest draft that the arguments name.
func (r *remote) show(ctx context.Context) error {
	drafts, err := r.namedDrafts(ctx)
	if err != nil {
		return err
	}
	report, err := r.open(ctx, drafts[0])
	if err != nil {
		return err
	}
	if text, is := r.insteadOfDraft(&report); is {
		fmt.Fprint(r.Stdout, text)
		return nil
	}
	if r.JSON {
		return report.Print(r.Stdout)
	}
	r.ShowDraft(report)
	return r.printStanding(ctx, drafts[0], report)
}

// namedDrafts returns the drafts that the arguments name, newest first: those of --code, otherwise all
// of the pull request and instance. It returns an error if there are none.
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
		of := r.ref.String()
		if r.Code != "" {
			of += " with code " + r.Code
		}
		return nil, problem.Refuse(1, "no draft of "+of+" is parked on GitHub", fmt.Sprintf(
			"%s threads %s lists the ones that are; --instance and --code name another one", r.Name, r.ref.FullName()))
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
	in, err := reviewpr.Subject().Open(ctx, opened, func(store graph.Store) (*graph.Flow[reviewpr.State], error) {
		return reviewpr.New(reviewpr.Steps{}, store, driver.Sealing(p)...)
	})
	if err != nil {
		return driver.Report{}, err
	}
	report, err := driver.Describe(ctx, in.Flow, in.Manifest.Thread)
	report.Packed, r.About = opened, report.Thread
	return report.WithArtifact(opened.Digest), err
}

// printStanding prints, below a draft, what has happened to it or how to decide it.
func (r *remote) printStanding(ctx context.Context, d parkedDraft, report driver.Report) error {
	now, err := r.api.Pull(ctx, r.ref)
	if err != nil {
		return err
	}
	switch s := r.standing(ctx, d, openHead(now)); {
	case s.page != "":
		fmt.Fprintf(r.Stdout, "Code %s, posted: %s\n", d.code, s.page)
	case s.decided:
		fmt.Fprintf(r.Stdout, "Code %s, decided: %s by %s.\n", d.code, s.claim.Record.Decision,
			guard.Line(s.claim.Record.By, driver.MaxLine))
	case s.state == terminal.Expired:
		return checkpoint.CheckExpiry(d.Manifest, r.Now())
	case s.state == terminal.Superseded:
		page, _ := r.posted(ctx, d.Manifest)
		fmt.Fprintf(r.Stdout, "Code %s, superseded: %s is %s at commit %.7s%s\n", d.code, r.ref, now.State,
			now.HeadSHA, strings.TrimSuffix(", reviewed at "+page, ", reviewed at "))
	default:
		fmt.Fprintf(r.Stdout, "Code %s, until %s. Decide with\n  %s --approve\n(%s)\nor on GitHub\n  %s\n", d.code,
			d.ExpiresAt.Format("2 January 2006, 15:04 MST"), r.resumeLine(d), local.Others(report), r.howToDecide(d))
	}
	return nil
}

// openHead returns the current commit of a pull request, or "" if that is closed.
func openHead(p pull.Pull) string {
	if p.Open() {
		return p.HeadSHA
	}
	return ""
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
	var list []terminal.Parked
	for _, d := range drafts {
		now := r.standing(ctx, d, heads[d.Subject.Number])
		if now.decided && now.state != terminal.Withdrawn {
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

// standing tells what has happened to a draft on GitHub.
type standing struct {
	state   terminal.Waiting // only Waits can be decided
	decided bool
	claim   handoff.Claim // the decision
	page    string        // of its review if no decision is recorded: a person posted it
}

// standing returns what has happened to a draft, given the current commit of its pull request,
// which is empty if that is closed. A commit gets one review, so a review of another draft of
// the commit supersedes a draft.
func (r *remote) standing(ctx context.Context, d parkedDraft, head string) (now standing) {
	now.state = terminal.Waits
	now.claim, now.decided = r.decision(ctx, d)
	switch {
	case now.decided && now.claim.Record.Withdrawn():
		now.state = terminal.Withdrawn
	case now.decided:
		now.state = terminal.Superseded
	case checkpoint.CheckExpiry(d.Manifest, r.Now()) != nil:
		now.state = terminal.Expired
	case head != d.Subject.Head: // a newer draft of the same head supersedes nothing
		now.state = terminal.Superseded
	default:
		page, digest := r.posted(ctx, d.Manifest)
		if page != "" {
			now.state = terminal.Superseded
		}
		if now.decided = digest == d.zip.Digest(); now.decided {
			now.page = page
		}
	}
	return now
}

// decidable returns the drafts that can still be decided, given the head commits of the open
// pull requests.
func (r *remote) decidable(ctx context.Context, drafts []parkedDraft, heads map[int]string) (waiting []parkedDraft) {
	for _, d := range drafts {
		if r.standing(ctx, d, heads[d.Subject.Number]).state == terminal.Waits {
			waiting = append(waiting, d)
		}
	}
	return waiting
}

// decision returns the recorded decision on a draft that was acted on: the oldest one from a run that may decide.
func (r *remote) decision(ctx context.Context, d parkedDraft) (handoff.Claim, bool) {
	for _, s := range slices.Backward(r.stored) {
		if s.Name != reviewpr.Names.Decision(d.code) {
			continue
		}
		claim, ours, err := r.runs.Claim(ctx, s, r.protection(d.Manifest), s.RepositoryID, r.branch)
		if err == nil && ours && claim.Acted() {
			return claim, true
		}
	}
	return handoff.Claim{}, false
}

// posted returns the page of our review of a draft's commit, and the digest of the draft that it was. Both are
// empty if there is none, or if the review cannot be shown to be ours.
func (r *remote) posted(ctx context.Context, d checkpoint.Manifest) (page, digest string) {
	ref := r.ref
	ref.Number = d.Subject.Number
	page, digest, _ = post.FindDraft(ctx, r.reviews(d), ref, d.Thread, d.Subject.Digest)
	return page, digest
}
