package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// lookTime is the time limit for asking GitHub about one thing.
const lookTime = 10 * time.Second

// repository is what is known of a clone and of the repository that it came from.
type repository struct {
	top       string // directory of the work tree
	ref       pull.Ref
	api       *github.Client
	seen      bool // GitHub answered about the repository; otherwise what follows is empty
	facts     github.Repository
	branch    string // the default branch
	protected bool
	hidden    string // why protected could not be determined
	plan      string // of the organization, if the token may see it
	viewer    github.Viewer
	own       bool // it has a settings file; set only for repositories of a list
	asked     bool // without GitHub's answer, a person said whether it is public
	public    bool // what that person said

	unseen []string
}

// inspectClone finds the clone and asks GitHub about its repository. It notes what GitHub does not
// show; --apply and --check need a token and an answer.
func (c *Command) inspectClone(ctx context.Context) (*repository, error) {
	var top string
	clone, err := ingest.OpenClone(ctx, ".")
	if err == nil {
		top, err = clone.Top(ctx)
	}
	if err != nil {
		next := "run init in a clone of the repository"
		if errors.Is(err, ingest.ErrOwner) {
			next = "" // its own
		}
		return nil, problem.As(problem.Misuse, err, next)
	}
	r := &repository{top: top}
	if r.ref, err = ingest.Origin(ctx, top); err != nil {
		verb := map[bool]string{true: "add", false: "set-url"}[errors.Is(err, ingest.ErrNoOrigin)]
		return nil, problem.As(problem.Misuse, err, "git remote "+verb+" origin https://github.com/OWNER/REPO")
	}
	if err := onGitHubCom(r.ref); err != nil {
		return nil, err
	}
	if r.api, err = c.GitHub(r.ref, c.Settings); err != nil {
		return nil, err
	}
	if !r.api.Authorized() && (c.Apply || c.Check) {
		return nil, problem.Usage("there is no token to ask GitHub about "+r.ref.FullName()+" with",
			"set GITHUB_TOKEN to one of an administrator, such as $(gh auth token); init alone works without")
	}
	within := transport.Brief(ctx, lookTime)
	r.branch, _ = clone.DefaultBranch(ctx)
	if r.facts, err = r.api.Repository(within, r.ref.Owner, r.ref.Repo); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		if c.Apply || c.Check {
			return nil, problem.As(problem.Failed, err, cmp.Or(nextStep(err),
				"see https://www.githubstatus.com, and run it again"))
		}
		r.noteUnseen("the repository", err)
		return r, nil
	}
	r.applyFacts()
	r.readDetails(within)
	return r, nil
}

// onGitHubCom returns an error for a server on which these workflows do not run.
func onGitHubCom(ref pull.Ref) error {
	if ref.Host == pull.DefaultHost || strings.HasSuffix(ref.Host, ".ghe.com") {
		return nil
	}
	return problem.Usage(ref.Host+" is not GitHub.com, and only GitHub is supported",
		"an Enterprise Server has no artifacts for actions, which these workflows need, and init cannot know what "+
			"carries drafts between its runners: "+
			"https://github.com/org/pr-review-action/blob/v1/.github/GUIDES.md#5-enterprise-server has the steps")
}

// applyFacts copies the branch and names that GitHub reported.
func (r *repository) applyFacts() {
	r.seen, r.branch = true, r.facts.DefaultBranch
	if owner, repo, err := pull.ParseRepository(r.facts.FullName); err == nil {
		r.ref.Owner, r.ref.Repo = owner, repo
	}
}

func (r *repository) readDetails(ctx context.Context) {
	var err error
	if r.protected, err = r.api.Protected(ctx, r.ref.Owner, r.ref.Repo, r.branch); err != nil {
		r.hidden = r.reason(err)
		r.noteUnseen("whether "+r.branch+" is protected", err)
	}
	if r.facts.Private && r.facts.Organization {
		r.setPlan(r.api.Plan(ctx, r.ref.Owner))
	}
	if r.api.Authorized() {
		if r.viewer, err = r.api.Viewer(ctx); err != nil {
			r.noteUnseen("whose token this is", err)
		}
	}
}

// setPlan stores the owner's plan, or notes that it could not be seen.
func (r *repository) setPlan(plan string, err error) {
	if r.plan = plan; err != nil {
		r.noteUnseen("the plan of "+r.ref.Owner, err)
	} else if plan == "" {
		r.unseen = append(r.unseen, "the plan of "+r.ref.Owner+": only its owners can see it")
	}
}

// noteUnseen notes what could not be seen, and why.
func (r *repository) noteUnseen(what string, err error) {
	r.unseen = append(r.unseen, what+": "+r.reason(err))
}

func (r *repository) reason(err error) string {
	switch {
	case !r.api.Authorized():
		return "there is no token (GITHUB_TOKEN, such as $(gh auth token))"
	case errors.Is(err, github.ErrNotFound), errors.Is(err, github.ErrNoAccess):
		return "the token may not read it"
	case errors.Is(err, transport.ErrTimeout):
		return "GitHub did not answer in time"
	}
	if status, is := errors.AsType[*transport.StatusError](err); is && status.Limited {
		return "GitHub takes no more requests with this token for now"
	} else if is {
		return fmt.Sprintf("GitHub answered %d", status.Code)
	}
	return guard.Line(driver.Gist(err), 200)
}

// about describes the repository in one line.
func (r *repository) about() string {
	if !r.seen {
		return r.ref.FullName()
	}
	kind := map[bool]string{true: "private", false: "public"}[r.facts.Private]
	if r.plan != "" {
		kind += ", plan " + guard.Line(r.plan, 40)
	}
	rules := map[bool]string{true: " (protected)", false: " (not protected)"}[r.protected]
	if r.hidden != "" {
		rules = ""
	}
	return fmt.Sprintf("%s: %s, default branch %s%s", r.ref.FullName(), kind, guard.Line(r.branch, 100), rules)
}

// nextStep returns what an error advises to do, or "".
func nextStep(err error) string {
	for _, row := range problem.Of(err).Rows {
		if row[0] == "next" {
			return row[1]
		}
	}
	return ""
}

// settings returns the settings of the clone's file, or the defaults if it has none.
func (r *repository) settings() (config.Config, error) {
	text, err := readIn(r.top, config.DefaultPath)
	if err != nil {
		return config.Config{}, err
	}
	return config.Parse(config.DefaultPath, text)
}
