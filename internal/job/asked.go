package job

import (
	"fmt"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/problem"
)

// ticketed reports whether the job is about a ticket, and no pull request.
func (j *job) ticketed() bool { return j.Ticket != "" || j.Mode == "implement" || j.Mode == "comment" }

// The workflow files of tickets, where none are named.
const (
	implementWorkflow = ".github/workflows/pr-implement.yml"
	applyWorkflow     = ".github/workflows/pr-implement-decide.yml"
)

// setTicket reads which ticket the job is about, and takes the workflow files of tickets.
func (j *job) setTicket() (err error) {
	if j.Ticket == "" {
		return problem.Usage("the input ticket is missing", "name a key such as PAY-88, or an issue such as #7")
	}
	if j.PullRequest != 0 {
		return problem.Usage(fmt.Sprintf("the inputs name the ticket %.60q and the pull request #%d", j.Ticket,
			j.PullRequest), "name a ticket's draft by ticket and code, without pull-request and draft")
	}
	if j.asked, err = ticketpr.ParseTicket(j.Ticket, j.ref); err != nil {
		return err
	}
	for file, of := range map[*string][2]string{
		&j.DraftWorkflow:  {".github/workflows/pr-review.yml", implementWorkflow},
		&j.DecideWorkflow: {".github/workflows/pr-review-decide.yml", applyWorkflow},
	} {
		if *file == of[0] {
			*file = of[1]
		}
	}
	return nil
}

// dispatchOf is the command that starts a workflow about what the job is about.
func (j *job) dispatchOf(workflow string) string {
	switch {
	case !j.ticketed():
		return driver.Dispatch(workflow, j.ref, j.ref.Number)
	case j.asked.Issue() > 0: // for a shell, where # begins a comment
		return driver.DispatchOn(workflow, j.ref, fmt.Sprintf("ticket='#%d'", j.asked.Issue()))
	}
	return driver.DispatchOn(workflow, j.ref, "ticket="+j.asked.Key)
}
