package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
)

// Pull is a pull request: its text and conversation as an issue, its change, and its reviews.
type Pull struct {
	reviews
	id int64
}

// PullOptions configures AddPull. Zero values make an open pull request by "author" that changes nothing.
type PullOptions struct {
	Number      int // by default the next one
	Title, Body string
	Author      string // by default "author"
	Draft       bool
	Base        string // by default the default branch
	Head        string // by default topic-<number>
	From        *Repo  // the fork with the head; by default the repository itself
	BaseFiles   Tree   // a new commit on the base branch, unless nil
	HeadFiles   Tree   // the head's commit; by default the base's files
}

type pulls struct {
	issues
	of map[int]*Pull
}

// AddPull opens a pull request: BaseFiles becomes the base's tip, HeadFiles a commit on top of it.
func (r *pulls) AddPull(o PullOptions) *Pull {
	defer r.repo.Host.Lock()()
	o.From, o.Base = cmp.Or(o.From, r.repo), cmp.Or(o.Base, defaultBranch)
	p := r.open(o)
	if o.BaseFiles != nil || r.repo.branches[p.base] == nil {
		r.repo.Put(p.base, memgit.Commit{Message: "base of " + p.title, Tree: o.BaseFiles})
	}
	p.head = r.repo.branches[p.base]
	p.baseSHA = p.head.SHA
	if o.HeadFiles != nil {
		p.head = p.commit(o.HeadFiles, p.title, p.head)
	}
	p.from.branches[p.branch] = p.head
	return p
}

func (r *pulls) open(o PullOptions) *Pull {
	i := r.issues.open(o.Number, cmp.Or(o.Author, "author"), o.Title, o.Body)
	i.page, i.isPull = r.repo.Page("/pull/%d", i.Number), true
	i.title = cmp.Or(i.title, fmt.Sprintf("Change %d", i.Number))
	c := &change{issue: i, from: o.From, branch: cmp.Or(o.Head, fmt.Sprintf("topic-%d", i.Number)), base: o.Base,
		draft: o.Draft}
	r.of[i.Number] = &Pull{reviews{change: c}, r.repo.Host.NextID()}
	return r.of[i.Number]
}

// Pull returns a pull request by number; nil if there is none.
func (r *pulls) Pull(n int) *Pull { return fakehttp.Get(r.repo.Host, func() *Pull { return r.of[n] }) }

// Pulls returns all pull requests, by number.
func (r *pulls) Pulls() []*Pull {
	return fakehttp.Get(r.repo.Host, func() []*Pull { return r.sorted() })
}

func (r *pulls) sorted() (all []*Pull) {
	for _, n := range slices.Sorted(maps.Keys(r.of)) {
		all = append(all, r.of[n])
	}
	return all
}

// followPush moves the heads of the pull requests from a branch that a client moved.
func (r *pulls) followPush(branch string, to *memgit.Commit) {
	for _, p := range r.of {
		if p.from == r.repo && p.branch == branch && p.state == "open" {
			p.move(to)
		}
	}
}

func pullsRoutes() []route[pulls] {
	return []route[pulls]{
		{"GET", repoPath + "/pulls", []string{"pull_requests:read"}, (*pulls).list},
		{"POST", repoPath + "/pulls", []string{"pull_requests:write"}, (*pulls).create},
	}
}

func pullRoutes() []route[Pull] {
	const pull = repoPath + "/pulls/{pull_number}"
	const reviewing, review = pull + "/reviews", pull + "/reviews/{review_id}"
	read, write := []string{"pull_requests:read"}, []string{"pull_requests:write"}
	return []route[Pull]{
		{"GET", pull, read, (*Pull).get},
		{"GET", pull + "/files", read, (*Pull).listFiles},
		{"GET", pull + "/commits", read, (*Pull).listCommits},
		{"GET", pull + "/comments", read, (*Pull).listComments},
		{"GET", reviewing, read, (*Pull).list},
		{"POST", reviewing, write, (*Pull).create},
		{"DELETE", review, write, ofReview((*Pull).remove)},
		{"POST", review + "/events", write, ofReview((*Pull).submit)},
		{"GET", review + "/comments", read, ofReview((*Pull).listCommentsOf)},
	}
}

func (p *Pull) summary() object {
	v := p.issue.json()
	delete(v, "pull_request")
	maps.Copy(v, object{
		"id": p.id, "body": p.body, "draft": p.draft, "merged_at": nil,
		"url": p.repo.Address("/pulls/%d", p.Number), "labels": fakehttp.List(p.labels, labelJSON),
		"base": p.end(p.repo, p.base, p.baseSHA), "head": p.end(p.from, p.branch, p.head.SHA),
	})
	if p.merged {
		v["merged_at"] = fakehttp.Stamp(p.ended)
	}
	return v
}

