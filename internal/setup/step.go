package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// existing is what already exists of what a route needs. What could not be seen counts as missing.
type existing struct {
	gate     *github.Environment // nil on a route without one
	model    github.Environment
	admitted []string // branches and tags, if the model's environment lists them
	key      bool
	label    bool
}

// readExisting asks GitHub what exists, and notes what could not be seen.
func (r *repository) readExisting(ctx context.Context, route Route, label string, whole bool) (g existing) {
	if route == Approval {
		g.gate = &github.Environment{}
	}
	if !r.seen {
		return g
	}
	ctx = transport.Brief(ctx, lookTime)
	owner, repo := r.ref.Owner, r.ref.Repo
	if route == Approval {
		*g.gate = r.environment(ctx, gateEnvironment)
	}
	if whole {
		g.model = r.environment(ctx, modelEnvironment)
	}
	if g.model.Custom {
		var err error
		if g.admitted, err = r.api.DeploymentBranches(ctx, owner, repo, modelEnvironment); err != nil {
			r.noteUnseen("which branches "+modelEnvironment+" admits", err)
		}
	}
	if g.model.Name != "" {
		names, err := r.api.SecretNames(ctx, owner, repo, modelEnvironment)
		if g.key = slices.Contains(names, keySecret); err != nil {
			r.noteUnseen("the names of the secrets of "+modelEnvironment, err)
		}
	}
	var err error
	if g.label, err = r.api.HasLabel(ctx, owner, repo, label); err != nil {
		r.noteUnseen("whether there is a label "+label, err)
	}
	return g
}

// environment returns an environment of the repository. Its name is empty if it does not exist.
func (r *repository) environment(ctx context.Context, name string) github.Environment {
	e, err := r.api.Environment(ctx, r.ref.Owner, r.ref.Repo, name)
	if err != nil && !(errors.Is(err, github.ErrNotFound) && r.api.Authorized()) {
		r.noteUnseen("environment "+name, err)
	}
	return e
}

// planSteps returns everything that a route needs on GitHub. Workflows that call the product's
// do not use an environment's key.
func (c *Command) planSteps(r *repository, g existing, label string) (steps []Step) {
	if g.gate != nil {
		steps = append(steps, c.gateStep(r, *g.gate))
	}
	put := fmt.Sprintf("gh api -X PUT repos/%s/environments/%s", r.ref.FullName(), modelEnvironment)
	branch := cmp.Or(r.branch, "main")
	only := Step{
		What: "environment " + modelEnvironment + " for the model's key, open only to " + branch + "",
		Commands: []string{
			put + " -F 'deployment_branch_policy[protected_branches]=false'" +
				" -F 'deployment_branch_policy[custom_branch_policies]=true'",
			strings.Replace(put, "-X PUT ", "", 1) + "/deployment-branch-policies -f name=" + driver.Quoted(branch),
		},
		do: func(ctx context.Context) error {
			return write.New(r.api).SetEnvironment(ctx, r.ref, modelEnvironment, nil, branch)
		},
	}
	half := g.model.Custom && len(g.admitted) == 0 // an earlier init was interrupted here
	key := Step{
		What:     "secret " + keySecret + " of " + modelEnvironment + ", for which gh asks",
		Commands: []string{"gh secret set " + keySecret + " --env " + modelEnvironment + " --repo " + r.ghName()},
		do:       func(ctx context.Context) error { return c.askForKey(ctx, r) },
	}
	if c.ownsWorkflows() {
		steps = append(steps, c.settleState(only, g.model.Limited && !half, g.model.Rules > 0 && !half),
			c.settleState(key, g.key, false))
	}
	about := "Asks for a review by pr-review-action"
	return append(steps, c.settleState(Step{
		What: "label " + label + ", which asks for a review",
		Commands: []string{"gh label create " + driver.Quoted(label) + " --repo " + r.ghName() + " --description " +
			driver.Quoted(about)},
		do: func(ctx context.Context) error {
			err := write.New(r.api).CreateLabel(ctx, r.ref, label, about)
			if errors.Is(err, write.ErrExists) {
				return nil
			}
			return err
		},
	}, g.label, false))
}

