package site

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
)

func (r *Repo) getContents(c *Call) answer {
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

// folder lists what stands in a folder.
func folder(at *memgit.Commit, name string) answer {
	var entries []object
	seen := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(at.Tree)) {
		rest, inside := strings.CutPrefix("/"+p, strings.TrimSuffix("/"+name, "/")+"/")
		first, _, deeper := strings.Cut(rest, "/")
		if !inside || seen[first] {
			continue
		}
		seen[first] = true
		v := object{"type": "file", "size": len(at.Tree[p]), "name": first, "path": path.Join(name, first),
			"sha": memgit.BlobSHA(at.Tree[p])}
		if deeper {
			v["type"], v["size"] = "dir", 0
		}
		entries = append(entries, v)
	}
	if entries == nil {
		return fakehttp.NotFound()
	}
	return fakehttp.OK(entries[:min(len(entries), 1000)])
}

// archiveLife is how long the address of an archive holds.
const archiveLife = 5 * time.Minute

// getArchive redirects to the storage whatever the ref is, as GitHub does: of one
// that it does not know, the storage says so.
func (r *Repo) getArchive(c *Call) answer {
	ref := c.PathValue("ref")
	at := fmt.Sprintf("/archives/%s/%s.tar.gz", r.FullName(), ref)
	if k := r.Resolve(ref); k != nil {
		r.Host.Storage.Put(at, fakehttp.Blob{Kind: "application/x-gzip", Committed: true,
			Data: k.Archive(fmt.Sprintf("%s-%s-%s/", r.Owner, r.Name, k.SHA[:7]))})
	}
	return fakehttp.Redirect(r.Host.Storage.Sign(at, "r", archiveLife))
}

// getTree answers a tree of its hash, or the top one of a commit.
func (r *Repo) getTree(c *Call) answer {
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

// CommitJSON is a commit in an answer.
func (r *Repo) CommitJSON(k *memgit.Commit) object {
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

// FileJSON is a changed file in an answer.
func FileJSON(f memgit.File) object {
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

// maxCompared is how many files of a comparison are listed, on its first page alone.
const maxCompared = 300

// compare answers base...head: three dots, commits or branches. As a diff it has every
// line, however many changed.
func (r *Repo) compare(c *Call) answer {
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
		"base_commit": r.CommitJSON(base), "merge_base_commit": r.CommitJSON(common),
		"commits": fakehttp.List(commits, r.CommitJSON),
	}
	if fakehttp.Number(c.URL.Query().Get("page")) <= 1 {
		files := memgit.Changes(common.Tree, head.Tree, r.Host.PatchLines)
		v["files"] = fakehttp.List(files[:min(len(files), maxCompared)], FileJSON)
	}
	return fakehttp.OK(v).With(h)
}

func asDiff(files []memgit.File) answer {
	if len(files) > maxCompared {
		return fakehttp.Refusal(http.StatusNotAcceptable, "Sorry, the diff exceeded the maximum number of files (300). "+
			"Consider using 'List pull requests files' API or locally cloning the repository instead.",
			object{"resource": "Comparison", "field": "diff", "code": "too_large"})
	}
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f.Diff())
	}
	return answer{Status: http.StatusOK, Raw: []byte(b.String()), Kind: "application/vnd.github.v3.diff; charset=utf-8"}
}
