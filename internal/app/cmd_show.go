package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/trace"

	"github.com/org/pr-review-action/internal/local"
)

// showOptions holds the flags of show.
type showOptions struct {
	statsOptions
	stats    bool // sum up what approvers decided
	tree     bool // show how the run arrived at its findings
	handover bool // print the findings as instructions for a coding agent
}

func (a *app) showCommand() command {
	o := &showOptions{statsOptions: statsOptions{Options: local.NewOptions()}}
	return command{
		"show", "<thread | owner/repo#n>", "print a draft that waits", o.flags,
		func(ctx context.Context, args []string) error {
			a.Options = &o.Options
			switch {
			case o.stats || o.propose:
				return a.stats(ctx, args, &o.statsOptions, true)
			case len(args) == 1 && pull.LooksLikeRef(args[0]):
				return a.showPull(ctx, args[0], o)
			}
			return a.show(ctx, args, o)
		}, &o.JSON,
	}
}

func (o *showOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.stats, "stats", false, "sum what drafts cost and took, and what approvers kept, dropped and "+
		"changed: of the store or of folders, all or of owner/repo")
	o.statsOptions.flags(f)
	f.BoolVar(&o.tree, "trace", false, "show how the run came to its findings: calls, tools, time, tokens and cost")
	f.BoolVar(&o.handover, "handover", false, "print the kept findings as instructions for a coding agent")
	o.ListFlags(f, "show")
}

// printer returns a function that prints what a flag shows instead of the draft, or nil without
// such a flag. As JSON it prints the draft with that included.
func (o *showOptions) printer(a *app) func(driver.Report) error {
	if !o.tree && !o.handover {
		return nil
	}
	return func(r driver.Report) error {
		switch {
		case o.tree && o.JSON:
			return r.WithTrace().Print(a.Stdout)
		case o.tree:
			fmt.Fprint(a.Stdout, trace.Tree(driver.Tree(r), a.Look().Width))
			return nil
		}
		if r.Handover = render.Handover(r.State.Review()); o.JSON {
			return r.Print(a.Stdout)
		}
		fmt.Fprint(a.Stdout, r.Handover)
		return nil
	}
}

// show prints a draft of the local store.
func (a *app) show(ctx context.Context, args []string, o *showOptions) error {
	s, err := a.NamedThread(ctx, args, "show")
	if there := a.findOnGitHub(ctx, args, err); there != nil {
		return there.show(ctx, o.printer(a))
	}
	if err != nil {
		return err
	}
	if local.IsProposal(s.Thread) {
		return a.ShowProposal(ctx, s)
	}
	r, err := a.Stored(ctx, &s)
	if err != nil {
		return err
	}
	if only := o.printer(a); only != nil {
		return only(r)
	}
	if under := r.UnderWay(); under != "" {
		if r.Outcome = ""; o.JSON {
			return r.Print(a.Stdout)
		}
		fmt.Fprintf(a.Stdout, "UNDER WAY %s: %s\nIf it was cut short, the same review goes on from there.\n", r.Thread,
			under)
		return nil
	}
	if !r.Parked() {
		if err := a.Finish(r); err != nil || o.JSON {
			return err
		}
		a.printHistory(r)
		return nil
	}
	if err := checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()); err != nil {
		if o.JSON {
			r.Outcome, r.Message = driver.Expired, driver.Explain(err)
			return cmp.Or[error](r.Print(a.Stdout), driver.Reported{Err: err})
		}
		a.ShowDraft(r)
		return err
	}
	a.ShowDraft(r)
	return a.Park(r)
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