func (p *Pull) end(r *Repo, ref, sha string) object {
	if r == nil {
		return object{"label": "unknown:" + ref, "ref": ref, "sha": sha, "repo": nil, "user": nil}
	}
	return object{"label": r.Owner + ":" + ref, "ref": ref, "sha": sha, "repo": r.JSON(),
		"user": r.Host.User(r.Owner).JSON()}
}

func (p *Pull) get(*call) answer { return fakehttp.OK(p.json()) }

func (p *Pull) json() object {
	v := p.summary()
	if v["user"] == nil {
		v["user"] = p.repo.Host.User("ghost").JSON() // here the description allows no null
	}
	files := p.files()
	additions, deletions := 0, 0
	for _, f := range files {
		additions += f.Additions
		deletions += f.Deletions
	}
	maps.Copy(v, object{
		"merged": p.merged, "commits": len(p.commits()), "changed_files": len(files), "additions": additions,
		"deletions": deletions,
	})
	return v
}

// maxFiles bounds the files of a pull request that the API lists in all, maxCommits the commits.
const (
	maxFiles   = 3000
	maxCommits = 250
)

// maxPatched bounds the lines of the patches on one page of files: GitHub lists what follows there with neither patch
// nor counts.
const maxPatched = 20_000

func (p *Pull) listFiles(c *call) answer {
	files := p.files()
	page, h := fakehttp.Page(c.Request, files[:min(len(files), maxFiles)])
	lines := 0
	return fakehttp.OK(fakehttp.List(page, func(f File) object {
		if lines >= maxPatched {
			f.Patch, f.Additions, f.Deletions = "", 0, 0
		}
		lines += strings.Count(f.Patch, "\n")
		return fileJSON(f)
	})).With(h)
}

func (p *Pull) listCommits(c *call) answer {
	commits := p.commits()
	return fakehttp.Paged(c.Request, commits[:min(len(commits), maxCommits)], p.repo.commitJSON)
}

// list returns the newest first if sorted by creation; another order ascends, unless a direction is given.
func (r *pulls) list(c *call) answer {
	q := c.URL.Query()
	state, byCreation := cmp.Or(q.Get("state"), "open"), cmp.Or(q.Get("sort"), "created") == "created"
	found := slices.DeleteFunc(r.sorted(), func(p *Pull) bool {
		owner, ref, _ := strings.Cut(q.Get("head"), ":")
		return state != "all" && state != p.state || q.Get("base") != "" && q.Get("base") != p.base ||
			q.Get("head") != "" && (p.from == nil || p.from.Owner != owner || p.branch != ref)
	})
	if !byCreation {
		slices.SortStableFunc(found, func(a, b *Pull) int { return a.updated.Compare(b.updated) })
	}
	if q.Get("direction") == "desc" || q.Get("direction") == "" && byCreation {
		slices.Reverse(found)
	}
	return fakehttp.Paged(c.Request, found, (*Pull).summary)
}

func (r *pulls) create(c *call) answer {
	var q struct {
		Title, Head, Base, Body string
		Draft                   bool
	}
	c.Read(&q)
	custom := func(message string) answer {
		return fakehttp.Unprocessable("Validation Failed",
			object{"resource": "PullRequest", "code": "custom", "message": message})
	}
	base, head, set := r.repo.branches[q.Base], r.repo.branches[q.Head], r.repo.set
	switch {
	case c.Who.Kind == "app" && set.NoPulls:
		return fakehttp.Refusal(http.StatusForbidden,
			"GitHub Actions is not permitted to create or approve pull requests.")
	case q.Draft && set.Private && set.Plan == "free":
		return fakehttp.Unprocessable("Draft pull requests are not supported in this repository.")
	case base == nil || head == nil:
		return fakehttp.Unprocessable("Validation Failed",
			object{"resource": "PullRequest", "field": "base or head", "code": "invalid"})
	case len(memgit.Since(base, head)) == 0:
		return custom("No commits between " + q.Base + " and " + q.Head)
	case len(q.Body) > maxBody:
		return custom("body is too long (maximum is 65536 characters)")
	}
	for _, p := range r.of {
		if p.state == "open" && p.from == r.repo && p.branch == q.Head && p.base == q.Base {
			return custom("A pull request already exists for " + r.repo.Owner + ":" + q.Head + ".")
		}
	}
	p := r.open(PullOptions{Title: q.Title, Body: q.Body, Author: c.Who.User.Login, Draft: q.Draft, Base: q.Base,
		Head: q.Head, From: r.repo})
	p.head, p.baseSHA = head, base.SHA
	return fakehttp.Created(p.json())
}

