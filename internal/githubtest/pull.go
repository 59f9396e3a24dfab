package githubtest

import (
	"fmt"
	"slices"
	"time"
)

// Pull is a pull request.
type Pull struct {
	Number int

	repo     *Repo
	from     *Repo // nil where the fork was deleted
	options  PullOptions
	id       int64
	state    string
	merged   bool
	baseRef  string
	baseSHA  string
	head     *commit
	labels   []string
	events   []object // of the issue, oldest first
	reviews  []*Review
	remarks  []remark // of the conversation, oldest first
	raw      []File   // in place of what the commits say
	created  time.Time
	updated  time.Time
	ended    time.Time // closed or merged, counts where state is closed
	cacheKey string
	cached   []File
	pushed   int
}

// PullOptions of AddPull. Zero values make an open pull request by "author"
// that changes nothing.
type PullOptions struct {
	Number      int // the next one by default
	Title, Body string
	Author      string // author
	Draft       bool
	Base        string // the default branch
	Head        string // topic-<number>
	From        *Repo  // the fork that holds the head; the repository itself
	BaseFiles   Tree   // a new commit on the base branch, unless nil
	HeadFiles   Tree   // the head's commit; the base's files by default
}

// AddPull opens a pull request: BaseFiles becomes the base's tip, HeadFiles a
// commit on top of it.
func (r *Repo) AddPull(o PullOptions) *Pull {
	defer r.s.lock()()
	if o.Number == 0 {
		o.Number = len(r.pulls) + 1
	}
	if o.From == nil {
		o.From = r
	}
	o.Author = or(o.Author, "author")
	o.Base = or(o.Base, r.defaultBranch)
	o.Head = or(o.Head, fmt.Sprintf("topic-%d", o.Number))
	o.Title = or(o.Title, fmt.Sprintf("Change %d", o.Number))
	if o.BaseFiles != nil || r.branches[o.Base] == nil {
		r.commit(o.Base, "base of "+o.Title, r.Owner, o.BaseFiles)
	}
	base := r.branches[o.Base]
	head := base
	if o.HeadFiles != nil {
		head = o.From.newCommit([]*commit{base}, o.Title, o.Author, o.HeadFiles)
	}
	o.From.branches[o.Head] = head
	return r.open(o, head)
}

func (r *Repo) open(o PullOptions, head *commit) *Pull {
	r.s.user(o.Author)
	p := &Pull{
		Number: o.Number, repo: r, from: o.From, options: o, id: r.s.nextID(), state: "open", baseRef: o.Base,
		baseSHA: r.branches[o.Base].sha, head: head, created: r.s.now(), updated: r.s.now(), ended: r.s.now(),
	}
	r.pulls[o.Number] = p
	return p
}

// Pull finds a pull request by number; nil if there is none.
func (r *Repo) Pull(n int) *Pull {
	defer r.s.lock()()
	return r.pulls[n]
}

// HeadSHA is the head's hash.
func (p *Pull) HeadSHA() string {
	defer p.repo.s.lock()()
	return p.head.sha
}

// Tree is the head's content.
func (p *Pull) Tree() Tree {
	defer p.repo.s.lock()()
	return p.head.tree.With(nil)
}

// BaseSHA is the base's hash as the pull request records it.
func (p *Pull) BaseSHA() string {
	defer p.repo.s.lock()()
	return p.baseSHA
}

// Push moves the head to a new snapshot on top of the old one and answers its
// hash.
func (p *Pull) Push(files Tree) string {
	defer p.repo.s.lock()()
	p.move(p.repo.newCommit([]*commit{p.head}, fmt.Sprintf("push %d", p.pushed+1), p.options.Author, files))
	return p.head.sha
}

// ForcePush replaces the head by a new snapshot on top of the base.
func (p *Pull) ForcePush(files Tree) string {
	defer p.repo.s.lock()()
	p.move(p.repo.newCommit([]*commit{p.repo.objects.commits[p.baseSHA]}, "forced push", p.options.Author, files))
	p.event(p.options.Author, "head_ref_force_pushed", object{"commit_id": p.head.sha})
	return p.head.sha
}

// MergeBase merges the base's tip into the head: the head moves and the change
// stays the same.
func (p *Pull) MergeBase() string {
	defer p.repo.s.lock()()
	tip := p.repo.branches[p.baseRef]
	tree := tip.tree.With(nil)
	old := mergeBase(tip, p.head)
	for path, text := range p.head.tree {
		if before, had := old.tree[path]; !had || before != text {
			tree[path] = text
		}
	}
	for path := range old.tree {
		if _, still := p.head.tree[path]; !still {
			delete(tree, path)
		}
	}
	p.move(p.repo.newCommit([]*commit{p.head, tip}, "Merge branch "+p.baseRef, p.options.Author, tree))
	p.baseSHA = tip.sha
	return p.head.sha
}

func (p *Pull) move(c *commit) {
	p.head = c
	p.pushed++
	p.updated = p.repo.s.now()
	if p.from != nil {
		p.from.branches[p.options.Head] = c
	}
}

// Retarget points the pull request at another base branch.
func (p *Pull) Retarget(branch string) {
	defer p.repo.s.lock()()
	if tip := p.repo.branches[branch]; tip != nil {
		p.baseRef, p.baseSHA = branch, tip.sha
	}
}

// Close closes the pull request.
func (p *Pull) Close() { p.set(func() { p.finish(false) }) }

// Merge closes the pull request as merged.
func (p *Pull) Merge() { p.set(func() { p.finish(true) }) }

func (p *Pull) finish(merged bool) {
	p.state, p.merged = "closed", merged
	p.ended = p.repo.s.now()
	p.updated = p.ended
}

// DeleteFork takes the head's repository away: the API then says null.
func (p *Pull) DeleteFork() { p.set(func() { p.from = nil }) }

// SetFiles lists other files than the commits have, such as 3,000 of them or
// one whose patch is missing.
func (p *Pull) SetFiles(files []File) { p.set(func() { p.raw = slices.Clone(files) }) }

func (p *Pull) set(change func()) {
	defer p.repo.s.lock()()
	change()
}

// Files are the changed files as the API lists them.
func (p *Pull) Files() []File {
	defer p.repo.s.lock()()
	return slices.Clone(p.files())
}

func (p *Pull) files() []File {
	if p.raw != nil {
		return p.raw
	}
	return p.filesAt(p.head)
}

// filesAt compares a commit of the pull request with its merge base.
func (p *Pull) filesAt(head *commit) []File {
	if key := p.baseSHA + head.sha; key != p.cacheKey {
		base := mergeBase(p.repo.objects.commits[p.baseSHA], head)
		p.cached, p.cacheKey = changes(base.tree, head.tree, p.repo.s.options.PatchLines), key
	}
	return p.cached
}

func (p *Pull) commits() []*commit {
	return since(p.repo.objects.commits[p.baseSHA], p.head)
}

// Label sets a label as a user, now.
func (p *Pull) Label(login, name string) {
	p.set(func() {
		p.labels = append(p.labels, name)
		p.event(login, "labeled", object{"label": object{"name": name, "color": "ededed"}})
	})
}

func (p *Pull) event(login, kind string, more object) {
	s := p.repo.s
	p.updated = s.now()
	e := object{"id": s.nextID(), "event": kind, "actor": s.user(login).json(), "created_at": s.now(), "commit_id": nil,
		"commit_url": nil}
	for k, v := range more {
		e[k] = v
	}
	p.events = append(p.events, e)
}
