package githubtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
)

type change struct {
	*issue

	from     *Repo  // of the head; nil where the fork was deleted
	branch   string // of the head
	head     *memgit.Commit
	base     string // branch
	baseSHA  string // as the pull request records it
	draft    bool
	merged   bool
	ended    time.Time     // closed or merged, counts where state is closed
	raw      []memgit.File // in place of what the commits say
	cacheKey string
	cached   []memgit.File
	pushed   int
}

// Head is the name of the branch that a pull request is of.
func (p *change) Head() string { return p.branch }

// IsDraft reports whether the pull request is a draft.
func (p *change) IsDraft() bool { return p.draft }

// HeadSHA is the head's hash.
func (p *change) HeadSHA() string {
	return fakehttp.Get(p.repo.Host, func() string { return p.head.SHA })
}

// Tree is the head's content.
func (p *change) Tree() Tree {
	return fakehttp.Get(p.repo.Host, func() Tree { return p.head.Tree.With(nil) })
}

// BaseSHA is the base's hash as the pull request records it.
func (p *change) BaseSHA() string {
	return fakehttp.Get(p.repo.Host, func() string { return p.baseSHA })
}

// Push moves the head to a new snapshot on top of the old one and answers its hash.
func (p *change) Push(files Tree) string {
	defer p.repo.Host.Lock()()
	return p.move(p.commit(files, fmt.Sprintf("push %d", p.pushed+1), p.head))
}

// ForcePush replaces the head by a new snapshot on top of the base.
func (p *change) ForcePush(files Tree) string {
	defer p.repo.Host.Lock()()
	sha := p.move(p.commit(files, "forced push", p.repo.Objects.Commits[p.baseSHA]))
	p.event(p.author, "head_ref_force_pushed", object{"commit_id": sha})
	return sha
}

// MergeBase merges the base's tip into the head: the head moves and the change stays the same.
func (p *change) MergeBase() string {
	defer p.repo.Host.Lock()()
	tip := p.repo.Tip(p.base)
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
		p.from.Move(p.branch, c)
	}
	return c.SHA
}

// Retarget points the pull request at another base branch.
func (p *change) Retarget(branch string) {
	p.set(func() { p.base, p.baseSHA = branch, p.repo.Tip(branch).SHA })
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

// DeleteFork takes the head's repository away: the API then says null.
func (p *change) DeleteFork() { p.set(func() { p.from = nil }) }

// SetFiles lists other files than the commits have, such as 3,000 of them or one whose patch is missing.
func (p *change) SetFiles(files []File) { p.set(func() { p.raw = slices.Clone(files) }) }

// Files are the changed files as the API lists them.
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