type change struct {
	*issue

	from     *Repo  // of the head; nil if the fork was deleted
	branch   string // of the head
	head     *memgit.Commit
	base     string // branch
	baseSHA  string // as recorded by the pull request
	draft    bool
	merged   bool
	ended    time.Time     // when it was closed or merged; valid if state is closed
	raw      []memgit.File // in place of the commits' files
	cacheKey string
	cached   []memgit.File
	pushed   int
}

// Head returns the name of the pull request's branch.
func (p *change) Head() string { return p.branch }

// IsDraft reports whether the pull request is a draft.
func (p *change) IsDraft() bool { return p.draft }

// HeadSHA returns the head's hash.
func (p *change) HeadSHA() string {
	return fakehttp.Get(p.repo.Host, func() string { return p.head.SHA })
}

// Tree returns the head's content.
func (p *change) Tree() Tree {
	return fakehttp.Get(p.repo.Host, func() Tree { return p.head.Tree.With(nil) })
}

// BaseSHA returns the base's hash as recorded by the pull request.
func (p *change) BaseSHA() string {
	return fakehttp.Get(p.repo.Host, func() string { return p.baseSHA })
}

// Push moves the head to a new snapshot on top of the old one and returns its hash.
func (p *change) Push(files Tree) string {
	defer p.repo.Host.Lock()()
	return p.move(p.commit(files, fmt.Sprintf("push %d", p.pushed+1), p.head))
}

// ForcePush replaces the head by a new snapshot on top of the base and returns its hash.
func (p *change) ForcePush(files Tree) string {
	defer p.repo.Host.Lock()()
	sha := p.move(p.commit(files, "forced push", p.repo.Objects.Commits[p.baseSHA]))
	p.event(p.author, "head_ref_force_pushed", object{"commit_id": sha})
	return sha
}

// MergeBase merges the base's tip into the head: the head moves and the change stays the same.
func (p *change) MergeBase() string {
	defer p.repo.Host.Lock()()
	tip := p.repo.branches[p.base]
	p.baseSHA = tip.SHA
	return p.move(p.commit(memgit.Merge(tip, p.head), "Merge branch "+p.base, p.head, tip))
}

func (p *change) commit(files Tree, message string, parents ...*memgit.Commit) *memgit.Commit {
	return p.repo.Objects.Add(memgit.Commit{Parents: parents, Message: message, Author: p.author, Tree: files,
		At: p.repo.Host.Now()})
}

func (p *change) move(c *memgit.Commit) (sha string) {
	p.head = c
	p.pushed++
	p.updated = p.repo.Host.Now()
	if p.from != nil {
		p.from.branches[p.branch] = c
	}
	return c.SHA
}

// Retarget points the pull request at another base branch.
func (p *change) Retarget(branch string) {
	p.set(func() { p.base, p.baseSHA = branch, p.repo.branches[branch].SHA })
}

// Close closes the pull request.
func (p *change) Close() { p.set(func() { p.finish(false) }) }

// Merge closes the pull request as merged.
func (p *change) Merge() { p.set(func() { p.finish(true) }) }

func (p *change) finish(merged bool) {
	p.state, p.merged = "closed", merged
	p.ended = p.repo.Host.Now()
	p.updated = p.ended
}

// DeleteFork deletes the head's repository: the API then returns null.
func (p *change) DeleteFork() { p.set(func() { p.from = nil }) }

// SetFiles replaces the listed files, such as by 3,000 of them or one without a patch.
func (p *change) SetFiles(files []File) { p.set(func() { p.raw = slices.Clone(files) }) }

// Files returns the changed files as the API lists them.
func (p *change) Files() []File {
	return fakehttp.Get(p.repo.Host, func() []File { return slices.Clone(p.files()) })
}

func (p *change) files() []File {
	if p.raw != nil {
		return p.raw
	}
	return p.filesAt(p.head)
}

// filesAt compares a commit of the pull request with its merge base.
func (p *change) filesAt(head *memgit.Commit) []File {
	if key := p.baseSHA + head.SHA; key != p.cacheKey {
		base := memgit.MergeBase(p.repo.Objects.Commits[p.baseSHA], head)
		p.cached, p.cacheKey = memgit.Changes(base.Tree, head.Tree, p.repo.Host.PatchLines), key
	}
	return p.cached
}

func (p *change) commits() []*memgit.Commit {
	return memgit.Since(p.repo.Objects.Commits[p.baseSHA], p.head)
}
