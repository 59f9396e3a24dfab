package github

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// maxFiles is where the API ends the list of a pull request's files.
const maxFiles = 3000

// emptyBlob is the id of an empty file, which is not binary.
const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// Pull reads a pull request. It returns Owner and Repo in the repository's own spelling;
// MergeBase is empty.
func (c *Client) Pull(ctx context.Context, ref pull.Ref) (pull.Pull, error) {
	doing := "reading pull request " + ref.String()
	pr, _, err := c.api.PullRequests.Get(ctx, ref.Owner, ref.Repo, ref.Number)
	if err != nil {
		return pull.Pull{}, Wrap(doing, err)
	}
	p := pullOf(ref, pr)
	if pr.GetNumber() != ref.Number || p.RepoID == 0 || p.HeadSHA == "" || p.BaseSHA == "" || p.State == "" {
		return pull.Pull{}, Wrap(doing, errIncomplete)
	}
	return p, nil
}

// OpenHeads returns the head commits of all open pull requests by number, with one request
// per hundred.
func (c *Client) OpenHeads(ctx context.Context, owner, repo string) (map[int]string, error) {
	list, err := listAll(func(o *gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		return c.api.PullRequests.List(ctx, owner, repo, &gh.PullRequestListOptions{State: "open", ListOptions: *o})
	})
	heads := map[int]string{}
	for _, pr := range list {
		heads[pr.GetNumber()] = pr.GetHead().GetSHA()
	}
	return heads, Wrap(fmt.Sprintf("listing the open pull requests of %s/%s", owner, repo), err)
}

func pullOf(ref pull.Ref, pr *gh.PullRequest) pull.Pull {
	base, head := pr.GetBase(), pr.GetHead()
	if owner, repo, ok := strings.Cut(base.GetRepo().GetFullName(), "/"); ok {
		ref.Owner, ref.Repo = owner, repo
	}
	p := pull.Pull{
		Ref:           ref,
		RepoID:        base.GetRepo().GetID(),
		Private:       base.GetRepo().GetPrivate(),
		Title:         pr.GetTitle(),
		Body:          pr.GetBody(),
		Author:        pr.GetUser().GetLogin(),
		AuthorBot:     pr.GetUser().GetType() == "Bot",
		Association:   pr.GetAuthorAssociation(),
		State:         pr.GetState(),
		Merged:        pr.GetMerged(),
		Draft:         pr.GetDraft(),
		BaseRef:       base.GetRef(),
		BaseSHA:       base.GetSHA(),
		HeadRef:       head.GetRef(),
		HeadSHA:       head.GetSHA(),
		HeadRepo:      head.GetRepo().GetFullName(), // empty for a deleted fork
		HeadRepoID:    head.GetRepo().GetID(),
		DefaultBranch: base.GetRepo().GetDefaultBranch(),
		ChangedFiles:  pr.GetChangedFiles(),
		ChangedLines:  pr.GetAdditions() + pr.GetDeletions(),
		URL:           pr.GetHTMLURL(),
		UpdatedAt:     pr.GetUpdatedAt().Time,
	}
	for _, l := range pr.Labels {
		p.Labels = append(p.Labels, l.GetName())
	}
	return p
}

// Files lists the changed files of a pull request in GitHub's order. complete is false if the
// list lacks some: GitHub ends it at 3000, and a push in between changes their number. GitHub
// did not diff a file that has Changes() > 0 but no patch; one with a Problem it listed bare.
func (c *Client) Files(ctx context.Context, p pull.Pull) (files []diff.File, complete bool, err error) {
	list, err := listAll(func(o *gh.ListOptions) ([]*gh.CommitFile, *gh.Response, error) {
		return c.api.PullRequests.ListFiles(ctx, p.Owner, p.Repo, p.Number, o)
	})
	known := true
	if err == nil && len(list) == p.ChangedFiles { // else lines are missing in any case
		known, err = c.readBare(ctx, p, list)
	}
	if err != nil {
		return nil, false, Wrap("listing the files of "+p.String(), err)
	}
	for _, f := range list {
		file := diffFile(f)
		if !known && isBare(f) {
			file.Binary, file.Problem = false, "GitHub lists neither its diff nor how much of it changed"
		}
		files = append(files, file)
	}
	return files, len(files) == p.ChangedFiles && len(files) <= maxFiles, nil
}

