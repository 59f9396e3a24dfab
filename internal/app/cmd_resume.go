package app

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wording"
)

// resumeOptions are the flags of resume.
type resumeOptions struct {
	options
	next  bool     // the worst draft is meant
	trace string   // file
	drop  []string // paths, of a ticket's change
}

func (a *app) resumeCommand() command {
	o := &resumeOptions{options: newOptions()}
	o.resumed = true
	return command{
		"resume", "<thread | owner/repo#n>", "decide a draft that waits, in the store or on GitHub", o.flags,
		func(ctx context.Context, args []string) error {
			switch {
			case o.post && (o.abort || o.revise != ""):
				return problem.Usage("--post posts a draft, and this decision posts none",
					"leave out --post: the decision goes to the draft's workflow")
			case o.push: // a ticket's thread
			case o.next:
				return a.resumeNext(ctx, args, o)
			case len(args) == 1 && pull.LooksLikeRef(args[0]):
				return a.resumePull(ctx, args[0], o)
			}
			if there := a.onGitHub(ctx, args, &o.options); there != nil {
				return there.resumeNewest(ctx, o)
			}
			return a.resume(ctx, args, o)
		}, &o.json,
	}
}

func (o *resumeOptions) flags(f *pflag.FlagSet) {
	o.Flags(f, "resume")
	o.decisionFlags(f)
	f.StringVar(&o.revise, "revise", "", "ask for another draft, with this `text` as feedback; needs a model")
	f.BoolVar(&o.next, "next", false, "take the draft that waits with the gravest findings, in the store or, "+
		"with owner/repo, on GitHub")
	f.BoolVar(&o.post, "post", false, "post a draft of GitHub under your own account, with your own token")
	f.BoolVar(&o.noInput, "no-input", false, "never ask")
	f.StringArrayVar(&o.drop, "drop", nil, "leave the file at this `path` out of a change for a ticket, with "+
		"--approve; may be repeated")
	o.pushFlags(f)
	traceFlag(f, &o.trace)
	o.outputFlags(f)
}

// resume decides a parked draft of the local store.
func (a *app) resume(ctx context.Context, args []string, o *resumeOptions) (err error) {
	if s, ok, err := a.proposal(ctx, args, &o.options); err != nil {
		return err
	} else if ok {
		return a.resumeProposal(ctx, s, &implementOptions{options: o.options, drop: o.drop})
	}
	given, err := o.verdict()
	if err == nil && o.push {
		err = problem.Usage("--push is for a ticket's change, and no draft of one is named",
			"name its thread, as threads lists it")
	}
	if err != nil {
		return err
	}
	began := a.Now()
	s, r, err := a.stored(ctx, args, "resume", &o.options)
	if err != nil {
		return err
	}
	ctx, over, err := a.Traced(ctx, o.Settings, o.trace, a.warn)
	if err != nil {
		return err
	}
	defer over()
	ctx, span := trace.Run(trace.Continue(ctx, r.State.Draft.Trace), "resume", began)
	defer func() { a.endRun(span, began, err) }()
	return a.goFrom(ctx, s, r, given, &o.options)
}

// resumePull decides a draft of a pull request: the local store's where it has one of
// the present commit, else the one that waits on GitHub.
func (a *app) resumePull(ctx context.Context, arg string, o *resumeOptions) error {
	if _, err := o.verdict(); err != nil {
		return err
	}
	ref, err := a.parseRef(arg)
	if err != nil {
		return err
	}
	thread, err := a.storedPull(ctx, ref, &o.options)
	if err != nil {
		return err
	}
	if thread != "" {
		return a.resume(ctx, []string{thread}, o)
	}
	r, err := a.remote(ctx, ref, &o.options)
	if err != nil {
		return err
	}
	return r.resumeNewest(ctx, o)
}

// resumeNewest decides the draft that the arguments name, the newest where they name several.
func (r *remote) resumeNewest(ctx context.Context, o *resumeOptions) error {
	given, err := o.verdict()
	if err != nil {
		return err
	}
	d, waits, err := r.chosen(ctx, given != "" || o.text() != "")
	if err != nil {
		return err
	}
	return r.resume(ctx, d, waits, given, o.trace)
}

