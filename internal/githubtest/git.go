package githubtest

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
)

// plainMode is git's mode of an ordinary file, which every commit made by GraphQL gives.
const plainMode = "100644"

// Chmod puts a commit on a branch that gives a file another of git's modes, such as
// 100755.
func (r *Repo) Chmod(branch, path, mode string) string {
	defer r.s.lock()()
	c := r.commit(branch, "chmod "+path, r.Owner, r.branches[branch].tree)
	c.modes = maps.Clone(c.modes)
	c.modes[path] = mode
	return c.sha
}

// CommitModes is Commit of files some of which have another mode than an ordinary one.
func (r *Repo) CommitModes(branch, message string, files Tree, modes map[string]string) string {
	defer r.s.lock()()
	c := r.commit(branch, message, r.Owner, files)
	c.modes = modes
	return c.sha
}

// CommitAs is Commit under a hash of the caller's, such as that of a clone's commit.
func (r *Repo) CommitAs(sha, branch, message string, files Tree) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	c := r.commit(branch, message, r.Owner, files)
	delete(r.objects.commits, c.sha)
	c.sha, r.objects.commits[sha] = sha, c
}

// DeleteBranch deletes a branch.
func (r *Repo) DeleteBranch(name string) {
	defer r.s.lock()()
	delete(r.branches, name)
}

// Mode is git's mode of a file at a branch or commit; empty if it is not there.
func (r *Repo) Mode(ref, path string) string {
	defer r.s.lock()()
	c := r.resolve(ref)
	if _, there := c.tree[path]; !there {
		return ""
	}
	return c.mode(path)
}

func (c *commit) mode(path string) string {
	if strings.HasPrefix(c.tree[path], linkTo) {
		return "120000"
	}
	return or(c.modes[path], plainMode)
}

// Branches are the names of all branches, sorted.
func (r *Repo) Branches() []string {
	defer r.s.lock()()
	return slices.Sorted(maps.Keys(r.branches))
}

// Message is the message of the commit at a branch or hash.
func (r *Repo) Message(ref string) string {
	defer r.s.lock()()
	return r.resolve(ref).message
}

// AllowPulls says whether the repository's setting lets its workflows open pull
// requests. New ones on GitHub do not; here they do.
func (r *Repo) AllowPulls(allowed bool) {
	defer r.s.lock()()
	r.noPulls = !allowed
}

// entry of a tree as git has it.
type treeEntry struct{ mode, kind, name, sha string }

// plant makes the tree objects of a folder of a commit, and gives its hash.
func (r *Repo) plant(c *commit, folder string) string {
	found := map[string]treeEntry{}
	for path, text := range c.tree {
		rest, inside := strings.CutPrefix(path, folder)
		if !inside {
			continue
		}
		if name, _, deeper := strings.Cut(rest, "/"); !deeper {
			found[name] = treeEntry{c.mode(path), "blob", name, blobSHA(strings.TrimPrefix(text, linkTo))}
		} else if found[name].sha == "" {
			found[name] = treeEntry{"40000", "tree", name, r.plant(c, folder+name+"/")}
		}
	}
	// git sorts folders as though their names ended in a slash
	key := func(e treeEntry) string { return e.name + map[string]string{"tree": "/"}[e.kind] }
	entries := slices.SortedFunc(maps.Values(found), func(a, b treeEntry) int {
		return strings.Compare(key(a), key(b))
	})
	var body bytes.Buffer
	for _, e := range entries {
		raw, _ := hex.DecodeString(e.sha) // our own digits
		fmt.Fprintf(&body, "%s %s\x00%s", e.mode, e.name, raw)
	}
	sum := sha1.Sum(fmt.Appendf(nil, "tree %d\x00%s", body.Len(), body.Bytes()))
	sha := hex.EncodeToString(sum[:])
	r.objects.trees[sha] = entries
	return sha
}

