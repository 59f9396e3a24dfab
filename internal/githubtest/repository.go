package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
	"github.com/org/pr-review-action/internal/githubtest/runner"
)

const defaultBranch = "main"

// Settings are a repository's settings, which its administrators change.
type Settings struct {
	Private  bool
	Archived bool   // read-only
	NoPulls  bool   // workflows may not open pull requests, as in a new repository on GitHub
	Plan     string // of the owner: free, team or enterprise. Only admins see it
}

// Repo is a repository: commits and branches, permissions, and everything else that GitHub keeps with it.
type Repo struct {
	*Workflows
	pulls
	checks

	ID          int64
	Owner, Name string
	Host        *host
	Objects     *memgit.Objects // shared with its forks, as on GitHub

	set         Settings
	labels      []string // labels of the repository
	protected   []string
	permissions map[string]string
	branches    map[string]*memgit.Commit
	parent      *Repo
}

// RepoOptions configures AddRepo.
type RepoOptions struct {
	Private   bool        //
	Protected []string    // branches
	ForkOf    *Repo       // shares its commits
	Files     memgit.Tree // first commit of the default branch; a README by default
}

func newRepo(h *host, fullName string, o RepoOptions) *Repo {
	owner, name, _ := strings.Cut(fullName, "/")
	r := &Repo{ID: h.NextID(), Owner: owner, Name: name, Host: h, set: Settings{Private: o.Private},
		parent: o.ForkOf, protected: o.Protected, permissions: map[string]string{owner: "admin"},
		branches: map[string]*memgit.Commit{}, Objects: memgit.NewObjects()}
	r.Workflows = &Workflows{environments: environments{r, map[string]*environment{}}, repo: r, runs: map[int64]*Run{},
		Cache: runner.Cache{Host: h.Host, Common: defaultBranch}}
	r.pulls = pulls{issues{r, map[int]*issue{}}, map[int]*Pull{}}
	r.checks = checks{r, map[string][]Check{}, map[string][]Status{}}
	h.User(owner)
	if o.ForkOf != nil {
		r.Objects = o.ForkOf.Objects
		r.branches[defaultBranch] = o.ForkOf.branches[defaultBranch]
	}
	if o.Files == nil && o.ForkOf == nil {
		o.Files = memgit.Tree{"README.md": "# " + name + "\n"}
	}
	if o.Files != nil {
		r.Put(defaultBranch, memgit.Commit{Message: "first commit", Tree: o.Files})
	}
	return r
}

// FullName returns owner/name.
func (r *Repo) FullName() string { return r.Owner + "/" + r.Name }

// Set changes the repository's settings for a test.
func (r *Repo) Set(change func(*Settings)) { fakehttp.Do(r.Host, func() { change(&r.set) }) }

// Permit gives a user a role for a test: admin, maintain, write, triage, read or none.
func (r *Repo) Permit(login, role string) {
	defer r.Host.Lock()()
	r.Host.User(login)
	r.permissions[login] = role
}

func (r *Repo) permission(login string) string {
	if role := r.permissions[login]; role != "" && role != "none" {
		return role
	}
	if r.set.Private {
		return "none"
	}
	return "read"
}

func level(permission string) int {
	return map[string]int{"read": 1, "triage": 1, "write": 2, "maintain": 2, "admin": 3}[permission]
}

// Association returns an author's association with the repository, as comments name it.
func (r *Repo) Association(login string) string {
	switch {
	case login == r.Owner:
		return "OWNER"
	case level(r.permissions[login]) > 0:
		return "COLLABORATOR"
	}
	return "NONE"
}

// Put adds a commit on top of a branch, or of the default one if the branch does not exist, and moves the branch
// there. The default author is the owner.
func (r *Repo) Put(branch string, c memgit.Commit) *memgit.Commit {
	for _, tip := range []*memgit.Commit{r.branches[branch], r.branches[defaultBranch]} {
		if tip != nil && c.Parents == nil {
			c.Parents, c.Modes = []*memgit.Commit{tip}, tip.Modes
		}
	}
	if c.Author == "" {
		c.Author = r.Owner
	}
	c.At = r.Host.Now()
	r.branches[branch] = r.Objects.Add(c)
	return r.branches[branch]
}

