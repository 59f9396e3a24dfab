package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wording"

	"github.com/org/pr-review-action/internal/local"
)

func resumeFlags(o *local.Options, f *pflag.FlagSet) {
	o.Resumed = true
	o.Flags(f, "resume")
	o.Expires = 0 // a draft of the store has its own span
	o.DecisionFlags(f)
	f.BoolVar(&o.Next, "next", false, "take the most urgent waiting draft, in the store or on GitHub; with "+
		"owner/repo only that repository's")
	f.BoolVar(&o.Post, "post", false, "post a draft of GitHub under your own account, with your own token")
	f.BoolVar(&o.NoInput, "no-input", false, "never ask")
	o.ProposalFlags(f)
	o.TraceFlag(f)
	o.OutputFlags(f)
}

// resume decides the draft that an argument names, or the worst one: one in the local store, or
// else one that waits on GitHub.
func (a *app) resume(ctx context.Context, args []string) error {
	given, err := a.Verdict()
	ofTicket := a.Push || len(a.Drop) > 0 // only a ticket's change takes these
	switch {
	case err != nil:
		return err
	case a.Post && (a.Abort || a.Revise != ""):
		return problem.Usage("--post posts a draft, and this decision posts none",
			"leave out --post: the decision goes to the draft's workflow")
	case a.Next && !ofTicket:
		return a.resumeNext(ctx, args, given)
	}
	s, there, err := a.find(ctx, args, "resume")
	switch {
	case err == nil && there == nil && local.IsProposal(s.Thread):
		return a.ResumeProposal(ctx, s, given)
	case ofTicket && (err == nil || problem.Check(err) == 1):
		return problem.Usage("--drop and --push are for a ticket's change, and no draft of one is named",
			`name its thread, as threads lists it; a finding is dropped by --command "/drop F2"`)
	case err != nil:
		return err
	case there == nil:
		return a.resumeStored(ctx, s, given)
	}
	d, waits, err := there.chooseDraft(ctx, given != "" || a.Text() != "")
	if err != nil {
		return err
	}
	return there.resume(ctx, d, waits, given)
}

// resumeStored decides a review's draft of the local store.
func (a *app) resumeStored(ctx context.Context, s local.Session, given decision.Verdict) error {
	r, err := a.Stored(ctx, &s)
	if err != nil {
		return err
	}
	return a.Traced(trace.Continue(ctx, r.State.Draft.Trace), "resume", func(ctx context.Context) error {
		return (&local.Run{Terminal: a.Terminal, Session: s}).GoFrom(ctx, r, given)
	})
}

// resumeNext resumes the worst waiting draft, in the local store or on GitHub. It looks at the
// named repository, or else at the store and at the clone's origin. Drafts that have expired,
// were decided, or are for another commit than the pull request's current one are not waiting.
func (a *app) resumeNext(ctx context.Context, args []string, given decision.Verdict) (err error) {
	switch {
	case len(args) > 1:
		return problem.Usage("resume --next takes no thread", "name a thread, or let --next owner/repo pick one")
	case given != "":
		return problem.Usage("resume --next picks a draft that you have not seen yet",
			"look at it first, then decide it by its thread")
	}
	var ref pull.Ref
	if len(args) > 0 {
		if ref, err = a.Repository(args[0]); err != nil {
			return problem.Usage("--next: "+err.Error(), "name it owner/repo")
		}
	} else if origin, err := ingest.PullOf(ctx, ".", "1"); err == nil {
		ref = origin
		ref.Number = 0
	}
	queue, err := a.queue(ctx, ref, len(args) == 0)
	if err != nil {
		return err
	}
	if len(queue) == 0 {
		where := "the store"
		if ref.Owner != "" {
			where = ref.FullName()
		}
		return a.printThreads(nil, where)
	}
	err = slices.MinFunc(queue, worstFirst).resume(ctx)
	if more := len(queue) - 1; err == nil && more > 0 {
		a.Say(wording.Count(more, "draft") + " behind it: resume --next shows the next once this one is decided.")
	}
	return err
}

// waitingDraft is a parked draft that can be decided.
type waitingDraft struct {
	thread   string
	code     string
	blockers int
	majors   int
	created  time.Time
	resume   func(context.Context) error // shows the draft and asks for a decision
}

// worstFirst compares drafts by how urgent they are: most blockers first, then most majors,
// then the oldest. Thread and code make the order total.
func worstFirst(a, b waitingDraft) int {
	return cmp.Or(cmp.Compare(b.blockers, a.blockers), cmp.Compare(b.majors, a.majors), a.created.Compare(b.created),
		cmp.Compare(a.thread, b.thread), cmp.Compare(a.code, b.code))
}

// queue returns the waiting drafts of a repository, on GitHub and in the local store. If all is
// set, it includes the store's drafts of other repositories and of local input. Where GitHub
// cannot be read, every draft in the store counts as one of a current commit.
func (a *app) queue(ctx context.Context, ref pull.Ref, all bool) (queue []waitingDraft, err error) {
	var heads map[int]string
	var elsewhere error
	if ref.Owner != "" {
		queue, heads, elsewhere = a.waitingRemote(ctx, ref)
	}
	store, err := a.OpenStore(ctx, a.Store)
	if err != nil {
		return nil, err
	}
	reports, err := a.reports(ctx, store, reviewed(""))
	for _, r := range reports {
		p := r.State.Pull
		of := p != nil && strings.EqualFold(p.Ref.FullName(), ref.FullName())
		if !r.Parked() || !of && !all || checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()) != nil ||
			of && heads != nil && heads[p.Number] != r.Head {
			continue
		}
		queue = append(queue, waitingDraft{r.Thread, r.Code, finding.Count(r.Findings, finding.Blocker),
			finding.Count(r.Findings, finding.Major), r.State.Draft.CreatedAt, func(ctx context.Context) error {
				return a.resumeStored(ctx, local.Session{Store: store, Thread: r.Thread}, "")
			}})
	}
	if elsewhere != nil && len(queue) > 0 {
		a.Warn("the drafts on GitHub are left out: " + driver.Explain(elsewhere))
		elsewhere = nil
	}
	return queue, cmp.Or(err, elsewhere)
}

// waitingRemote returns the waiting drafts of a repository on GitHub, and the head commits of
// its open pull requests by number.
func (a *app) waitingRemote(ctx context.Context, ref pull.Ref) (queue []waitingDraft, heads map[int]string, err error) {
	r, heads, err := a.remoteHeads(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range r.decidable(ctx, r.drafts(ctx, func(handoff.Name) bool { return true }), heads) {
		queue = append(queue, waitingDraft{d.Thread, d.code, d.Blockers, d.Majors, d.CreatedAt,
			func(ctx context.Context) error {
				r.ref.Number = d.Subject.Number
				return r.resume(ctx, d, true, "")
			}})
	}
	return queue, heads, nil
}