// gateStep returns the step that creates the environment whose reviewers decide.
func (c *Command) gateStep(r *repository, e github.Environment) Step {
	names := c.Reviewers
	if len(names) == 0 && r.viewer.Login != "" {
		names = []string{r.viewer.Login}
	}
	command, who := fmt.Sprintf("gh api -X PUT repos/%s/environments/%s", r.ref.FullName(), gateEnvironment), "you"
	if c.Org != "" {
		who = "whoever runs this, or others of your choice"
	}
	if len(names) == 0 {
		command += ` -F 'reviewers[][type]=User' -F "reviewers[][id]=$(gh api user --jq .id)"`
	} else {
		who = strings.Join(names, ", ")
	}
	for _, name := range names {
		kind, at := "User", "users/"+name
		if org, slug, team := strings.Cut(name, "/"); team {
			kind, at = "Team", "orgs/"+org+"/teams/"+slug
		}
		command += fmt.Sprintf(` -F 'reviewers[][type]=%s' -F "reviewers[][id]=$(gh api %s --jq .id)"`, kind, at)
	}
	return c.settleState(Step{
		What:     "environment " + gateEnvironment + ", whose reviewers decide: " + who,
		Commands: []string{command},
		do: func(ctx context.Context) error {
			reviewers, err := r.lookUpReviewers(ctx, names)
			if err != nil {
				return err
			}
			return write.New(r.api).SetEnvironment(ctx, r.ref, gateEnvironment, reviewers, "")
		},
	}, e.Reviewers > 0, e.Rules > 0)
}

// settleState sets the state of a step. Foreign rules are replaced only with --force.
func (c *Command) settleState(s Step, is, others bool) Step {
	switch {
	case is:
		s.State, s.do = there, nil
	case others && !c.Force:
		s.Why = "it has other rules, which --force replaces"
		s.State, s.do = toDo, nil
	default:
		s.State = toDo
	}
	return s
}

// lookUpReviewers looks up the IDs of logins and teams.
func (r *repository) lookUpReviewers(ctx context.Context, names []string) (all []write.Reviewer, err error) {
	for _, name := range names {
		v := write.Reviewer{Type: "User", ID: r.viewer.ID}
		if org, slug, team := strings.Cut(name, "/"); team {
			v.Type = "Team"
			v.ID, err = r.api.Team(ctx, org, slug)
		} else if name != r.viewer.Login {
			var m github.Member
			m, err = r.api.Member(ctx, r.ref.Owner, r.ref.Repo, name)
			v.ID = m.ID
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil, problem.Usage("nobody is named who approves, and the token is not a person's", "--reviewer LOGIN")
	}
	return all, nil
}

// carryOut does the steps that are to do. A step that fails does not stop the others.
func (c *Command) carryOut(ctx context.Context, steps []Step) error {
	var left int
	for i := range steps {
		s := &steps[i]
		if s.do == nil || ctx.Err() != nil {
			continue
		}
		switch err := s.do(ctx); {
		case errors.Is(err, errNotHere):
			s.Why = err.Error()
		case err != nil:
			s.State, s.Why, left = failed, strings.TrimSuffix(driver.Gist(err)+"; "+nextStep(err), "; "), left+1
		default:
			s.State = done
		}
	}
	if left > 0 {
		return driver.Reported{Err: problem.New("not everything could be set up", "", "")}
	}
	return ctx.Err()
}

// askForKey has gh ask for the key, which goes straight from the terminal to gh.
func (c *Command) askForKey(ctx context.Context, r *repository) error {
	if !c.Asks {
		return errNotHere
	}
	return c.runGH(ctx, "secret", "set", keySecret, "--env", modelEnvironment, "--repo", r.ghName())
}

// ghName returns the repository's name in gh's form.
func (r *repository) ghName() string {
	if r.ref.Host != "github.com" {
		return r.ref.Host + "/" + r.ref.FullName()
	}
	return r.ref.FullName()
}
