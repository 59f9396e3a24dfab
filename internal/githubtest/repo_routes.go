package githubtest

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
)

func repoRoutes() []route[Repo] {
	contents, write := []string{"contents:read"}, []string{"contents:write"}
	return []route[Repo]{
		{"GET", repoPath, nil, (*Repo).get},
		{"GET", repoPath + "/labels/{name}", nil, (*Repo).getLabel},
		{"POST", repoPath + "/labels", []string{"issues:write", "pull_requests:write"}, (*Repo).addLabel},
		{"GET", repoPath + "/collaborators/{username}/permission", []string{"metadata:read"}, (*Repo).getPermission},
		{"GET", repoPath + "/branches/{branch}", contents, (*Repo).getBranch},
		{"GET", repoPath + "/contents/{path}", contents, (*Repo).getContents},
		{"GET", repoPath + "/tarball/{ref}", contents, (*Repo).getArchive},
		{"GET", repoPath + "/git/trees/{tree_sha}", contents, (*Repo).getTree},
		{"POST", repoPath + "/git/refs", write, (*Repo).createRef},
		{"GET", repoPath + "/compare/{basehead}", contents, (*Repo).compare},
	}
}

func (r *Repo) getBranch(c *call) answer {
	name := c.PathValue("branch")
	tip := r.branches[name]
	if tip == nil {
		return fakehttp.Refusal(http.StatusNotFound, "Branch not found")
	}
	protected := slices.Contains(r.protected, name)
	return fakehttp.OK(object{"name": name, "commit": r.commitJSON(tip), "protected": protected,
		"protection": object{"enabled": protected}})
}

func (r *Repo) getLabel(c *call) answer {
	if name := c.PathValue("name"); slices.Contains(r.labels, name) {
		return fakehttp.OK(labelJSON(name))
	}
	return fakehttp.NotFound()
}

func (r *Repo) addLabel(c *call) answer {
	var in struct{ Name string }
	if c.Read(&in); slices.Contains(r.labels, in.Name) {
		return fakehttp.Unprocessable("Validation Failed",
			object{"resource": "Label", "code": "already_exists", "field": "name"})
	}
	r.labels = append(r.labels, in.Name)
	return fakehttp.Created(labelJSON(in.Name))
}

