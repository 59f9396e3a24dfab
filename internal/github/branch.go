package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// Tip is a commit, such as the one that a branch points to. Message is untrusted text.
type Tip struct {
	SHA     string
	Parents []string
	Message string
}

// Tip reads a branch. It returns ErrNotFound if there is none.
func (c *Client) Tip(ctx context.Context, owner, repo, branch string) (Tip, error) {
	b, err := c.branch(ctx, owner, repo, branch)
	if err == nil && !commitID().MatchString(b.GetCommit().GetSHA()) {
		err = Wrap("reading the tip of branch "+branch, errIncomplete)
	}
	if err != nil {
		return Tip{}, err
	}
	return tipOf(b.Commit), nil
}

func tipOf(k *gh.RepositoryCommit) Tip {
	tip := Tip{SHA: k.GetSHA(), Message: k.GetCommit().GetMessage()}
	for _, p := range k.Parents {
		tip.Parents = append(tip.Parents, p.GetSHA())
	}
	return tip
}

// Since lists the first hundred commits that head has and base lacks, oldest first. It
// returns ErrNotFound if they share no history.
func (c *Client) Since(ctx context.Context, owner, repo, base, head string) ([]Tip, error) {
	compared, err := c.compare(ctx, owner, repo, base, head, pageSize)
	var all []Tip
	for _, k := range compared.Commits {
		all = append(all, tipOf(k))
	}
	return all, err
}

// compare reads what head has and base lacks, with at most so many of its commits.
func (c *Client) compare(ctx context.Context, owner, repo, base, head string,
	commits int) (compared gh.CommitsComparison, err error) {
	path := fmt.Sprintf("%s?per_page=%d", repoPath(owner, repo, "compare", base+"..."+head), commits)
	_, err = c.get(ctx, &compared, path)
	return compared, Wrap(fmt.Sprintf("comparing %.40s with %.40s of %s/%s", base, head, owner, repo), err)
}

// AllEntries reads all files of a commit or branch. It returns ErrTooLarge if GitHub truncates the
// list, from about 100,000 paths on.
func (c *Client) AllEntries(ctx context.Context, owner, repo, commit string) (map[string]diff.Entry, error) {
	tree, _, err := c.api.Git.GetTree(ctx, segment(owner), segment(repo), segment(commit), true)
	if err == nil && tree.GetTruncated() {
		err = fmt.Errorf("%w: GitHub lists no tree of this size", ErrTooLarge)
	}
	if err != nil {
		return nil, Wrap(fmt.Sprintf("reading the tree %.40s of %s/%s", commit, owner, repo), err)
	}
	all := map[string]diff.Entry{}
	for _, e := range tree.Entries {
		if e.GetType() != "tree" {
			all[e.GetPath()] = diff.Entry{Mode: e.GetMode(), Blob: e.GetSHA()}
		}
	}
	return all, nil
}

