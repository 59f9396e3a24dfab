package app

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render/terminal"
)

// finish prints what a run without a decision came to.
func (a *app) finish(r driver.Report, o *options) error {
	driver.FailOn(o.Settings, &r)
	a.came = r
	if o.json {
		return errors.Join(r.Print(a.Stdout), driver.Failure(r))
	}
	columns, _ := columnsOf(a.Stdout)
	if len(r.Files) > 0 {
		fmt.Fprint(a.Stdout, terminal.Review(r.State.Review(), a.look(columns)))
	}
	if r.Outcome == reviewpr.Failed {
		fmt.Fprintln(a.Stdout, r.Outcome, r.Thread)
		fmt.Fprintln(a.Stderr, "error: "+guard.Text(r.Message))
		return driver.Failure(r)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Message, r.Place, r.Thread))
	return driver.Failure(r)
}
