package job

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// job is one run of the action.
type job struct {
	*driver.Front
	settings.Settings
	env    action.Env
	event  action.Event
	runner *action.Runner
	ref    pull.Ref
	api    *github.Client
	store  *artifact.Client // nil where the runner gives none
	began  time.Time
	own    bool         // nobody's run: a person posts at a terminal, under their own account
	warn   func(string) // writes an annotation
	tell   func(string) // writes a line to the log

	runs  *handoff.Runs
	ours  *post.Ours
	asked ticketpr.Asked // the ticket, if the job is about one
	void  []string       // approvals that decided nothing: who, and why

	keyless bool // provider is auto, and there is no key: where a secret is missing, an address alone names no model

	gateEnv github.Environment // the deciding environment once it was checked; zero if there is none
}

// setUp reads the inputs and the event and makes the clients. It sends nothing.
func (j *job) setUp() error {
	given, err := action.Inputs(j.Environ, settings.Names())
	if err != nil {
		return problem.As(problem.Misuse, err, "")
	}
	for _, secret := range []string{given["github-token"], given["api-key"], given["checkpoint-key"],
		j.Getenv("OPENAI_API_KEY"), j.env.RuntimeToken} {
		j.runner.Mask(secret)
	}
	if err := errors.Join(j.Apply(given), j.InRepository()); err != nil {
		return err
	}
	if j.keyless = j.Provider == "auto" && j.WithModel(j.Getenv).Key == ""; j.keyless {
		j.Provider = "offline"
	}
	if err := errors.Join(j.Settle(j.env.RetentionDays), j.Protection.Check()); err != nil {
		return problem.As(problem.Misuse, err, "")
	}
	if _, given := given["checkpoint-key"]; given && !j.Protection.Keyed() {
		j.warn("checkpoint-key is set and trust is digest, so the key protects nothing: set trust: seal " +
			"or encrypt in both jobs")
	}
	if j.Sarif != "" && !filepath.IsLocal(j.Sarif) {
		return problem.Usage(fmt.Sprintf("sarif: %q is not a file in the workspace", j.Sarif),
			"name it from the workspace's top, such as results.sarif")
	}
	if j.event, err = action.ReadEvent(j.env); err != nil {
		return problem.As(problem.Misuse, err, "")
	}
	if err := j.setRef(); err != nil {
		return err
	}
	return j.connect()
}

// setRef sets the pull request that the job is about, from the input or else from the event.
func (j *job) setRef() error {
	owner, repo, err := pull.ParseRepository(j.env.Repository)
	if err != nil {
		return problem.As(problem.Misuse, fmt.Errorf("GITHUB_REPOSITORY: %w", err), "")
	}
	j.ref = pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: repo, Number: j.PullRequest}.On(j.env.ServerURL)
	if j.ref.Number == 0 {
		j.ref.Number = j.event.Number
	}
	if j.isTicketJob() {
		return j.setTicket()
	}
	if j.ref.Number == 0 && j.event.Name != "merge_group" {
		return problem.Usage(fmt.Sprintf("the event %q names no pull request", j.event.Name),
			"set the input pull-request; in a deciding job, draft")
	}
	return nil
}

// carriers returns what carries this job's checkpoints.
func (j *job) carriers() wire.Carriers {
	return wire.Carriers{Settings: j.Settings, Ref: j.ref, Env: j.env, Runtime: j.store, Names: j.runs.Names}
}

func (j *job) connect() error {
	var err error
	if j.api, err = j.GitHub(j.ref, j.Settings); err != nil {
		return err
	}
	j.runs = driver.Runs(j.api, j.ref, j.event.Name, j.DraftWorkflow, j.DecideWorkflow, workflowFile(j.env.WorkflowRef))
	j.ours = j.Reviews(j.Settings, j.api, j.runs)
	if j.CheckpointDir != "" {
		j.ours.Folder = j.carriers().Own()
	}
	if j.runs.Own = j.env.RunID; j.isTicketJob() {
		j.runs.Names = ticketpr.Names
	}
	j.store, err = artifact.New(artifact.Options{
		ResultsURL: j.env.ResultsURL, Token: j.env.RuntimeToken, ServerURL: j.env.ServerURL,
		HTTP: j.Client(j.Settings, artifact.Retry), MaxRetention: j.env.RetentionDays, Now: j.Now,
	})
	switch {
	case j.CheckpointDir != "" && (errors.Is(err, artifact.ErrUnsupported) || errors.Is(err, artifact.ErrNoRuntime)):
		j.store = nil
		return nil // the folder carries the draft
	case errors.Is(err, artifact.ErrUnsupported):
		return problem.Usage(err.Error(), "set checkpoint-dir there, and carry that folder between the jobs with "+
			"artifact steps of your own")
	case errors.Is(err, artifact.ErrNoRuntime) && slices.Contains([]string{"resume", "record", "mark", "comment"},
		j.Mode):
		return nil // the API may still have the draft
	case err != nil:
		return problem.As(problem.Misuse, err, "")
	}
	return nil
}

// subjectName returns a name for what the job is about, for a job that ended before it was read.
func (j *job) subjectName() string {
	switch {
	case j.asked.From != "":
		return j.asked.From
	case j.ref.Number == 0:
		return j.event.Name
	}
	return fmt.Sprintf("#%d", j.ref.Number)
}

// actor returns the account that started this attempt of the run.
func (j *job) actor() string { return cmp.Or(j.env.TriggeringActor, j.env.Actor) }

// routeA reports whether the decision is an environment's approval in this run rather than
// a dispatch. Naming an environment requests its approval, however the draft is named.
func (j *job) routeA() bool { return j.Environment != "" }

// workflowFile returns the path in owner/name/path@ref.
func workflowFile(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	parts := strings.SplitN(ref, "/", 3)
	return parts[len(parts)-1]
}

// isTicketJob reports whether the job is about a ticket rather than a pull request.
func (j *job) isTicketJob() bool {
	return j.Ticket != "" || j.Mode == "implement" || j.Mode == "comment"
}

// setTicket parses the input ticket, and replaces default workflow files by those for tickets.
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
	if j.DraftWorkflow == settings.Defaults().DraftWorkflow {
		j.DraftWorkflow = ".github/workflows/pr-implement.yml"
	}
	if j.DecideWorkflow == settings.Defaults().DecideWorkflow {
		j.DecideWorkflow = ".github/workflows/pr-implement-decide.yml"
	}
	return nil
}

// dispatchOf returns the command that starts a workflow for the job's pull request or ticket.
func (j *job) dispatchOf(workflow string) string {
	switch {
	case !j.isTicketJob():
		return driver.Dispatch(workflow, j.ref, j.ref.Number)
	case ticketpr.IssueNumber(j.asked.Key) > 0: // quoted, because # begins a comment in a shell
		return driver.DispatchOn(workflow, j.ref, fmt.Sprintf("ticket='#%d'", ticketpr.IssueNumber(j.asked.Key)))
	}
	return driver.DispatchOn(workflow, j.ref, "ticket="+j.asked.Key)
}
