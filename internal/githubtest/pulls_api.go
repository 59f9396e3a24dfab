package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxFiles is how many files of a pull request the API lists in all,
// maxCommits how many commits.
const (
	maxFiles   = 3000
	maxCommits = 250
)

// ofPull finds the pull request that the path names.
func ofPull(handle func(*call, *Pull) answer) func(*call) answer {
	return func(c *call) answer {
		n := c.PathValue("pull_number")
		if n == "" {
			n = c.PathValue("issue_number")
		}
		p := c.repo.pulls[number(n)]
		if p == nil {
			return notFound()
		}
		return handle(c, p)
	}
}

func (p *Pull) webURL() string {
	return fmt.Sprintf("%s/%s/pull/%d", p.repo.s.WebURL, p.repo.FullName(), p.Number)
}

func (p *Pull) apiURL() string {
	return fmt.Sprintf("%s/repos/%s/pulls/%d", p.repo.s.URL, p.repo.FullName(), p.Number)
}

func (p *Pull) association() string {
	return p.repo.association(p.options.Author)
}

func (r *Repo) association(login string) string {
	switch {
	case login == r.Owner:
		return "OWNER"
	case level(r.permissions[login]) > 0:
		return "COLLABORATOR"
	}
	return "NONE"
}

// summary is a pull request as lists have it.
func (p *Pull) summary() object {
	s := p.repo.s
	v := object{
		"id": p.id, "number": p.Number, "state": p.state, "title": p.options.Title, "body": p.options.Body,
		"draft": p.options.Draft,
		"user":  s.author(p.options.Author), "author_association": p.association(), "created_at": stamp(p.created),
		"updated_at": stamp(p.updated),
		"closed_at":  nil, "merged_at": nil, "html_url": p.webURL(), "url": p.apiURL(),
		"labels": list(p.labels, label),
		"base":   p.end(p.repo, p.baseRef, p.baseSHA),
		"head":   p.end(p.from, p.options.Head, p.head.sha),
	}
	if p.state == "closed" {
		v["closed_at"] = stamp(p.ended)
	}
	if p.merged {
		v["merged_at"] = stamp(p.ended)
	}
	return v
}

// end is a pull request's base or head.
func (p *Pull) end(r *Repo, ref, sha string) object {
	if r == nil {
		return object{"label": "unknown:" + ref, "ref": ref, "sha": sha, "repo": nil, "user": nil}
	}
	return object{"label": r.Owner + ":" + ref, "ref": ref, "sha": sha, "repo": r.json(),
		"user": p.repo.s.user(r.Owner).json()}
}

func label(name string) object {
	return object{"id": len(name), "name": name, "color": "ededed"}
}

func getPull(_ *call, p *Pull) answer {
	return ok(p.json())
}

// json is a pull request on its own.
func (p *Pull) json() object {
	v := p.summary()
	if v["user"] == nil {
		v["user"] = p.repo.s.user("ghost").json() // here the description allows no null
	}
	files := p.files()
	additions, deletions := 0, 0
	for _, f := range files {
		additions += f.Additions
		deletions += f.Deletions
	}
	maps.Copy(v, object{
		"merged": p.merged, "merged_by": nil, "mergeable": p.state == "open", "mergeable_state": "clean",
		"commits":       len(p.commits()),
		"changed_files": len(files), "additions": additions, "deletions": deletions,
	})
	return v
}

// listPulls has the newest first where they are sorted by creation. Any other order
// ascends, unless a direction is asked for.
func listPulls(c *call) answer {
	q := c.URL.Query()
	var found []*Pull
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(c.repo.pulls))) {
		p := c.repo.pulls[n]
		state := or(q.Get("state"), "open")
		owner, ref, _ := strings.Cut(q.Get("head"), ":")
		if state != "all" && state != p.state || q.Get("base") != "" && q.Get("base") != p.baseRef {
			continue
		}
		if q.Get("head") != "" && (p.from == nil || p.from.Owner != owner || p.options.Head != ref) {
			continue
		}
		found = append(found, p)
	}
	created := or(q.Get("sort"), "created") == "created"
	if !created {
		slices.SortStableFunc(found, func(a, b *Pull) int { return b.updated.Compare(a.updated) })
	}
	if or(q.Get("direction"), map[bool]string{true: "desc", false: "asc"}[created]) != "desc" {
		slices.Reverse(found)
	}
	return paged(c, found, 0, (*Pull).summary)
}

func listFiles(c *call, p *Pull) answer {
	return paged(c, p.files(), maxFiles, File.json)
}

func (f File) json() object {
	v := object{
		"sha": f.SHA, "filename": f.Path, "status": f.Status, "additions": f.Additions, "deletions": f.Deletions,
		"changes": f.Additions + f.Deletions,
	}
	if f.SHA == "" {
		v["sha"] = nil
	}
	if f.Patch != "" {
		v["patch"] = f.Patch
	}
	if f.OldPath != "" {
		v["previous_filename"] = f.OldPath
	}
	return v
}

func listCommits(c *call, p *Pull) answer {
	return paged(c, p.commits(), maxCommits, c.repo.commitJSON)
}

func listEvents(c *call, p *Pull) answer {
	return paged(c, p.events, 0, func(e object) object { return maps.Clone(e) })
}