// getTree answers a tree of its hash, or the top one of a commit.
func getTree(c *call) answer {
	sha := c.PathValue("tree_sha")
	if at := c.repo.resolve(sha); at != nil {
		sha = c.repo.plant(at, "")
	}
	entries, found := c.repo.objects.trees[sha]
	if !found {
		return notFound()
	}
	if c.URL.Query().Get("recursive") != "" {
		entries = c.repo.deep(sha, "")
	}
	return ok(object{"sha": sha, "tree": list(entries, func(e treeEntry) object {
		return object{"path": e.name, "mode": fmt.Sprintf("%06s", e.mode), "type": e.kind, "sha": e.sha}
	})})
}

// deep are the entries of a tree and all below it, by their whole paths.
func (r *Repo) deep(sha, folder string) (all []treeEntry) {
	for _, e := range r.objects.trees[sha] {
		e.name = folder + e.name
		if all = append(all, e); e.kind == "tree" {
			all = append(all, r.deep(e.sha, e.name+"/")...)
		}
	}
	return all
}

// branchForm is what the fake takes for a branch: stricter than git, so that an odd
// name of ours shows.
var branchForm = regexp.MustCompile(`^refs/heads/[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

func createRef(c *call) answer {
	var q struct{ Ref, SHA string }
	c.read(&q)
	name, at := strings.TrimPrefix(q.Ref, "refs/heads/"), c.repo.objects.commits[q.SHA]
	switch {
	case !branchForm.MatchString(q.Ref) || strings.Contains(name, ".."):
		return refusal(http.StatusUnprocessableEntity, "Reference name is invalid")
	case at == nil:
		return refusal(http.StatusUnprocessableEntity, "Object does not exist")
	case c.repo.branches[name] != nil:
		return refusal(http.StatusUnprocessableEntity, "Reference already exists")
	case c.repo.branches[path.Dir(name)] != nil: // Git keeps no fix/x beside fix
		return refusal(http.StatusUnprocessableEntity, "Reference update failed")
	}
	c.repo.branches[name] = at
	return answer{status: http.StatusCreated, value: object{"ref": q.Ref,
		"object": object{"type": "commit", "sha": at.sha}}}
}

// commitInput is CreateCommitOnBranchInput, as GitHub's schema has it.
type commitInput struct {
	Branch struct {
		Repository string `json:"repositoryNameWithOwner"`
		Name       string `json:"branchName"`
	} `json:"branch"`
	Message struct {
		Headline string `json:"headline"`
		Body     string `json:"body"`
	} `json:"message"`
	Expected string `json:"expectedHeadOid"`
	Changes  struct {
		Additions []struct {
			Path     string `json:"path"`
			Contents []byte `json:"contents"` // base64
		} `json:"additions"`
		Deletions []struct {
			Path string `json:"path"`
		} `json:"deletions"`
	} `json:"fileChanges"`
}

// commitOnBranch puts one commit on a branch whose tip is the expected one. Its
// files are ordinary ones: GitHub takes no mode.
func (c *call) commitOnBranch(raw []byte) answer {
	var q struct {
		Variables struct {
			Input commitInput `json:"input"`
		} `json:"variables"`
		Query string `json:"query"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		c.s.violation("createCommitOnBranch: %v", err)
		return graphQLError("INVALID", "Variable $input of type CreateCommitOnBranchInput! was provided invalid value")
	}
	in := q.Variables.Input
	r := c.s.repos[strings.ToLower(in.Branch.Repository)]
	if r == nil || !c.who.sees(r) {
		return graphQLError("NOT_FOUND", "Could not resolve to a Repository")
	}
	tip := r.branches[in.Branch.Name]
	switch {
	case !c.who.may(r, []string{"contents:write"}):
		return graphQLError("FORBIDDEN", "Resource not accessible by integration")
	case tip == nil:
		return graphQLError("NOT_FOUND", "The branch "+in.Branch.Name+" could not be found")
	case tip.sha != in.Expected:
		return graphQLError("STALE_DATA", fmt.Sprintf("Expected branch to point to %q but it did not. Pull and try "+
			"again.", in.Expected))
	}
	tree, modes := maps.Clone(tip.tree), maps.Clone(tip.modes)
	for _, f := range in.Changes.Deletions {
		if _, there := tree[f.Path]; !there {
			return graphQLError("UNPROCESSABLE", fmt.Sprintf("A path was requested for deletion which does not exist "+
				"as of commit oid `%s`: %s", in.Expected, f.Path))
		}
		delete(tree, f.Path)
		delete(modes, f.Path)
	}
	for _, f := range in.Changes.Additions {
		if c.who.kind == "app" && strings.HasPrefix(f.Path, ".github/workflows/") {
			return graphQLError("FORBIDDEN", "refusing to allow a GitHub App to create or update workflow `"+f.Path+
				"` without `workflows` permission")
		}
		tree[f.Path] = string(f.Contents)
		delete(modes, f.Path)
	}
	message := strings.TrimSpace(in.Message.Headline + "\n\n" + in.Message.Body)
	made := r.newCommit([]*commit{tip}, message, c.who.user.Login, tree)
	made.modes = modes
	r.branches[in.Branch.Name] = made
	for _, p := range r.pulls {
		if p.from == r && p.options.Head == in.Branch.Name && p.state == "open" {
			p.move(made)
		}
	}
	return ok(object{"data": object{"createCommitOnBranch": object{"commit": object{"oid": made.sha,
		"url": fmt.Sprintf("%s/%s/commit/%s", c.s.WebURL, r.FullName(), made.sha)}}}})
}

