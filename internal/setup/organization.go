package setup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// organization looks at every repository of the list, and with Apply opens a pull request
// in each that has no workflow yet. A failure in one does not stop the others. Once GitHub
// rejects requests because of its rate limit, the rest is left for the next run.
func (c *Command) organization(ctx context.Context) error {
	refs, err := c.readRefs()
	if err != nil {
		return err
	}
	api, err := c.GitHub(refs[0], c.Settings)
	if err != nil {
		return err
	}
	if !api.Authorized() {
		return problem.Usage("there is no token to ask GitHub about the repositories of "+c.Org+" with",
			"set GITHUB_TOKEN, such as to $(gh auth token)")
	}
	c.Asks = false
	plan, unread := api.Plan(ctx, c.Org) // one request for all repositories
	if !c.JSON {
		fmt.Fprintf(c.Stdout, "%s of %s\n\n", repositories(len(refs)), c.Org)
	}
	var sites []*Site
	limited := false
	for _, ref := range refs {
		s := &Site{Report: Report{Repository: ref.FullName()}, State: left, r: &repository{ref: ref, api: api}}
		sites = append(sites, s)
		if !limited && ctx.Err() == nil {
			err := c.inspectSite(ctx, s, func(r *repository) { r.setPlan(plan, unread) })
			if err == nil && c.Apply && s.State != kept {
				err = c.propose(ctx, s)
			}
			s.fail(err)
			status, is := errors.AsType[*transport.StatusError](err)
			limited = is && status.Limited
		}
		c.printRow(s)
	}
	return cmp.Or(c.printEnd(sites), ctx.Err())
}

// inspectSite reads a repository and decides what to write there.
func (c *Command) inspectSite(ctx context.Context, s *Site, plan func(*repository)) (err error) {
	r, api := s.r, s.r.api
	s.State = toDo
	defer func() { s.Unseen = r.unseen }()
	if r.facts, err = api.Repository(ctx, r.ref.Owner, r.ref.Repo); err != nil {
		return err
	}
	r.applyFacts()
	s.Repository, s.Visibility = r.ref.FullName(), r.facts.Visibility
	if !strings.EqualFold(r.ref.Owner, c.Org) {
		return problem.New("it has moved to "+guard.Line(r.ref.FullName(), 200), "", "take it out of the list")
	}
	if r.facts.Archived {
		return problem.New("it is archived: nobody can write to it", "", "take it out of the list, or unarchive it")
	}
	tip, err := api.Tip(ctx, r.ref.Owner, r.ref.Repo, r.branch)
	if errors.Is(err, github.ErrNotFound) {
		return problem.New("it is empty", "", "push a first commit to "+guard.Line(r.branch, 100))
	}
	if s.base = tip.SHA; err != nil {
		return err
	}
	if err := s.checkExisting(ctx); err != nil || s.State == kept {
		return err
	}
	if r.facts.Private {
		plan(r)
	}
	return c.plan(ctx, s)
}

// plan chooses the route of a site, and with it the files and steps.
func (c *Command) plan(ctx context.Context, s *Site) (err error) {
	var text []byte
	if r := s.r; r.own {
		text, err = r.api.Content(ctx, r.ref.Owner, r.ref.Repo, config.DefaultPath, s.base, maxFile)
		if err != nil {
			return err
		}
	}
	own, err := config.Parse(config.DefaultPath, text)
	if err != nil {
		return err
	}
	if s.r.needsPolicy() {
		s.Notes = append(s.Notes, "from 2 December 2026 on GitHub starts no workflow by "+draftEvent+" in a public "+
			"repository unless a policy allows it. "+policyStep)
	}
	if s.r.facts.Private && (s.r.plan == "" || s.r.plan == "free") {
		s.Notes = append(s.Notes, "on the Free plan a private repository reads no secret of its organization: the key "+
			"is one of the repository there")
	}
	with := c.workflowParams(own, &s.Report)
	if s.Route, s.Why, err = c.choose(ctx, s.r, with); err != nil {
		return err
	}
	files, err := c.files(s.Route, with)
	for _, f := range files {
		if f.State = toDo; f.own && s.r.own {
			f.State = kept
		}
		s.Files = append(s.Files, f)
	}
	s.Steps, _ = c.planSteps(ctx, s.r, s.Route, with.label) // which asks nobody here, and so cannot fail
	if len(c.Reviewers) == 0 && s.Route == Approval {
		s.Steps[0].do = nil // running this for a list makes no one the reviewer
	}
	return err
}

// maxSites is the most repositories that a list may have: GitHub allows 5,000 requests an hour.
const maxSites = 500

// readRefs returns the repositories of the list in its order, each once.
func (c *Command) readRefs() (refs []pull.Ref, err error) {
	switch {
	case c.Org == "" || c.Repos == "":
		return nil, problem.Usage("--org and --repos go together: whose repositories, and a file that lists them",
			"gh repo list "+cmp.Or(c.Org, "acme")+
				" --no-archived --source --limit 500 --json name --jq '.[].name' > repos.txt")
	case c.Check || c.Force:
		return nil, problem.Usage("--check and --force are for one repository", "run them in a clone of it")
	}
	in := c.Stdin
	if c.Repos != "-" {
		f, err := os.Open(c.Repos)
		if err != nil {
			return nil, problem.As(problem.Misuse, err, "a file with the name of a repository on each line")
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "#")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !strings.Contains(name, "/") {
			name = c.Org + "/" + name
		}
		ref, err := c.Repository(name)
		if err != nil || !strings.EqualFold(ref.Owner, c.Org) {
			return nil, problem.Usage(fmt.Sprintf("%q in %s is not a repository of %s", guard.Line(name, 100), c.Repos,
				c.Org), "write a repository's name on each line, such as payments")
		}
		if !slices.ContainsFunc(refs, func(r pull.Ref) bool { return strings.EqualFold(r.Repo, ref.Repo) }) {
			ref.Owner = c.Org
			refs = append(refs, ref)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", c.Repos, err)
	}
	if len(refs) == 0 || len(refs) > maxSites {
		return nil, problem.Usage(fmt.Sprintf("%s lists %d repositories", c.Repos, len(refs)),
			fmt.Sprintf("1 to %d at a time", maxSites))
	}
	return refs, onGitHubCom(refs[0])
}