// maxAgain bounds the pages that are read again: a job's token has a thousand requests an hour.
const maxAgain = 100

// readBare reads bare files of a list again, on smaller pages. After about 20,000 lines of patches GitHub lists the
// rest of a page bare, as if it were binary or merely renamed; then the list has fewer changed lines than the pull
// request. known is false if some may still be listed so.
func (c *Client) readBare(ctx context.Context, p pull.Pull, list []*gh.CommitFile) (known bool, err error) {
	requests := 0
	for _, size := range []int{10, 1} {
		for from := 0; from < len(list) && changedLines(list) < p.ChangedLines; from += size {
			page := list[from:min(from+size, len(list))]
			if !slices.ContainsFunc(page, isBare) {
				continue
			}
			if requests++; requests > maxAgain {
				return false, nil
			}
			again, _, err := c.api.PullRequests.ListFiles(ctx, p.Owner, p.Repo, p.Number,
				&gh.ListOptions{Page: from/size + 1, PerPage: size})
			if err != nil {
				return false, err
			}
			for i := range min(len(page), len(again)) {
				if again[i].GetFilename() == page[i].GetFilename() { // else a push came in between
					page[i] = again[i]
				}
			}
		}
	}
	return true, nil
}

func changedLines(list []*gh.CommitFile) (sum int) {
	for _, f := range list {
		sum += f.GetAdditions() + f.GetDeletions()
	}
	return sum
}

// isBare reports whether GitHub lists a file with neither patch nor changed lines.
func isBare(f *gh.CommitFile) bool {
	return f.GetPatch() == "" && f.GetAdditions()+f.GetDeletions() == 0 && f.GetSHA() != emptyBlob
}

func diffFile(f *gh.CommitFile) diff.File {
	file := diff.File{
		Path:      f.GetFilename(),
		OldPath:   f.GetPreviousFilename(),
		Status:    diff.Status(f.GetStatus()),
		Additions: f.GetAdditions(),
		Deletions: f.GetDeletions(),
		Patch:     f.GetPatch(),
	}
	if file.Patch == "" {
		file.Blob = f.GetSHA()
	}
	// No field marks binary files. A text that changed has changed lines, so changed content
	// without any is not text.
	switch file.Status {
	case diff.Added, diff.Modified, diff.Removed:
		file.Binary = isBare(f)
	}
	return file
}

// MergeBase returns the commit that the pull request's diff starts from.
func (c *Client) MergeBase(ctx context.Context, p pull.Pull) (string, error) {
	compared, err := c.compare(ctx, p.Owner, p.Repo, p.BaseSHA, p.HeadSHA, 1)
	sha := compared.GetMergeBaseCommit().GetSHA()
	return sha, requireComplete(fmt.Sprintf("reading the merge base of %s", p.Ref), err, sha != "")
}

// Content reads a file of at most max bytes at a commit or branch. It returns ErrNotFound,
// also for a path that leaves the repository, or ErrTooLarge.
func (c *Client) Content(ctx context.Context, owner, repo, path, ref string, max int64) ([]byte, error) {
	doing := fmt.Sprintf("reading %q of %s/%s at %s", path, owner, repo, ref)
	req, err := c.contentsRequest(owner, repo, path, ref)
	if err != nil {
		return nil, Wrap(doing, err)
	}
	req.Header.Set("Accept", mediaRaw)
	var content bytes.Buffer
	if _, err := c.api.Do(transport.LimitBody(ctx, max), req, &content); err != nil {
		return nil, Wrap(doing, err)
	}
	return content.Bytes(), nil
}

