package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

// remoteDrafts bounds how many drafts of a repository are read for the list.
const remoteDrafts = 50

// remote is a repository whose drafts are artifacts.
type remote struct {
	*app
	api     *github.Client
	ref     pull.Ref // without a number for all of the repository
	branch  string   // the default one
	options *options
	runs    *handoff.Runs
	stored  []handoff.Stored // by the repository's runs, drafts and decisions
}

// remote makes the client and lists what is stored. The key is a secret, so it
// may come by the environment.
func (a *app) remote(ctx context.Context, ref pull.Ref, o *options) (*remote, error) {
	if key := a.Getenv("PR_REVIEW_CHECKPOINT_KEY"); key != "" && o.Protection.Key == (checkpoint.Key{}) {
		var err error
		if o.Protection.Key, err = checkpoint.ParseKey(key); err != nil {
			return nil, problem.As(problem.Misuse, err, "")
		}
	}
	if err := o.InRepository(); err != nil {
		return nil, err
	}
	api, err := a.GitHub(ref, o.Settings)
	if err != nil {
		return nil, err
	}
	if !api.Authorized() {
		return nil, problem.As(problem.Misuse, problem.New("there is no token, and GitHub hands out no draft without one",
			ref.FullName()+" on "+ref.Host, "set GITHUB_TOKEN to one that may read actions there, such as $(gh auth token)"), "")
	}
	r := &remote{app: a, api: api, ref: ref, options: o,
		runs: driver.Runs(api, ref, "", o.DraftWorkflow, o.DecideWorkflow)}
	if r.branch, err = api.DefaultBranch(ctx, ref.Owner, ref.Repo); err != nil {
		return nil, err
	}
	r.stored, err = handoff.List(ctx, r.runs.Everything())
	r.runs.TellCut(a.Stderr)
	return r, handoff.NeedsActions(err, "the repository's artifacts cannot be read")
}

// remoteThreads lists the drafts that are parked on GitHub.
func (a *app) remoteThreads(ctx context.Context, args []string, o *options) error {
	if len(args) != 1 {
		return problem.Usage("threads takes one repository", a.name+" threads owner/repo")
	}
	owner, repo, err := pull.ParseRepository(args[0])
	if err != nil {
		return problem.Usage(err.Error(), "name it owner/repo; without an argument the local store's drafts are listed")
	}
	r, err := a.remote(ctx, pull.Ref{Host: pull.DefaultHost, Owner: owner,
		Repo: repo}.On(a.Getenv("GITHUB_SERVER_URL")), o)
	if err != nil {
		return err
	}
	heads, err := r.api.OpenHeads(ctx, owner, repo)
	if err != nil {
		return err
	}
	return r.print(ctx, r.drafts(ctx, func(handoff.Name) bool { return true }), heads)
}

// parkedDraft is a draft on GitHub that passed checks 1 to 4.
type parkedDraft struct {
	checkpoint.Manifest
	zip  checkpoint.Zip
	code string
	name string
}

// drafts reads the whole drafts that are wanted, newest first, each once. What
// does not pass is told and left out.
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
		zip, m, err := r.read(ctx, s)
		if err != nil {
			what, _, _ := strings.Cut(driver.Explain(err), "\n")
			r.warn(fmt.Sprintf("%s is left out: %s", s.Name, guard.Line(what, driver.MaxLine)))
			continue
		}
		drafts = append(drafts, parkedDraft{m, zip, name.Code, s.Name})
	}
	return drafts
}

func (r *remote) read(ctx context.Context, s handoff.Stored) (checkpoint.Zip, checkpoint.Manifest, error) {
	origin := handoff.Origin{Names: reviewpr.Names, Subject: checkpoint.Subject{RepositoryID: s.RepositoryID},
		Workflow: r.options.DraftWorkflow, Branch: r.branch, RunFacts: r.runs.Facts(r.branch), Now: r.Now()}
	return origin.Peek(ctx, handoff.Candidates([]handoff.Stored{s}, s.RepositoryID)[0])
}

// protection is what opens a draft: with a key a seal is demanded, whatever the
// draft says of itself; without one, what it says tells whether one is needed.
func (r *remote) protection(m checkpoint.Manifest) checkpoint.Protection {
	p := checkpoint.Protection{Trust: m.Trust, Key: r.options.Protection.Key}
	if p.Key != (checkpoint.Key{}) {
		p.Trust = checkpoint.TrustSeal
	}
	return p
}

