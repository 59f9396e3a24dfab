package ticketcontext_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
)

// api is GitHub as far as Read asks it.
type api struct {
	level   string
	commits [][]string
	closes  []string
	fails   bool
}

func (a api) Permission(context.Context, string, string, string) (string, error) {
	if a.fails {
		return "", errors.New("no access")
	}
	return a.level, nil
}

func (a api) Commits(_ context.Context, _ pull.Ref, page int) (all []github.Remark, more bool, err error) {
	if page > len(a.commits) {
		return nil, false, errors.New("no such page")
	}
	for _, message := range a.commits[page-1] {
		all = append(all, github.Remark{Body: message})
	}
	return all, page < len(a.commits), nil
}

func (a api) ClosingIssues(context.Context, pull.Ref) ([]string, error) { return a.closes, nil }

func TestReadAsksWhatTheAuthorMayDo(t *testing.T) {
	t.Parallel()
	o := options(&memory{})
	for level, may := range map[string]bool{"admin": true, "write": true, "read": false, "none": false} {
		got := ticketcontext.Read(t.Context(), api{level: level, commits: [][]string{{}}}, request("", "").Pull, o)
		require.Equal(t, may, got.MayWrite, level)
	}
	got := ticketcontext.Read(t.Context(), api{fails: true}, request("PAY-1", "").Pull, o)
	require.False(t, got.MayWrite)
	c := ticketcontext.Fetch(t.Context(), got, o)
	require.Equal(t, []string{"Without ticket: the permission of the author could not be read",
		"Without ticket: what the author names is not followed without it"}, c.Missing)
}

func TestKeysComeFromAllPartsInOrder(t *testing.T) {
	t.Parallel()
	p := request("OPS-1", "PAY-3").Pull
	p.HeadRef, p.Labels = "feature/pay-2-x", []string{"jira:PAY-4"}
	o := options(&memory{})
	got := ticketcontext.Fetch(t.Context(), ticketcontext.Read(t.Context(), api{level: "write"}, p, o), o)
	require.Equal(t, []ticket.Key{{Key: "OPS-1", From: ticket.Title}, {Key: "PAY-2", From: ticket.Branch},
		{Key: "PAY-3", From: ticket.Body}}, got.Keys)
	p = request("Fix", "").Pull
	asked := ticketcontext.Read(t.Context(), api{level: "write", commits: [][]string{{"PAY-1 a"}, {"PAY-2 b"}}}, p, o)
	got = ticketcontext.Fetch(t.Context(), asked, o)
	require.Equal(t, []ticket.Key{{Key: "PAY-2", From: ticket.Commit}, {Key: "PAY-1", From: ticket.Commit}}, got.Keys,
		"the newest commit first")
}

// tracked are issues of GitHub.
type tracked map[string]github.Remark

func (t tracked) Issue(_ context.Context, owner, repo string, _ int) (github.Remark, error) {
	r, ok := t[owner+"/"+repo]
	if !ok {
		return r, github.Wrap("reading an issue", errors.Join(github.ErrNotFound))
	}
	return r, nil
}

func (tracked) FindComment(context.Context, pull.Ref, string) (string, bool, error) {
	return "", false, nil
}

func TestIssuesOfGitHubAreTickets(t *testing.T) {
	t.Parallel()
	o := ticketcontext.Options{Limit: time.Second,
		Sources: []ticketcontext.Source{{Name: "github", Title: "GitHub", Issues: true,
			Ticket: ticketcontext.Issues{API: tracked{"acme/shop": {Title: "Round refunds",
				Body: "## AC\n\n- [ ] rounded"},
				"acme/docs": {Title: "x", Pull: true}}}.Ticket}}}
	asked := ticketcontext.Read(t.Context(), api{level: "write", closes: []string{"acme/shop#7"},
		commits: [][]string{{}}},
		request("", "Fixes acme/docs#3, see #1").Pull, o)
	c := ticketcontext.Fetch(t.Context(), asked, o)
	require.Equal(t, []ticket.Key{{Key: "acme/shop#7", From: ticket.Body}, {Key: "acme/docs#3", From: ticket.Body}},
		c.Keys)
	require.Equal(t, []ticket.Criterion{{N: 1, Text: "rounded"}}, c.Criteria())
	require.Equal(t, []string{"Without ticket: acme/docs#3 is a pull request"}, c.Missing)
	c = ticketcontext.Fetch(t.Context(), request("", "See #7"), o)
	require.Equal(t, "acme/shop#7", c.Keys[0].Key, "without a keyword a mention counts")
	require.Equal(t, []string{"no issue is named in title or description"},
		ticketcontext.Fetch(t.Context(), request("", "PAY-1"), o).Missing)
}
