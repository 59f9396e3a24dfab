// Package setup brings reviews into a repository: it writes the workflows and a settings file
// into a clone, and creates on GitHub the environments, the label and the secret that they name.
// It also checks that all of these exist. For the repositories of an organization's list it opens
// a pull request in each (organization.go), and never a second one.
//
// It writes nothing outside .github, overwrites no different file unless told to, and never sees
// a secret: gh asks for it. Start reading at Command and its Run.
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
)

// Command is the init command in the clone around the working directory.
type Command struct {
	*driver.Front
	Name      string            // the program's name, as it was called
	Settings  settings.Settings // base-url and model go into the workflow
	Route     Route             // empty: chosen by what the repository supports
	Reviewers []string          // who approves: logins, and teams as org/team; empty: the token's owner
	Apply     bool              // carry out the steps on GitHub
	Check     bool              // write nothing, check what exists
	Force     bool              // replace different files and rules of the same names
	JSON      bool              // print one JSON object
	Asks      bool              // a person is at the terminal

	Org   string // owner of a list's repositories, each of which gets a pull request; empty: the clone
	Repos string // file with that list, one name per line; - is standard input
}

// Report is what init found, chose and did.
type Report struct {
	Repository string   `json:"repository"`
	Route      Route    `json:"route"`
	Why        string   `json:"why"`
	Files      []File   `json:"files"`
	Steps      []Step   `json:"steps"` // on GitHub
	Notes      []string `json:"notes"`
	Unseen     []string `json:"unseen"` // what could not be seen, with the reason

	about string // the repository in one line
}

// Route is the way in which a person decides on a draft.
type Route string

// The routes. An approval needs an environment with required reviewers. Public repositories
// have them on every plan, private ones only with Enterprise:
// https://docs.github.com/en/actions/reference/workflows-and-actions/deployments-and-environments
const (
	Approval Route = "approval" // of the environment that the second job waits for
	Dispatch Route = "dispatch" // a workflow that is started with the decision
)

// Step is one thing that must exist on GitHub.
type Step struct {
	What     string   `json:"what"`
	State    string   `json:"state"`    // to do, there, done or failed
	Commands []string `json:"commands"` // shell commands that do it
	Why      string   `json:"why"`      // why it failed, or is left to do with --apply; otherwise empty
	do       func(context.Context) error
}

// The states of a step.
const (
	toDo   = "to do"
	there  = "there"
	done   = "done"
	failed = "failed"
)

// errNotHere reports that init cannot ask for the key: there is no terminal, or no gh.
var errNotHere = errors.New("run it where you can type the key")

// Run writes the files and prints or carries out the steps on GitHub; with Check it only checks.
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
	if c.Org != "" || c.Repos != "" {
		return c.organization(ctx)
	}
	r, err := c.inspectClone(ctx)
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
	report := Report{Repository: r.ref.FullName(), about: r.about()}
	with := c.workflowParams(own, &report)
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
	if report.Steps, err = c.planSteps(ctx, r, report.Route, with.label); err != nil {
		return err
	}
	if report.Route == Approval && len(c.Reviewers) == 0 {
		report.Notes = append(report.Notes, "nobody decides on their own pull request: with one reviewer, name "+
			"another (--reviewer LOGIN), or set allow-author: true in the workflow")
	}
	if err := writeFiles(r.top, report.Files, c.Force); err != nil {
		return err
	}
	report.Unseen = r.unseen
	if c.Apply {
		err = c.carryOut(ctx, report.Steps)
	}
	return cmp.Or(c.print(report, r), err)
}

// SetRoute parses the value of --route.
func (c *Command) SetRoute(text string) error {
	if c.Route = Route(text); c.Route != Approval && c.Route != Dispatch {
		return fmt.Errorf("%q is not one of approval, dispatch", text)
	}
	return nil
}

// choose picks the route and says why: the one that the clone already has, otherwise approval if
// the repository supports it.
func (c *Command) choose(ctx context.Context, r *repository, params workflowParams) (Route, string, error) {
	if c.Route != "" {
		return c.Route, "as --route says", nil
	}
	for _, route := range []Route{Approval, Dispatch} {
		if c.Org != "" {
			break // its repositories have no workflow yet
		}
		files, err := c.files(route, params)
		if err != nil {
			return "", "", err
		}
		if text, err := readIn(r.top, files[0].Path); err == nil && string(text) == files[0].text {
			return route, "the workflow here has it already", nil
		}
	}
	if !r.seen && c.Asks {
		r.asked, r.public = true, c.confirm(ctx, "Is "+r.ref.FullName()+" public?")
	}
	with, without := "have environments with required reviewers", "have no environments with required reviewers"
	switch {
	case r.needsPolicy():
		return Approval, "public repositories " + with + " on every plan", nil
	case r.seen && !r.facts.Organization:
		return Dispatch, "a person's private repositories " + without, nil
	case r.plan == "enterprise" || r.plan == "" && c.confirm(ctx, "Is "+r.ref.Owner+" on GitHub Enterprise?"):
		return Approval, "with Enterprise private repositories " + with, nil
	case r.plan != "" || c.Asks:
		return Dispatch, "on this plan private repositories " + without, nil
	}
	return Dispatch, "it works on every plan, and the plan cannot be seen without a token (for an environment: " +
		"--route approval)", nil
}

// confirm asks the person at the terminal; without a terminal the answer is no.
func (c *Command) confirm(ctx context.Context, question string) bool {
	return c.Asks && ask.Prompt{Front: c.Front}.Yes(ctx, question)
}

var reviewerName = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9_-]*(/[A-Za-z0-9._-]+)?$`)

// maxReviewers is the most reviewers that an environment takes.
const maxReviewers = 6

func (c *Command) checkReviewers() error {
	if len(c.Reviewers) > maxReviewers {
		return problem.Usage(fmt.Sprintf("an environment takes %d reviewers at most", maxReviewers),
			"name a team, as org/team")
	}
	for _, name := range c.Reviewers {
		if !reviewerName().MatchString(name) {
			return problem.Usage(fmt.Sprintf("--reviewer %q is neither a login nor org/team", name), "")
		}
	}
	return nil
}

// askReviewers asks at the terminal for reviewers if none were named. An empty answer leaves it to the token's owner.
func (c *Command) askReviewers(ctx context.Context, r *repository) error {
	if len(c.Reviewers) > 0 || !c.Asks {
		return nil
	}
	fmt.Fprintf(c.Stderr, "Who approves? Logins or org/team, with commas [%s] ", cmp.Or(r.viewer.Login, "you"))
	line, _ := ask.Prompt{Front: c.Front}.Line(ctx)
	c.Reviewers = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\r' })
	return c.checkReviewers()
}
