package setup

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/problem"
)

// SetRoute reads the flag of the route.
func (c *Command) SetRoute(text string) error {
	if c.Route = Route(text); c.Route != Approval && c.Route != Dispatch {
		return fmt.Errorf("%q is none of approval, dispatch", text)
	}
	return nil
}

// choose picks the route and says why: the one that is here already, else the approval
// where the repository can have one.
func (c *Command) choose(ctx context.Context, r *repository, with filling) (Route, string, error) {
	if c.Route != "" {
		return c.Route, "as --route says", nil
	}
	for _, route := range []Route{Approval, Dispatch} {
		if c.Org != "" {
			break // whose repositories have none yet
		}
		files, err := c.files(route, with)
		if err != nil {
			return "", "", err
		}
		if text, err := readIn(r.top, files[0].Path); err == nil && string(text) == files[0].text {
			return route, "the workflow here has it already", nil
		}
	}
	public := r.seen && !r.facts.Private || !r.seen && c.yes(ctx, "Is "+r.ref.FullName()+" public?")
	switch {
	case public:
		return Approval, "public repositories have environments with required reviewers on every plan", nil
	case r.seen && !r.facts.Organization:
		return Dispatch, "a person's private repositories have no environments with required reviewers", nil
	case r.plan == "enterprise":
		return Approval, "with Enterprise private repositories have environments with required reviewers", nil
	case r.plan != "":
		return Dispatch, "on this plan private repositories have no environments with required reviewers", nil
	case c.yes(ctx, "Is "+r.ref.Owner+" on GitHub Enterprise?"):
		return Approval, "with Enterprise private repositories have environments with required reviewers", nil
	case c.Asks:
		return Dispatch, "without Enterprise private repositories have no environments with required reviewers", nil
	}
	return Dispatch, "it works on every plan, and the plan could not be seen (--route approval for the other)", nil
}

// yes asks the person at the terminal; without one the answer is no.
func (c *Command) yes(ctx context.Context, question string) bool {
	return c.Asks && ask.Prompt{Front: c.Front}.Yes(ctx, question)
}

var reviewerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*(/[A-Za-z0-9._-]+)?$`)

// maxReviewers is how many an environment takes.
const maxReviewers = 6

func (c *Command) checkReviewers() error {
	if len(c.Reviewers) > maxReviewers {
		return problem.Usage(fmt.Sprintf("an environment takes %d reviewers at most", maxReviewers),
			"name a team, as org/team")
	}
	for _, name := range c.Reviewers {
		if !reviewerName.MatchString(name) {
			return problem.Usage(fmt.Sprintf("--reviewer %q is neither a login nor org/team", name), "")
		}
	}
	return nil
}

// whoReviews are the reviewers that were named, at the terminal where nobody was, else
// whoever's token it is.
func (c *Command) whoReviews(ctx context.Context, r *repository, there onGitHub) error {
	if len(c.Reviewers) > 0 || !c.Asks || there.gate == nil || there.gate.Reviewers > 0 {
		return nil
	}
	fmt.Fprintf(c.Stderr, "Who approves? Logins or org/team, with commas [%s] ", cmp.Or(r.viewer.Login, "you"))
	line, _ := ask.Prompt{Front: c.Front}.Line(ctx)
	c.Reviewers = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\r' })
	return c.checkReviewers()
}
