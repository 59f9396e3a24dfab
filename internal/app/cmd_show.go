package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/trace"

	"github.com/org/pr-review-action/internal/local"
)

func showFlags(o *local.Options, f *pflag.FlagSet) {
	f.BoolVar(&o.Stats, "stats", false, "add up what drafts cost, how long they took, and what approvers kept, "+
		"dropped and changed: of the store or of folders, all or of owner/repo")
	statsFlags(o, f)
	f.BoolVar(&o.Tree, "trace", false, "show how the run came to its findings: calls, tools, time, tokens and cost")
	f.BoolVar(&o.Handover, "handover", false, "print the kept findings as instructions for a coding agent")
	o.ListFlags(f, "show")
}

// insteadOfDraft returns what a flag prints in place of the draft, and whether it is to be printed: with --json
// the flag adds its part to the report.
func (a *app) insteadOfDraft(r *driver.Report) (text string, is bool) {
	switch {
	case a.Tree && a.JSON:
		r.Files = r.State.Coverage()
	case a.Tree:
		return trace.Tree(driver.Tree(*r), a.Look().Width), true
	case a.Handover:
		r.Handover = render.AgentPrompt(r.State.Review())
	}
	return r.Handover, a.Handover && !a.JSON
}

// show prints a draft of the local store, or else from GitHub the one of --code or the newest of
// the instance.
func (a *app) show(ctx context.Context, args []string) error {
	if a.Stats = a.Stats || a.Propose; a.Stats {
		return a.stats(ctx, args)
	}
	s, there, err := a.find(ctx, args, "show")
	switch {
	case err != nil:
		return err
	case there != nil:
		return there.show(ctx)
	case local.IsProposal(s.Thread):
		return a.ShowProposal(ctx, s)
	}
	r, err := a.Stored(ctx, &s)
	if err != nil {
		return err
	}
	under := r.UnderWay()
	if under != "" {
		r.Outcome = "" // it has none yet
	}
	if text, is := a.insteadOfDraft(&r); is {
		fmt.Fprint(a.Stdout, text)
		return nil
	}
	if under != "" {
		if a.JSON {
			return r.Print(a.Stdout)
		}
		return a.PrintUnderWay(r.Thread, under, "review")
	}
	if !r.Parked() {
		if err := a.Finish(r); err != nil || a.JSON {
			return err
		}
		a.printHistory(r)
		return nil
	}
	if err := checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()); err != nil {
		if a.JSON {
			r.Outcome, r.Message = driver.Expired, driver.Explain(err)
			return cmp.Or[error](r.Print(a.Stdout), driver.Reported{Err: err})
		}
		a.ShowDraft(r)
		return err
	}
	a.ShowDraft(r)
	return a.Park(r, "")
}

// printHistory prints what was decided on a thread: its revisions, and the verdict.
func (a *app) printHistory(r driver.Report) {
	records := slices.Clone(r.State.Rounds)
	if r.State.Decision != nil {
		records = append(records, *r.State.Decision)
	}
	for _, record := range records {
		fmt.Fprint(a.Stdout, "\n", summary.Account(&record, true), "\n")
	}
}
