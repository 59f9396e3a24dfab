package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/local"
)

// threads lists the drafts of the local store, or of a repository on GitHub.
func (a *app) threads(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return a.remoteThreads(ctx, args)
	}
	store, err := a.OpenStore(ctx, a.Store)
	if err != nil {
		return err
	}
	all, err := a.reports(ctx, store, func(string) bool { return true })
	if err != nil {
		return err
	}
	var list []local.Listed
	for _, r := range all {
		one := local.Listed{Outcome: r.Outcome, Thread: r.Thread, Code: r.Code, Findings: len(r.Findings),
			Files: len(r.Proposed), Lines: change.Lines(r.Proposed)}
		switch {
		case r.Revising() && r.Running:
			one.Outcome = "" // as show --json says it
		case r.Parked() && checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()) != nil:
			one.Outcome = driver.Expired
		case !r.Parked() && !r.Revising() && (r.State.Decision == nil || r.Outcome != reviewpr.Failed):
			continue
		}
		list = append(list, one)
	}
	return a.printThreads(list, store.Where())
}

func (a *app) printThreads(list []local.Listed, where string) error {
	if a.JSON {
		return driver.PrintJSON(a.Stdout, map[string]any{"threads": list})
	}
	for _, l := range list {
		counts := fmt.Sprintf("findings: %d", l.Findings)
		if l.Files > 0 {
			counts = fmt.Sprintf("files: %d, lines: %d, ", l.Files, l.Lines) + counts
		}
		fmt.Fprintf(a.Stdout, "%-8s %s  %s\n", cmp.Or(l.Outcome, "REVISING"),
			guard.Line(local.Abbreviated(l.Thread), 0), counts)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Stderr, "No draft waits in "+guard.Line(where, 0))
	}
	return nil
}