// Folder lists the names in a folder at a commit or branch, of the first thousand that GitHub
// returns. A folder that does not exist has none.
func (c *Client) Folder(ctx context.Context, owner, repo, path, ref string) ([]string, error) {
	doing := fmt.Sprintf("listing %q of %s/%s at %s", path, owner, repo, ref)
	req, err := c.contentsRequest(owner, repo, path, ref)
	if err != nil {
		return nil, Wrap(doing, err)
	}
	var entries []struct{ Name string }
	_, err = c.api.Do(ctx, req, &entries)
	if err = Wrap(doing, err); errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names, err
}

func (c *Client) contentsRequest(owner, repo, path, ref string) (*http.Request, error) {
	if !fs.ValidPath(path) || path == "." {
		return nil, ErrNotFound
	}
	address := repoPath(owner, repo, append([]string{"contents"}, strings.Split(path, "/")...)...)
	return c.api.NewRequest(http.MethodGet, address+"?"+url.Values{"ref": {ref}}.Encode(), nil)
}

// MergedPages bounds the pages that MergedPulls reads, of a hundred closed pull requests
// each.
const MergedPages = 10

// MergedPull is a merged pull request as the API lists it: without the number of changed
// files.
type MergedPull struct {
	pull.Pull
	MergedAt time.Time
}

// MergedPulls returns the last pull requests that were merged, the newest merge first. The
// API sorts by update rather than merge, so pages are read until no later page can hold a
// newer merge. If old pull requests are updated all the time, it stops after MergedPages and
// returns the newest merges of the thousand closed pull requests that were updated last.
func (c *Client) MergedPulls(ctx context.Context, owner, repo string, last int) ([]MergedPull, error) {
	var found []MergedPull
	_, err := listAll(func(o *gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		page, resp, err := c.api.PullRequests.List(ctx, owner, repo, &gh.PullRequestListOptions{
			State: "closed", Sort: "updated", Direction: "desc", ListOptions: *o,
		})
		if err == nil {
			found, err = withMerged(found, page, owner, repo)
		}
		if err != nil {
			return nil, nil, err
		}
		order.Stable(found, func(a, b MergedPull) int {
			return cmp.Or(b.MergedAt.Compare(a.MergedAt), cmp.Compare(b.Number, a.Number))
		})
		found = found[:min(len(found), max(last, 0))]
		if o.Page >= MergedPages || isSettled(found, page, last) {
			resp.NextPage = 0
		}
		return page, resp, nil
	})
	return found, Wrap(fmt.Sprintf("listing the merged pull requests of %s/%s", owner, repo), err)
}

// withMerged adds a page's merged pull requests. One may be on two pages if the list moved
// between the requests.
func withMerged(found []MergedPull, page []*gh.PullRequest, owner, repo string) ([]MergedPull, error) {
	for _, pr := range page {
		p := pullOf(pull.Ref{Owner: owner, Repo: repo, Number: pr.GetNumber()}, pr)
		same := func(m MergedPull) bool { return m.Number == p.Number }
		if pr.MergedAt == nil || slices.ContainsFunc(found, same) {
			continue
		}
		if p.Number == 0 || p.HeadSHA == "" || p.BaseSHA == "" {
			return nil, errIncomplete
		}
		p.Merged = true // lists leave it out
		found = append(found, MergedPull{Pull: p, MergedAt: pr.GetMergedAt().Time})
	}
	return found, nil
}

// isSettled reports whether no later page can change the list: what was updated before the
// oldest merge in it was also merged before.
func isSettled(found []MergedPull, page []*gh.PullRequest, last int) bool {
	if len(found) < last || len(page) == 0 {
		return false
	}
	oldest := page[len(page)-1].GetUpdatedAt().Time
	return last <= 0 || oldest.Before(found[last-1].MergedAt)
}
