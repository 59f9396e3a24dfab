package site

import (
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// RepoRoutes are those of a repository, its branches and its commits.
func RepoRoutes() []Route[*Repo] {
	contents, write := []string{"contents:read"}, []string{"contents:write"}
	return []Route[*Repo]{
		{"GET", RepoPath, nil, (*Repo).get},
		{"GET", RepoPath + "/labels/{name}", nil, (*Repo).getLabel},
		{"POST", RepoPath + "/labels", []string{"issues:write", "pull_requests:write"}, (*Repo).addLabel},
		{"GET", RepoPath + "/collaborators/{username}/permission", []string{"metadata:read"}, (*Repo).getPermission},
		{"GET", RepoPath + "/branches/{branch}", contents, (*Repo).getBranch},
		{"GET", RepoPath + "/contents/{path}", contents, (*Repo).getContents},
		{"GET", RepoPath + "/tarball/{ref}", contents, (*Repo).getArchive},
		{"GET", RepoPath + "/git/trees/{tree_sha}", contents, (*Repo).getTree},
		{"POST", RepoPath + "/git/refs", write, (*Repo).createRef},
		{"GET", RepoPath + "/compare/{basehead}", contents, (*Repo).compare},
	}
}

func (r *Repo) getBranch(c *Call) answer {
	name := c.PathValue("branch")
	tip := r.Tip(name)
	if tip == nil {
		return fakehttp.Refusal(http.StatusNotFound, "Branch not found")
	}
	protected := slices.Contains(r.protected, name)
	return fakehttp.OK(object{"name": name, "commit": r.CommitJSON(tip), "protected": protected,
		"protection": object{"enabled": protected}})
}

func (r *Repo) getLabel(c *Call) answer {
	if name := c.PathValue("name"); slices.Contains(r.labels, name) {
		return fakehttp.OK(LabelJSON(name))
	}
	return fakehttp.NotFound()
}

func (r *Repo) addLabel(c *Call) answer {
	var in struct{ Name string }
	if c.Read(&in); slices.Contains(r.labels, in.Name) {
		return fakehttp.Unprocessable("Validation Failed",
			object{"resource": "Label", "code": "already_exists", "field": "name"})
	}
	r.labels = append(r.labels, in.Name)
	return fakehttp.Created(LabelJSON(in.Name))
}

func (r *Repo) get(c *Call) answer {
	v := r.JSON()
	if r.parent != nil {
		v["parent"] = r.parent.JSON()
	}
	if c.Who.Kind == "user" {
		l := level(r.permission(c.Who.User.Login))
		v["permissions"] = object{"admin": l > 2, "push": l > 1, "pull": l > 0}
	}
	return fakehttp.OK(v)
}

func (r *Repo) getPermission(c *Call) answer {
	if c.Who.Kind == "none" {
		return c.Forbidden()
	}
	if c.Who.Kind == "user" && level(r.permission(c.Who.User.Login)) < 2 {
		return fakehttp.Refusal(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	login := c.PathValue("username")
	u := r.Host.Find(login, 0)
	if u == nil {
		return fakehttp.Refusal(http.StatusNotFound, login+" is not a user")
	}
	role := r.permission(login)
	permission := role
	if as := map[string]string{"maintain": "write", "triage": "read"}[role]; as != "" {
		permission = as
	}
	v := u.JSON()
	v["role_name"] = role
	return fakehttp.OK(object{"permission": permission, "role_name": role, "user": v})
}

// branchForm is what the fake takes for a branch: stricter than git, so that an odd
// name of ours shows.
var branchForm = regexp.MustCompile(`^refs/heads/[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

func (r *Repo) createRef(c *Call) answer {
	var q struct{ Ref, SHA string }
	c.Read(&q)
	name, at := strings.TrimPrefix(q.Ref, "refs/heads/"), r.Objects.Commits[q.SHA]
	switch {
	case !branchForm.MatchString(q.Ref) || strings.Contains(name, ".."):
		return fakehttp.Unprocessable("Reference name is invalid")
	case at == nil:
		return fakehttp.Unprocessable("Object does not exist")
	case r.Tip(name) != nil:
		return fakehttp.Unprocessable("Reference already exists")
	case r.Tip(path.Dir(name)) != nil: // Git keeps no fix/x beside fix
		return fakehttp.Unprocessable("Reference update failed")
	}
	r.Move(name, at)
	return fakehttp.Created(object{"ref": q.Ref, "object": object{"type": "commit", "sha": at.SHA}})
}
