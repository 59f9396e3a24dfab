package githubtest

import (
	"github.com/org/pr-review-action/internal/githubtest/actions"
	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/site"
)

// Repo is a repository with all that GitHub keeps beside its commits: workflows, issues and pull requests, checks and
// statuses. Options that take another repository want its embedded Repo.
type Repo struct {
	*site.Repo
	*actions.Workflows
	pulls
	checks
}

// repos are those of a server.
type repos struct {
	*site.Site
	all map[*site.Repo]*Repo
}

// AddRepo makes a repository, owner/name. Its owner is an admin of it.
func (w *repos) AddRepo(fullName string, o RepoOptions) *Repo {
	defer w.Lock()()
	r := w.Add(fullName, o)
	w.all[r] = &Repo{Repo: r, Workflows: actions.Of(r),
		pulls:  pulls{issues{r, map[int]*issue{}}, map[int]*Pull{}},
		checks: checks{r, map[string][]Check{}, map[string][]Status{}}}
	return w.all[r]
}

// Repo finds a repository by owner/name; nil if there is none.
func (w *repos) Repo(fullName string) *Repo {
	return fakehttp.Get(w, func() *Repo { return w.all[w.Named(fullName)] })
}

// AppToken is what GITHUB_TOKEN is to a job: an installation token of one repository with a permission map such as
// {"contents": "read", "pull_requests": "write"}. Scopes that are not named are none; metadata is always readable.
// Reviews made with it are by github-actions[bot].
func (w *repos) AppToken(r *Repo, permissions map[string]string) string {
	return w.InstallationToken(r.Repo, permissions)
}
