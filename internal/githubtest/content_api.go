package githubtest

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

func (r *Repo) json() object {
	return object{
		"id": r.ID, "name": r.Name, "full_name": r.FullName(), "private": r.private,
		"visibility": map[bool]string{true: "private", false: "public"}[r.private],
		"archived":   r.archived,
		"fork":       r.parent != nil, "owner": r.s.user(r.Owner).json(), "default_branch": r.defaultBranch,
		"html_url": r.s.WebURL + "/" + r.FullName(), "url": r.s.URL + "/repos/" + r.FullName(),
	}
}

func getUser(c *call) answer {
	switch c.who.kind {
	case "none":
		return refusal(http.StatusUnauthorized, "Requires authentication")
	case "app":
		return c.forbidden()
	}
	v := c.who.user.json()
	v["user_view_type"] = "public"
	return ok(v)
}

func getRepo(c *call) answer {
	v := c.repo.json()
	if c.repo.parent != nil {
		v["parent"] = c.repo.parent.json()
	}
	if c.who.kind == "user" {
		l := level(c.repo.permission(c.who.user.Login))
		v["permissions"] = object{"admin": l > 2, "push": l > 1, "pull": l > 0}
	}
	return ok(v)
}

func getBranch(c *call) answer {
	name := c.PathValue("branch")
	tip := c.repo.branches[name]
	if tip == nil {
		return refusal(http.StatusNotFound, "Branch not found")
	}
	protected := c.repo.protected[name]
	return ok(object{"name": name, "commit": c.repo.commitJSON(tip), "protected": protected,
		"protection": object{"enabled": protected}})
}

func getPermission(c *call) answer {
	if c.who.kind == "none" {
		return c.forbidden()
	}
	if c.who.kind == "user" && level(c.repo.permission(c.who.user.Login)) < 2 {
		return refusal(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	login := c.PathValue("username")
	u := c.s.users[login]
	if u == nil {
		return refusal(http.StatusNotFound, login+" is not a user")
	}
	role := c.repo.permission(login)
	permission := map[string]string{"maintain": "write", "triage": "read"}[role]
	v := u.json()
	v["role_name"] = role
	return ok(object{"permission": or(permission, role), "role_name": role, "user": v})
}

// rawMedia reports whether the client asked for the bytes alone.
func (c *call) rawMedia() bool {
	accept := c.Header.Get("Accept")
	return strings.Contains(accept, "github.raw") || strings.Contains(accept, "github.v3.raw")
}

func rawAnswer(text string) answer {
	return answer{status: http.StatusOK, raw: []byte(text), kind: "application/vnd.github.raw; charset=utf-8"}
}

func getContents(c *call) answer {
	at := c.repo.resolve(c.URL.Query().Get("ref"))
	if at == nil {
		return refusal(http.StatusNotFound, "No commit found for the ref "+c.URL.Query().Get("ref"))
	}
	name := strings.Trim(c.PathValue("path"), "/")
	text, found := at.tree[name]
	switch {
	case !found:
		return c.directory(at, name)
	case c.rawMedia():
		return rawAnswer(text)
	}
	return refusal(http.StatusNotAcceptable, "this server gives a file's bytes alone: ask for github.raw")
}

func contentJSON(name, text string) object {
	return object{"type": "file", "size": len(text), "name": path.Base(name), "path": name, "sha": blobSHA(text)}
}

func (c *call) directory(at *commit, name string) answer {
	var entries []object
	dirs := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(at.tree)) {
		rest, inside := strings.CutPrefix(p, name+"/")
		if name == "" {
			rest, inside = p, true
		}
		if !inside {
			continue
		}
		if first, _, deeper := strings.Cut(rest, "/"); !deeper {
			entries = append(entries, contentJSON(p, at.tree[p]))
		} else if !dirs[first] {
			dirs[first] = true
			v := contentJSON(path.Join(name, first), "")
			v["type"] = "dir"
			entries = append(entries, v)
		}
	}
	if entries == nil {
		return notFound()
	}
	return ok(entries[:min(len(entries), 1000)])
}

func (r *Repo) commitJSON(k *commit) object {
	who := object{"name": k.author, "email": k.author + "@users.noreply.github.com", "date": stamp(k.at)}
	return object{
		"sha": k.sha, "html_url": fmt.Sprintf("%s/%s/commit/%s", r.s.WebURL, r.FullName(), k.sha),
		"author": r.s.user(k.author).json(), "committer": r.s.user(k.author).json(),
		"commit": object{"message": k.message, "author": who, "committer": maps.Clone(who)},
		"parents": list(k.parents, func(p *commit) object {
			return object{"sha": p.sha}
		}),
	}
}

// compare answers base...head: three dots, commits or branches, 300 files
// on the first page alone. As a diff it has every line, however many changed.
func compare(c *call) answer {
	from, to, dots := strings.Cut(c.PathValue("basehead"), "...")
	base, head := c.repo.resolve(from), c.repo.resolve(to)
	if !dots || base == nil || head == nil {
		return notFound()
	}
	common := mergeBase(base, head)
	if common == nil {
		return refusal(http.StatusNotFound, fmt.Sprintf("No common ancestor between %s and %s.", from, to))
	}
	if strings.Contains(c.Header.Get("Accept"), "diff") {
		files := changes(common.tree, head.tree, math.MaxInt)
		if len(files) > 300 {
			return refusal(http.StatusNotAcceptable, "Sorry, the diff exceeded the maximum number of files (300). "+
				"Consider using 'List pull requests files' API or locally cloning the repository instead.",
				object{"resource": "Comparison", "field": "diff", "code": "too_large"})
		}
		var b strings.Builder
		for _, f := range files {
			f.write(&b)
		}
		return answer{status: http.StatusOK, raw: []byte(b.String()),
			kind: "application/vnd.github.v3.diff; charset=utf-8"}
	}
	ahead, behind := since(base, head), since(head, base)
	status := "diverged"
	switch {
	case len(ahead) == 0 && len(behind) == 0:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead) == 0:
		status = "behind"
	}
	commits, h := page(c, ahead, 0)
	v := object{
		"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead),
		"base_commit": c.repo.commitJSON(base), "merge_base_commit": c.repo.commitJSON(common),
		"commits": list(commits, c.repo.commitJSON),
	}
	if number(c.URL.Query().Get("page")) <= 1 {
		files := changes(common.tree, head.tree, c.s.options.PatchLines)
		v["files"] = list(files[:min(len(files), 300)], File.json)
	}
	return ok(v).with(h)
}