// goFrom goes on with a thread from where it stands: an unfinished revision, a decision, a
// draft that waits, or none of these.
func (a *app) goFrom(ctx context.Context, s session, r driver.Report, given decision.Verdict, o *options) error {
	switch {
	case r.Revising():
		return a.finishRevision(ctx, s, r, given, o)
	case r.State.Decision != nil:
		return a.again(ctx, s, r, given, o)
	case r.Parked():
		return a.decide(ctx, s, r, given, o)
	}
	return a.finish(r, o)
}

// resumeNext goes on with the worst draft that waits, in the local store or on GitHub,
// and lists the others: of a repository, else of the store and of the clone's origin.
// What has expired, was decided, or is about another commit than the pull request's
// present one waits no more.
func (a *app) resumeNext(ctx context.Context, args []string, o *resumeOptions) error {
	given, err := o.verdict()
	switch {
	case err != nil:
		return err
	case len(args) > 1:
		return problem.Usage("resume --next takes no thread", "name a thread, or let --next owner/repo pick one")
	case given != "":
		return problem.Usage("resume --next picks a draft that you have not seen yet",
			"look at it first, then decide it by its thread")
	}
	ref, err := a.repository(ctx, args)
	if err != nil {
		return err
	}
	var there *remoteQueue
	var heads map[int]string
	var elsewhere error
	if ref.Owner != "" {
		there, heads, elsewhere = a.waitingRemote(ctx, ref, &o.options)
	}
	queue, err := a.waitingLocal(ctx, ref, len(args) == 0, heads, &o.options)
	if err != nil {
		return err
	}
	if elsewhere != nil && len(queue) == 0 {
		return elsewhere
	}
	if elsewhere != nil {
		a.warn("the drafts on GitHub are left out: " + driver.Explain(elsewhere))
	}
	if there != nil {
		queue = append(queue, there.queue...)
	}
	order.Stable(queue, worstFirst)
	return a.goOn(ctx, ref, queue, there, o)
}

// repository is the one that --next is about: none where no argument and no clone's
// origin names one.
func (a *app) repository(ctx context.Context, args []string) (pull.Ref, error) {
	if len(args) == 0 {
		ref, err := ingest.PullOf(ctx, ".", "1")
		if err != nil {
			return pull.Ref{}, nil
		}
		ref.Number = 0
		return ref, nil
	}
	owner, repo, err := pull.ParseRepository(args[0])
	if err != nil {
		return pull.Ref{}, problem.Usage("--next: "+err.Error(), "name it owner/repo")
	}
	return pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: repo}.On(a.Getenv("GITHUB_SERVER_URL")), nil
}

// goOn resumes the first of a queue and says what comes behind it.
func (a *app) goOn(ctx context.Context, ref pull.Ref, queue []waiting, there *remoteQueue, o *resumeOptions) error {
	if len(queue) == 0 {
		where := ref.FullName()
		if ref.Owner == "" {
			where = "the store"
		}
		return a.list([]listed{}, where, &o.options)
	}
	first, err := queue[0], error(nil)
	if first.remote == nil {
		err = a.resume(ctx, []string{first.thread}, o)
	} else {
		one := *there.remote
		one.ref.Number = first.remote.Subject.Number
		err = one.resume(ctx, *first.remote, true, "", o.trace)
	}
	if rest := queue[1:]; err == nil && len(rest) > 0 && !o.quiet {
		fmt.Fprintf(a.Stderr, "%s behind it, the worst first:\n", wording.Count(len(rest), "draft"))
		for _, w := range rest {
			fmt.Fprintf(a.Stderr, "  %-*s  %s  %s\n", nameWidth, guard.Line(abbreviated(w.thread), driver.MaxLine),
				wording.Count(w.blockers, "blocker"), guard.Line(w.how, driver.MaxLine))
		}
	}
	return err
}

const nameWidth = 24 // of a thread's name in the list

// finishRevision goes on with a revision that a run before this one was asked for.
// A decision that is given now was made about a draft that is not there yet.
func (a *app) finishRevision(ctx context.Context, s session, r driver.Report, given decision.Verdict,
	o *options) error {
	d, _ := decision.Parse(o.text()) // it parsed before
	if (given != "" || len(o.commands) > 0) && (given != decision.Revise || d.Feedback != r.Asked()) {
		return problem.Usage("this draft is being revised, so there is nothing to decide yet",
			fmt.Sprintf("finish that first: %s, with the model's flags", a.resuming(r.Thread, o)))
	}
	after, err := a.revise(ctx, s, r, nil, o)
	if err != nil {
		return err
	}
	o.undecided()
	return a.decide(ctx, s, after, "", o)
}