func (r *Repo) get(c *call) answer {
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

func (r *Repo) getPermission(c *call) answer {
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

// branchForm matches a valid branch name: stricter than git, so that an odd name of ours shows.
var branchForm = regexp.MustCompile(`^refs/heads/[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

func (r *Repo) createRef(c *call) answer {
	var q struct{ Ref, SHA string }
	c.Read(&q)
	name, at := strings.TrimPrefix(q.Ref, "refs/heads/"), r.Objects.Commits[q.SHA]
	switch {
	case !branchForm.MatchString(q.Ref) || strings.Contains(name, ".."):
		return fakehttp.Unprocessable("Reference name is invalid")
	case at == nil:
		return fakehttp.Unprocessable("Object does not exist")
	case r.branches[name] != nil:
		return fakehttp.Unprocessable("Reference already exists")
	case r.branches[path.Dir(name)] != nil: // Git allows no fix/x next to fix
		return fakehttp.Unprocessable("Reference update failed")
	}
	r.branches[name] = at
	return fakehttp.Created(object{"ref": q.Ref, "object": object{"type": "commit", "sha": at.SHA}})
}

func (r *Repo) getContents(c *call) answer {
	at := r.Resolve(c.URL.Query().Get("ref"))
	if at == nil {
		return fakehttp.Refusal(http.StatusNotFound, "No commit found for the ref "+c.URL.Query().Get("ref"))
	}
	name := strings.Trim(c.PathValue("path"), "/")
	text, found := at.Tree[name]
	switch accept := c.Header.Get("Accept"); {
	case !found:
		return folder(at, name)
	case strings.Contains(accept, "github.raw") || strings.Contains(accept, "github.v3.raw"):
		return answer{Status: http.StatusOK, Raw: []byte(text), Kind: "application/vnd.github.raw; charset=utf-8"}
	}
	return fakehttp.Refusal(http.StatusNotAcceptable, "this server gives a file's bytes alone: ask for github.raw")
}

func folder(at *memgit.Commit, name string) answer {
	found, err := fs.ReadDir(at.Tree.FS(), cmp.Or(name, "."))
	if err != nil {
		return fakehttp.NotFound()
	}
	return fakehttp.OK(fakehttp.List(found[:min(len(found), 1000)], func(e fs.DirEntry) object {
		v := object{"type": "dir", "size": 0, "name": e.Name(), "path": path.Join(name, e.Name())}
		if !e.IsDir() {
			text := at.Tree[path.Join(name, e.Name())]
			v["type"], v["size"], v["sha"] = "file", len(text), memgit.BlobSHA(text)
		}
		return v
	}))
}

const archiveLife = 5 * time.Minute

// getArchive redirects to the storage for any ref; the storage refuses an unknown one.
func (r *Repo) getArchive(c *call) answer {
	ref := c.PathValue("ref")
	at := fmt.Sprintf("/archives/%s/%s.tar.gz", r.FullName(), ref)
	if k := r.Resolve(ref); k != nil {
		r.Host.Storage.Put(at, fakehttp.Blob{Kind: "application/x-gzip", Committed: true,
			Data: k.Archive(fmt.Sprintf("%s-%s-%s/", r.Owner, r.Name, k.SHA[:7]))})
	}
	return fakehttp.Redirect(r.Host.Storage.Sign(at, "r", archiveLife))
}

func (r *Repo) getTree(c *call) answer {
	sha := c.PathValue("tree_sha")
	if at := r.Resolve(sha); at != nil {
		sha = at.SHA
	}
	sha, entries := r.Objects.Entries(sha, c.URL.Query().Get("recursive") != "")
	if sha == "" {
		return fakehttp.NotFound()
	}
	return fakehttp.OK(object{"sha": sha, "tree": fakehttp.List(entries, func(e memgit.Entry) object {
		return object{"path": e.Name, "mode": fmt.Sprintf("%06s", e.Mode), "type": e.Kind, "sha": e.SHA}
	})})
}

func (r *Repo) commitJSON(k *memgit.Commit) object {
	who := object{"name": k.Author, "email": k.Author + "@users.noreply.github.com", "date": fakehttp.Stamp(k.At)}
	return object{
		"sha": k.SHA, "html_url": r.Page("/commit/%s", k.SHA),
		"author": r.Host.User(k.Author).JSON(), "committer": r.Host.User(k.Author).JSON(),
		"commit": object{"message": k.Message, "author": who, "committer": maps.Clone(who)},
		"parents": fakehttp.List(k.Parents, func(p *memgit.Commit) object {
			return object{"sha": p.SHA}
		}),
	}
}

func fileJSON(f memgit.File) object {
	v := object{
		"sha": fakehttp.Null(f.SHA), "filename": f.Path, "status": f.Status, "additions": f.Additions,
		"deletions": f.Deletions, "changes": f.Additions + f.Deletions,
	}
	if f.Patch != "" {
		v["patch"] = f.Patch
	}
	if f.OldPath != "" {
		v["previous_filename"] = f.OldPath
	}
	return v
}

// maxCompared bounds the files of a comparison, which are only on its first page.
const maxCompared = 300

// compare answers base...head: three dots, commits or branches. A diff has every line, however many changed.
func (r *Repo) compare(c *call) answer {
	from, to, dots := strings.Cut(c.PathValue("basehead"), "...")
	base, head := r.Resolve(from), r.Resolve(to)
	if !dots || base == nil || head == nil {
		return fakehttp.NotFound()
	}
	common := memgit.MergeBase(base, head)
	if common == nil {
		return fakehttp.Refusal(http.StatusNotFound, fmt.Sprintf("No common ancestor between %s and %s.", from, to))
	}
	if strings.Contains(c.Header.Get("Accept"), "diff") {
		return asDiff(memgit.Changes(common.Tree, head.Tree, math.MaxInt))
	}
	ahead, behind := memgit.Since(base, head), memgit.Since(head, base)
	status := map[[2]bool]string{{false, false}: "identical", {true, false}: "ahead", {false, true}: "behind",
		{true, true}: "diverged"}[[2]bool{len(ahead) > 0, len(behind) > 0}]
	commits, h := fakehttp.Page(c.Request, ahead)
	v := object{
		"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead),
		"base_commit": r.commitJSON(base), "merge_base_commit": r.commitJSON(common),
		"commits": fakehttp.List(commits, r.commitJSON),
	}
	if fakehttp.Number(c.URL.Query().Get("page")) <= 1 {
		files := memgit.Changes(common.Tree, head.Tree, r.Host.PatchLines)
		v["files"] = fakehttp.List(files[:min(len(files), maxCompared)], fileJSON)
	}
	return fakehttp.OK(v).With(h)
}

func asDiff(files []memgit.File) answer {
	if len(files) > maxCompared {
		return fakehttp.Refusal(http.StatusNotAcceptable,
			"Sorry, the diff exceeded the maximum number of files (300). "+
				"Consider using 'List pull requests files' API or locally cloning the repository instead.",
			object{"resource": "Comparison", "field": "diff", "code": "too_large"})
	}
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f.Diff())
	}
	return answer{Status: http.StatusOK, Raw: []byte(b.String()), Kind: "application/vnd.github.v3.diff; charset=utf-8"}
}
