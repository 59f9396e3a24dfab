package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wire"
)

// show prints a draft of the local store.
func (a *app) show(ctx context.Context, args []string, o *options) error {
	if o.stats {
		return a.stats(ctx, args, o)
	}
	if len(args) == 1 && pull.LooksLikeRef(args[0]) {
		return a.showRemote(ctx, args[0], o)
	}
	s, r, err := a.stored(ctx, args, "show", o)
	if err != nil {
		return err
	}
	if o.tree {
		fmt.Fprint(a.Stdout, a.tree(r))
		return nil
	}
	if !r.parked() {
		if err := a.finish(r, o); err != nil || o.json {
			return err
		}
		a.history(r)
		return nil
	}
	if err := checkpoint.CheckExpiry(r.packed.Manifest, a.Now()); err != nil {
		if o.json {
			r.Outcome, r.Message = expired, explain(err)
			return cmp.Or[error](r.print(a.Stdout), reported{err})
		}
		a.showDraft(r, o)
		return err
	}
	a.showDraft(r, o)
	return a.park(s, r, o)
}

// history is what was decided on a thread: its revisions, and the verdict.
func (a *app) history(r report) {
	records := slices.Clone(r.state.Rounds)
	if r.state.Decision != nil {
		records = append(records, *r.state.Decision)
	}
	for _, record := range records {
		fmt.Fprint(a.Stdout, "\n", render.Account(&record), "\n")
	}
}

// report describes a stored thread.
func (a *app) report(ctx context.Context, s session) (report, error) {
	flow, err := reviewpr.New(reviewpr.Steps{}, s.store)
	if err != nil {
		return report{}, err
	}
	return reportOf(ctx, flow, s.store, s.thread, checkpoint.Protection{})
}

// threads lists the drafts of the local store.
func (a *app) threads(ctx context.Context, args []string, o *options) error {
	if len(args) > 0 {
		return a.remoteThreads(ctx, args, o)
	}
	store, err := a.OpenStore(ctx, o.store)
	if err != nil {
		return err
	}
	ids, err := drafts(ctx, store)
	if err != nil {
		return err
	}
	list := []listed{}
	for _, id := range ids {
		r, err := a.report(ctx, session{store: store, thread: id})
		switch {
		case err != nil:
			a.warn(guard.Line(id, maxLine) + ": " + explain(err))
		case r.parked() && checkpoint.CheckExpiry(r.packed.Manifest, a.Now()) != nil:
			list = append(list, listed{expired, r.Thread, r.Code, len(r.Findings)})
		case r.parked() || r.revising() || r.state.Decision != nil && r.Outcome == reviewpr.Failed:
			list = append(list, listed{r.Outcome, r.Thread, r.Code, len(r.Findings)})
		}
	}
	return a.list(list, store.Where(), o)
}

// listed is a draft in the list of threads.
type listed struct {
	Outcome  string `json:"outcome"`
	Thread   string `json:"thread_id"`
	Code     string `json:"code"`
	Findings int    `json:"findings"`
}

func (a *app) list(list []listed, where string, o *options) error {
	if o.json {
		return printJSON(a.Stdout, map[string]any{"threads": list})
	}
	for _, l := range list {
		fmt.Fprintf(a.Stdout, "%-8s %s  findings: %d\n", l.Outcome, abbreviated(l.Thread), l.Findings)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stderr, "No draft waits in "+where)
	}
	return nil
}

// stored opens the thread that an argument names. One of a pull request gets its
// API.
func (a *app) stored(ctx context.Context, args []string, command string, o *options) (s session, r report, err error) {
	if len(args) != 1 {
		return s, r, problem.Usage(command+" takes one thread", fmt.Sprintf("%s threads lists them", a.name))
	}
	if s.store, err = a.OpenStore(ctx, o.store); err != nil {
		return s, r, err
	}
	if s.thread, err = a.threadOf(ctx, s.store, args[0]); err != nil {
		return s, r, err
	}
	if r, err = a.report(ctx, s); err == nil && r.state.Pull != nil {
		s.api, err = a.GitHub(r.state.Pull.Ref, o.Settings)
	}
	return s, r, err
}

// threadOf is the thread that is meant.
func (a *app) threadOf(ctx context.Context, store wire.Store, typed string) (string, error) {
	ids, err := drafts(ctx, store)
	if err != nil {
		return "", err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !matches(typed, id) })
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", problem.Refuse(1, fmt.Sprintf("no draft of thread %q is parked here", typed), fmt.Sprintf("%s threads lists what is; --store names another folder", a.name), problem.At(store.Where()))
	}
	return "", problem.Usage(fmt.Sprintf("%q is the beginning of %d threads", typed, len(ids)), "write more of one: "+strings.Join(ids, ", "))
}

// matches reports whether a thread is meant: by its id, by the id with its last
// part cut short, or by the beginning of that part alone.
func matches(typed, id string) bool {
	last := id[strings.LastIndexByte(id, ':')+1:]
	return pull.MatchThread(typed, id) || len(typed) >= pull.MinPrefix && strings.HasPrefix(last, typed)
}