// ChangedPaths lists the paths that head changed since it left base, sorted; a rename counts as
// both paths. It returns ErrTooLarge from 300 files on, where GitHub's list ends.
func (c *Client) ChangedPaths(ctx context.Context, owner, repo, base, head string) ([]string, error) {
	compared, err := c.compare(ctx, owner, repo, base, head, 1) // the first page has all files
	if err != nil {
		return nil, err
	}
	if len(compared.Files) >= 300 {
		return nil, fmt.Errorf("comparing %.40s with %.40s of %s/%s: %w: 300 files or more", base, head, owner, repo,
			ErrTooLarge)
	}
	var paths []string
	for _, f := range compared.Files {
		paths = append(paths, f.GetFilename())
		if f.GetStatus() == "renamed" {
			paths = append(paths, f.GetPreviousFilename())
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Opened is a pull request from a list. Body is untrusted text.
type Opened struct {
	URL    string
	Body   string
	Branch string // of its head
	Open   bool
}

// OpenedFrom lists the pull requests from a branch of the repository itself, whose authors may
// write there, in any state, newest first; for "" those of the newest hundred of all.
func (c *Client) OpenedFrom(ctx context.Context, owner, repo, branch string) ([]Opened, error) {
	query := url.Values{"state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"100"}}
	if branch != "" {
		query.Set("head", owner+":"+branch)
	}
	var list []gh.PullRequest
	doing := fmt.Sprintf("listing the pull requests of %s/%s", owner, repo)
	if _, err := c.get(ctx, &list, repoPath(owner, repo, "pulls")+"?"+query.Encode()); err != nil {
		return nil, Wrap(doing, err)
	}
	var all []Opened
	for _, p := range list {
		o := Opened{
			URL: p.GetHTMLURL(), Body: p.GetBody(), Branch: p.GetHead().GetRef(), Open: p.GetState() == "open",
		}
		if o.URL == "" {
			return nil, Wrap(doing, errIncomplete)
		}
		if from := p.GetHead().GetRepo().GetID(); from != 0 && from == p.GetBase().GetRepo().GetID() {
			all = append(all, o)
		}
	}
	return all, nil
}

// FindComment searches the comments under an issue or pull request for a text. It returns the
// address of the first one that contains it.
func (c *Client) FindComment(ctx context.Context, ref pull.Ref, text string) (where string, found bool, err error) {
	list, err := listAll(func(o *gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return c.api.Issues.ListComments(ctx, segment(ref.Owner), segment(ref.Repo), ref.Number,
			&gh.IssueListCommentsOptions{ListOptions: *o})
	})
	for _, k := range list {
		if strings.Contains(k.GetBody(), text) {
			return k.GetHTMLURL(), true, nil
		}
	}
	return "", false, Wrap("listing the comments under "+ref.String(), err)
}

// Commit resolves a branch, a tag or a short hash to a commit's full hash; HEAD means the
// default branch. It returns ErrNotFound if there is none.
func (c *Client) Commit(ctx context.Context, owner, repo, revision string) (string, error) {
	var commit struct {
		SHA string `json:"sha"`
	}
	doing := fmt.Sprintf("reading the commit %.100q of %s/%s", revision, owner, repo)
	_, err := c.get(ctx, &commit, repoPath(owner, repo, "commits", revision))
	if err = requireComplete(doing, err, commitID().MatchString(commit.SHA)); err != nil {
		return "", err
	}
	return commit.SHA, nil
}

// OnBranch reports whether a commit is a branch's tip or an ancestor of it. It reads the tip
// from the branch and compares its hash, since a tag may have the branch's name. A missing
// commit, or one without shared history, is not on the branch.
func (c *Client) OnBranch(ctx context.Context, owner, repo, branch, sha string) (bool, error) {
	tip, err := c.Tip(ctx, owner, repo, branch)
	if err != nil || sha == "" || sha == tip.SHA {
		return err == nil && sha != "", err
	}
	compared, err := c.compare(ctx, owner, repo, tip.SHA, sha, 1)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return compared.GetStatus() == "behind" || compared.GetStatus() == "identical", err
}

// CompareDiff returns what head changed since it left base, as a unified diff of at most max
// bytes; "" if the commits do not differ. It returns ErrNotFound if a commit is gone, and
// ErrTooLarge also if GitHub makes no diff of that size.
func (c *Client) CompareDiff(ctx context.Context, owner, repo, base, head string, max int64) (string, error) {
	doing := fmt.Sprintf("reading the diff %s...%s of %s/%s", base, head, owner, repo)
	req, err := c.api.NewRequest(http.MethodGet, repoPath(owner, repo, "compare", base+"..."+head), nil)
	if err != nil {
		return "", Wrap(doing, err)
	}
	req.Header.Set("Accept", mediaDiff)
	var text bytes.Buffer
	if _, err := c.api.Do(transport.LimitBody(ctx, max), req, &text); err != nil {
		return "", Wrap(doing, err)
	}
	return text.String(), nil
}
