package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pull"
)

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
