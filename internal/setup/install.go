package setup

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/problem"
)

// Run writes the files and says what is to do, or does it; with Check it checks.
func (c *Command) Run(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0:
		return problem.Usage("init takes no arguments: it works on the clone around this folder", "")
	case c.Apply && c.Check:
		return problem.Usage("--apply and --check contradict each other", "apply first, then check")
	}
	if err := c.checkReviewers(); err != nil {
		return err
	}
	if c.Org != "" || c.Repos != "" || c.Whole {
		return c.organization(ctx)
	}
	r, err := c.look(ctx)
	if err != nil {
		return err
	}
	if c.Check {
		return c.check(ctx, r)
	}
	return c.install(ctx, r)
}

func (c *Command) install(ctx context.Context, r *repository) error {
	own, err := r.settings()
	if err != nil {
		return err
	}
	report := Report{Repository: r.ref.FullName(), about: r.about(), Notes: r.notes}
	with := c.filling(own, &report)
	if report.Route, report.Why, err = c.choose(ctx, r, with); err != nil {
		return err
	}
	if report.Files, err = c.files(report.Route, with); err != nil {
		return err
	}
	if r.facts.Private && report.Route == Dispatch {
		report.Notes = append(report.Notes, "on the Free plan a private repository has no environments: there "+
			"the key is a secret of the repository (gh secret set without --env), which whoever may push can read")
	}
	there := r.onGitHub(ctx, report.Route, with.label, c.whole())
	if err := c.whoReviews(ctx, r, there); err != nil {
		return err
	}
	if err := put(r.top, report.Files, c.Force); err != nil {
		return err
	}
	report.Steps, report.Unseen = c.steps(r, there, with.label), r.unseen
	if c.Apply {
		err = c.carryOut(ctx, report.Steps)
	}
	return cmp.Or(c.print(report, r), err)
}