// createPull opens a pull request between two branches of the repository.
func createPull(c *call) answer {
	var q struct {
		Title, Head, Base, Body string
		Draft                   bool
	}
	c.read(&q)
	invalid := func(field string) answer {
		return refusal(http.StatusUnprocessableEntity, "Validation Failed",
			object{"resource": "PullRequest", "field": field, "code": "invalid"})
	}
	custom := func(message string) answer {
		return refusal(http.StatusUnprocessableEntity, "Validation Failed",
			object{"resource": "PullRequest", "code": "custom", "message": message})
	}
	base, head := c.repo.branches[q.Base], c.repo.branches[q.Head]
	switch {
	case c.who.kind == "app" && c.repo.noPulls:
		return refusal(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	case q.Draft && c.repo.private && c.repo.plan == "free":
		return refusal(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	case base == nil:
		return invalid("base")
	case head == nil:
		return invalid("head")
	case len(since(base, head)) == 0:
		return custom("No commits between " + q.Base + " and " + q.Head)
	case len(q.Body) > 1<<16:
		return custom("body is too long (maximum is 65536 characters)")
	}
	number := 1
	for n, p := range c.repo.pulls {
		number = max(number, n+1)
		if p.state == "open" && p.from == c.repo && p.options.Head == q.Head && p.baseRef == q.Base {
			return custom("A pull request already exists for " + c.repo.Owner + ":" + q.Head + ".")
		}
	}
	for n := range c.repo.issues {
		number = max(number, n+1)
	}
	p := c.repo.open(PullOptions{Number: number, Title: q.Title, Body: q.Body, Author: c.who.user.Login, Draft: q.Draft,
		Base: q.Base, Head: q.Head, From: c.repo}, head)
	return answer{status: http.StatusCreated, value: p.json()}
}

// Head is the name of the branch that a pull request is of.
func (p *Pull) Head() string { return p.options.Head }

// Text is the title and the description.
func (p *Pull) Text() (title, body string) { return p.options.Title, p.options.Body }

// IsDraft reports whether the pull request is a draft.
func (p *Pull) IsDraft() bool { return p.options.Draft }

// Pulls are all pull requests, by number.
func (r *Repo) Pulls() []*Pull {
	defer r.s.lock()()
	var all []*Pull
	for _, n := range slices.Sorted(maps.Keys(r.pulls)) {
		all = append(all, r.pulls[n])
	}
	return all
}
