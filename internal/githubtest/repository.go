package githubtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Tree is the whole content of a commit: text by path.
type Tree map[string]string

// With is the tree with other files on top; the empty path set is the same tree.
func (t Tree) With(files Tree) Tree {
	out := maps.Clone(t)
	maps.Copy(out, files)
	return out
}

// Without is the tree less some paths.
func (t Tree) Without(paths ...string) Tree {
	out := maps.Clone(t)
	for _, p := range paths {
		delete(out, p)
	}
	return out
}

// commit is a snapshot with its history.
type commit struct {
	sha     string
	parents []*commit
	tree    Tree
	modes   map[string]string // of files that are no ordinary ones
	message string
	author  string
	at      time.Time
}

// objects are shared by a repository and its forks, as on GitHub.
type objects struct {
	commits map[string]*commit
	blobs   map[string]string
	trees   map[string][]treeEntry // that were asked for
}

// Repo is a repository.
type Repo struct {
	ID          int64
	Owner, Name string

	s             *Server
	private       bool
	archived      bool     //
	noActions     bool     //
	noPulls       bool     // by a workflow
	plan          string   // of the owner
	labels        []string // that the repository knows
	defaultBranch string
	protected     map[string]bool
	permissions   map[string]string
	branches      map[string]*commit
	objects       *objects
	parent        *Repo
	pulls         map[int]*Pull
	environments  map[string]*environment
	runs          map[int64]*Run
	issues        map[int]*issue
	checks        map[string][]Check  // by commit
	statuses      map[string][]Status // by commit
}

// RepoOptions of AddRepo.
type RepoOptions struct {
	Private   bool     //
	Protected []string // branches
	ForkOf    *Repo    // shares its commits
	Files     Tree     // first commit of the default branch; a README by default
}

// AddRepo makes a repository, owner/name. Its owner is an admin of it.
func (s *Server) AddRepo(fullName string, o RepoOptions) *Repo {
	defer s.lock()()
	owner, name, _ := strings.Cut(fullName, "/")
	r := &Repo{
		ID: s.nextID(), Owner: owner, Name: name, s: s, private: o.Private, defaultBranch: "main",
		parent:    o.ForkOf,
		protected: map[string]bool{}, permissions: map[string]string{owner: "admin"}, branches: map[string]*commit{},
		objects: &objects{map[string]*commit{}, map[string]string{}, map[string][]treeEntry{}},
		pulls:   map[int]*Pull{}, environments: map[string]*environment{}, runs: map[int64]*Run{},
		issues: map[int]*issue{}, checks: map[string][]Check{}, statuses: map[string][]Status{},
	}
	s.user(owner)
	for _, b := range o.Protected {
		r.protected[b] = true
	}
	if o.ForkOf != nil {
		r.objects = o.ForkOf.objects
		r.branches[r.defaultBranch] = o.ForkOf.branches[o.ForkOf.defaultBranch]
	}
	if o.Files != nil || o.ForkOf == nil {
		files := o.Files
		if files == nil {
			files = Tree{"README.md": "# " + name + "\n"}
		}
		r.commit(r.defaultBranch, "first commit", owner, files)
	}
	s.repos[strings.ToLower(fullName)] = r
	return r
}

// Repo finds a repository by owner/name; nil if there is none.
func (s *Server) Repo(fullName string) *Repo {
	defer s.lock()()
	return s.repos[strings.ToLower(fullName)]
}

// FullName is owner/name.
func (r *Repo) FullName() string { return r.Owner + "/" + r.Name }

// Permit gives a user a role: admin, maintain, write, triage, read or none.
func (r *Repo) Permit(login, role string) {
	defer r.s.lock()()
	r.s.user(login)
	r.permissions[login] = role
}

func (r *Repo) permission(login string) string {
	if role := r.permissions[login]; role != "" && role != "none" {
		return role
	}
	if r.private {
		return "none"
	}
	return "read"
}

// Commit puts a new snapshot on a branch, made from the default branch where
// it does not exist, and answers its hash.
func (r *Repo) Commit(branch, message string, files Tree) string {
	defer r.s.lock()()
	return r.commit(branch, message, r.Owner, files).sha
}

// Head is the hash at a branch's tip; empty if there is no such branch.
func (r *Repo) Head(branch string) string {
	defer r.s.lock()()
	if c := r.branches[branch]; c != nil {
		return c.sha
	}
	return ""
}

// Tree is the content at a branch or commit; nil if there is no such.
func (r *Repo) Tree(ref string) Tree {
	defer r.s.lock()()
	if c := r.resolve(ref); c != nil {
		return c.tree.With(nil)
	}
	return nil
}

func (r *Repo) commit(branch, message, author string, files Tree) *commit {
	var parents []*commit
	if tip := r.branches[branch]; tip != nil {
		parents = append(parents, tip)
	} else if tip := r.branches[r.defaultBranch]; tip != nil {
		parents = append(parents, tip)
	}
	c := r.newCommit(parents, message, author, files)
	if len(parents) > 0 {
		c.modes = parents[0].modes
	}
	r.branches[branch] = c
	return c
}

func (r *Repo) newCommit(parents []*commit, message, author string, files Tree) *commit {
	c := &commit{parents: parents, tree: maps.Clone(files), modes: map[string]string{}, message: message,
		author: author, at: r.s.now()}
	h := sha1.New()
	fmt.Fprintln(h, len(r.objects.commits), message, author)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sha := blobSHA(files[path])
		r.objects.blobs[sha] = files[path]
		fmt.Fprintln(h, path, sha)
	}
	c.sha = hex.EncodeToString(h.Sum(nil))
	r.objects.commits[c.sha] = c
	return c
}

// blobSHA is git's hash of a file.
func blobSHA(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return hex.EncodeToString(sum[:])
}

var shaPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

// resolve reads a commit's hash, a branch, heads/x or refs/heads/x.
func (r *Repo) resolve(ref string) *commit {
	if ref == "" {
		return r.branches[r.defaultBranch]
	}
	if shaPattern.MatchString(ref) {
		return r.objects.commits[ref]
	}
	return r.branches[strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")]
}

// history is every ancestor of a commit, itself first, nearest before farther.
func (c *commit) history() []*commit {
	seen := map[*commit]bool{c: true}
	list := []*commit{c}
	for i := 0; i < len(list); i++ {
		for _, p := range list[i].parents {
			if !seen[p] {
				seen[p] = true
				list = append(list, p)
			}
		}
	}
	return list
}

// mergeBase is the nearest ancestor of b that is one of a; nil if none is.
func mergeBase(a, b *commit) *commit {
	of := a.history()
	for _, c := range b.history() {
		if slices.Contains(of, c) {
			return c
		}
	}
	return nil
}

// since lists what b has and a lacks, oldest first.
func since(a, b *commit) []*commit {
	of := a.history()
	list := slices.DeleteFunc(b.history(), func(c *commit) bool { return slices.Contains(of, c) })
	slices.Reverse(list)
	return list
}
