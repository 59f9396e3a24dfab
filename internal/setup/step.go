package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// planSteps looks at everything that a route needs on GitHub, and notes what could not be seen, which counts as
// missing. Workflows that call the product's do not use an environment's key.
func (c *Command) planSteps(ctx context.Context, r *repository, route Route, label string) (steps []Step, err error) {
	looking := transport.Brief(ctx, lookTime)
	if route == Approval {
		e, k := r.checkGate(looking, gateEnvironment)
		if k.State != ok {
			err = c.askReviewers(ctx, r)
		}
		steps = append(steps, c.settleState(r, c.gateStep(r), k, e.Rules > 0))
	}
	if c.Org == "" {
		e, k := r.checkModelEnvironment(looking, modelEnvironment)
		steps = append(steps, c.settleState(r, r.modelStep(), k, e.Rules > 0))
		var key Check
		if k.there {
			key = r.checkKey(looking, modelEnvironment)
		}
		steps = append(steps, c.settleState(r, Step{
			What:     "secret " + keySecret + " of " + modelEnvironment + ", for which gh asks",
			Commands: []string{r.secretCommand(modelEnvironment)},
			do: func(ctx context.Context) error { // the key goes straight from the terminal to gh
				if !c.Asks {
					return errNotHere
				}
				return c.runGH(ctx, "secret", "set", keySecret, "--env", modelEnvironment, "--repo", r.ghName())
			},
		}, key, false))
	}
	about := "Asks for a review by pr-review-action"
	steps = append(steps, c.settleState(r, Step{
		What:     "label " + label + ", which asks for a review",
		Commands: []string{r.labelCommand(label) + " --description " + driver.Quoted(about)},
		do: func(ctx context.Context) error {
			err := write.New(r.api).CreateLabel(ctx, r.ref, label, about)
			if errors.Is(err, write.ErrExists) {
				return nil
			}
			return err
		},
	}, r.checkLabel(looking, label), false))
	if c.Org == "" && !r.seen && !r.asked {
		r.unseen = append(r.unseen, "whether it is public: if so, GitHub starts no review without a policy ("+
			policyStep+")")
	}
	if c.Org == "" && r.needsPolicy() {
		k, step := r.checkEvent(looking, draftEvents), r.policyStep()
		if k.State == unseen || k.there {
			step.do, step.Why = nil, "this token may not see the policies"
		}
		if k.there {
			step.Why = k.Found
		}
		steps = append(steps, c.settleState(r, step, k, false))
	}
	return steps, err
}

// modelStep returns the step that creates the environment with the model's key.
func (r *repository) modelStep() Step {
	path, branch := r.ref.FullName()+"/environments/"+modelEnvironment, r.branch
	name := driver.Quoted(branch)
	if branch == "" {
		branch, name = "the default branch", `"$(gh api repos/`+r.ref.FullName()+` --jq .default_branch)"`
	}
	return Step{
		What: "environment " + modelEnvironment + " for the model's key, open only to " + branch,
		Commands: []string{
			"gh api -X PUT repos/" + path + " -F 'deployment_branch_policy[protected_branches]=false'" +
				" -F 'deployment_branch_policy[custom_branch_policies]=true'",
			"gh api repos/" + path + "/deployment-branch-policies -f name=" + name,
		},
		do: func(ctx context.Context) error {
			return write.New(r.api).SetEnvironment(ctx, r.ref, modelEnvironment, nil, branch)
		},
	}
}

// gateStep returns the step that creates the environment whose reviewers decide.
func (c *Command) gateStep(r *repository) Step {
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
	return Step{
		What:     "environment " + gateEnvironment + ", whose reviewers decide: " + who,
		Commands: []string{command},
		do: func(ctx context.Context) error {
			reviewers, err := r.lookUpReviewers(ctx, names)
			if err != nil {
				return err
			}
			return write.New(r.api).SetEnvironment(ctx, r.ref, gateEnvironment, reviewers, "")
		},
	}
}

// settleState sets the state of a step by what was found. Foreign rules are replaced only with --force.
func (c *Command) settleState(r *repository, s Step, found Check, others bool) Step {
	switch s.State = toDo; {
	case found.State == ok:
		s.State, s.do = there, nil
	case others && !c.Force:
		s.Why, s.do = "it has other rules, which --force replaces", nil
	}
	if found.State == unseen {
		r.unseen = append(r.unseen, found.What+": "+found.Found)
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

// secretCommand returns the command that sets the model's key in an environment.
func (r *repository) secretCommand(environment string) string {
	return "gh secret set " + keySecret + " --env " + driver.Quoted(environment) + " --repo " + r.ghName()
}

func (r *repository) labelCommand(label string) string {
	return "gh label create " + driver.Quoted(label) + " --repo " + r.ghName()
}

// ghName returns the repository's name in gh's form.
func (r *repository) ghName() string {
	if r.ref.Host != "github.com" {
		return r.ref.Host + "/" + r.ref.FullName()
	}
	return r.ref.FullName()
}