// print lists the drafts that were not decided.
func (r *remote) print(ctx context.Context, drafts []parkedDraft, heads map[int]string) error {
	list, rows := []remoteDraft{}, []render.Parked{}
	records, reviewed := map[string]decision.Record{}, map[string]bool{}
	for _, d := range drafts {
		if record, decided := r.decision(ctx, d); decided {
			records[d.code] = record
			reviewed[d.Thread] = reviewed[d.Thread] || record.Decision == decision.Approve
		}
	}
	for _, d := range drafts {
		state := r.state(d, heads[d.Subject.Number])
		switch record, decided := records[d.code]; {
		case decided && !record.Withdrawn():
			continue
		case decided:
			state = render.Withdrawn
		case reviewed[d.Thread]: // by another draft: a commit gets one review
			state = render.Superseded
		}
		name := fmt.Sprintf("#%d", d.Subject.Number)
		if d.Subject.Instance != "" {
			name += "@" + d.Subject.Instance
		}
		where := ""
		if state == render.Waits {
			where = r.where(d)
		}
		rows = append(rows, render.Parked{Name: name, Outcome: d.Outcome, Created: d.CreatedAt, Expires: d.ExpiresAt,
			Findings: d.Findings, Blockers: d.Blockers, State: state, Where: where})
		list = append(list, remoteDraft{d.Outcome, d.Thread, d.code, d.name, d.RunID, d.Findings, d.Blockers, state,
			d.CreatedAt, d.ExpiresAt, where})
	}
	if r.options.json {
		return driver.PrintJSON(r.Stdout, map[string]any{"threads": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(r.Stderr, "No draft waits in "+r.ref.FullName())
	}
	fmt.Fprint(r.Stdout, render.Threads(rows, r.Now()))
	return nil
}

// state says whether a draft that was not decided still can be. A newer draft of
// the same commit does not take the older one's place by itself.
func (r *remote) state(d parkedDraft, head string) render.Waiting {
	switch {
	case checkpoint.CheckExpiry(d.Manifest, r.Now()) != nil:
		return render.Expired
	case head != d.Subject.Head:
		return render.Superseded
	}
	return render.Waits
}

// decision reads what is on record for a draft and was acted on: the oldest of a
// run that may decide and did not fail.
func (r *remote) decision(ctx context.Context, d parkedDraft) (decision.Record, bool) {
	for _, s := range slices.Backward(r.stored) {
		if s.Name != reviewpr.Names.Decision(d.code) {
			continue
		}
		claim, ours, err := r.runs.Claim(ctx, s, r.protection(d.Manifest), s.RepositoryID, r.branch)
		if err == nil && ours && (claim.Live || claim.Done) {
			return claim.Record, true
		}
	}
	return decision.Record{}, false
}

// where is the page or the command to decide at.
func (r *remote) where(d parkedDraft) string {
	if d.Environment != "" && d.Outcome == driver.Paused {
		return fmt.Sprintf("%s/actions/runs/%d", r.ref.Web(), d.RunID)
	}
	return driver.Dispatch(r.options.DecideWorkflow, r.ref, d.Subject.Number) +
		fmt.Sprintf(" -f code=%s -f checkpoint-digest=%s -f decision=approve", d.code, d.zip.Digest())
}

// remoteDraft is a draft in the list with --json.
type remoteDraft struct {
	Outcome   string         `json:"outcome"`
	Thread    string         `json:"thread_id"`
	Code      string         `json:"code"`
	Artifact  string         `json:"artifact_name"`
	RunID     int64          `json:"run_id"`
	Findings  int            `json:"findings"`
	Blockers  int            `json:"blockers"`
	State     render.Waiting `json:"state"`
	CreatedAt time.Time      `json:"created_at"`
	ExpiresAt time.Time      `json:"expires_at"`
	Where     string         `json:"where"` // page or command to decide at
}

// showRemote prints a draft that is parked on GitHub: the one of --code, else
// the newest of the pull request and instance.
func (a *app) showRemote(ctx context.Context, arg string, o *options,
	only func(driver.Report) string) error {
	ref, err := a.parseRef(arg)
	if err != nil {
		return err
	}
	r, err := a.remote(ctx, ref, o)
	if err != nil {
		return err
	}
	drafts := r.drafts(ctx, func(n handoff.Name) bool {
		return n.Number == ref.Number && n.Instance == o.Instance && (o.Code == "" || n.Code == o.Code)
	})
	if len(drafts) == 0 {
		return problem.Refuse(1, "no draft of "+ref.String()+" is parked on GitHub",
			fmt.Sprintf("%s threads %s lists what is; --instance and --code name another one", a.name, ref.FullName()))
	}
	return r.show(ctx, drafts[0], only)
}

func (r *remote) show(ctx context.Context, d parkedDraft, only func(driver.Report) string) error {
	p := r.protection(d.Manifest)
	if err := p.Check(); err != nil {
		return problem.Usage(fmt.Sprintf("the draft %s is protected by trust: %s, and there is no key", d.code,
			d.Trust), "set PR_REVIEW_CHECKPOINT_KEY to the checkpoint-key of its workflow")
	}
	opened, err := p.Open(d.zip)
	if err != nil {
		return err
	}
	store := graph.NewMemory()
	if err := store.Save(ctx, opened.Manifest.Thread, opened.Snapshot); err != nil {
		return err
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, store, driver.Sealing(p)...)
	if err != nil {
		return err
	}
	report, err := driver.Describe(ctx, flow, opened.Manifest.Thread)
	if err != nil {
		return err
	}
	report = report.Named(opened.Digest)
	if only != nil {
		fmt.Fprint(r.Stdout, only(report))
		return nil
	}
	if r.options.json {
		return report.Print(r.Stdout)
	}
	r.showDraft(report, r.options)
	if record, decided := r.decision(ctx, d); decided {
		fmt.Fprintf(r.Stdout, "Code %s, decided: %s by %s.\n", d.code, record.Decision,
			guard.Line(record.By, driver.MaxLine))
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
	if err := checkpoint.CheckExpiry(opened.Manifest, r.Now()); err != nil {
		return err
	}
	fmt.Fprintf(r.Stdout, "Code %s, until %s. Decide with\n  %s\n", d.code,
		d.ExpiresAt.Format("2 January 2006, 15:04 MST"), r.where(d))
	return nil
}