// Resolve returns the commit of a hash, a branch, heads/x or refs/heads/x; "" is the default branch; nil for none.
func (r *Repo) Resolve(ref string) *memgit.Commit {
	if c := r.Objects.Commits[ref]; c != nil {
		return c
	}
	if ref == "" {
		ref = defaultBranch
	}
	return r.branches[strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")]
}

// Commit adds a snapshot to a branch, created from the default one if needed, and returns its hash.
func (r *Repo) Commit(branch, message string, files memgit.Tree) string {
	return r.CommitAs("", branch, message, files)
}

// CommitAs is Commit with a given hash, such as that of a clone's commit.
func (r *Repo) CommitAs(sha, branch, message string, files memgit.Tree) string {
	defer r.Host.Lock()()
	return r.Put(branch, memgit.Commit{SHA: sha, Message: message, Tree: files}).SHA
}

// Chmod replaces a branch's last commit by one with another git mode for a file, and returns its hash.
func (r *Repo) Chmod(branch, path, mode string) string {
	defer r.Host.Lock()()
	c := *r.branches[branch]
	c.SHA, c.Modes = "", maps.Clone(c.Modes)
	if c.Modes == nil {
		c.Modes = map[string]string{}
	}
	c.Modes[path] = mode
	r.branches[branch] = r.Objects.Add(c)
	return r.branches[branch].SHA
}

// DeleteBranch deletes a branch for a test.
func (r *Repo) DeleteBranch(name string) { fakehttp.Do(r.Host, func() { delete(r.branches, name) }) }

// Head returns the hash of a branch's tip for a test; "" if there is no such branch.
func (r *Repo) Head(branch string) string { return r.at(branch).SHA }

// Tree returns the content of a branch or commit for a test; nil if there is none.
func (r *Repo) Tree(ref string) memgit.Tree { return maps.Clone(r.at(ref).Tree) }

// Mode returns git's mode of a file in a branch or commit for a test; "" if the file does not exist.
func (r *Repo) Mode(ref, path string) string { return r.at(ref).Mode(path) }

// Message returns the message of the commit at a branch or hash for a test.
func (r *Repo) Message(ref string) string { return r.at(ref).Message }

func (r *Repo) at(ref string) *memgit.Commit {
	defer r.Host.Lock()()
	if c := r.Resolve(ref); c != nil {
		return c
	}
	return &memgit.Commit{}
}

// Branches returns the names of all branches, sorted, for a test.
func (r *Repo) Branches() []string {
	return fakehttp.Get(r.Host, func() []string { return slices.Sorted(maps.Keys(r.branches)) })
}

// HasLabel reports to a test whether the repository has a label.
func (r *Repo) HasLabel(name string) bool {
	return fakehttp.Get(r.Host, func() bool { return slices.Contains(r.labels, name) })
}

// JSON returns a repository for an answer.
func (r *Repo) JSON() object {
	return object{
		"id": r.ID, "name": r.Name, "full_name": r.FullName(), "private": r.set.Private,
		"visibility": map[bool]string{true: "private", false: "public"}[r.set.Private],
		"archived":   r.set.Archived, "fork": r.parent != nil, "owner": r.Host.User(r.Owner).JSON(),
		"default_branch": defaultBranch, "html_url": r.Page(""), "url": r.Address(""),
	}
}

// Page returns an address of the web interface below the repository's.
func (r *Repo) Page(format string, args ...any) string {
	return r.Host.WebURL + "/" + r.FullName() + fmt.Sprintf(format, args...)
}

// Address returns an address of the REST interface below the repository's.
func (r *Repo) Address(format string, args ...any) string {
	return r.Host.URL + "/repos/" + r.FullName() + fmt.Sprintf(format, args...)
}

func labelJSON(name string) object { return object{"id": len(name), "name": name, "color": "ededed"} }
