package ticket_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/ticket"
)

// cases reads a file of one JSON object a line.
func cases[T any](t *testing.T, path string) (all []T) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c), lines.Text())
		all = append(all, c)
	}
	require.NoError(t, lines.Err())
	return all
}

func names(keys []ticket.Key) []string {
	all := []string{}
	for _, k := range keys {
		all = append(all, k.Key)
	}
	return all
}

func TestKeysAreFoundByTheRule(t *testing.T) {
	t.Parallel()
	type row struct {
		ID, Text, Why  string
		Where          ticket.Where
		Want, Projects []string
	}
	all := cases[row](t, "testdata/ticket_keys.jsonl")
	require.Len(t, all, 102)
	projects := strings.Fields("PROJ PAY OPS ABC DATA SEC A1 MY_PROJ XPROJ ABCDEFGHIJK P")
	for _, c := range all {
		if c.Projects == nil {
			c.Projects = projects
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			found := ticket.Keys(c.Text, c.Where, c.Projects)
			if c.Where == ticket.Label {
				found = ticket.InLabel(c.Text, ticket.LabelForms(), c.Projects)
			}
			require.Equal(t, c.Want, names(found), c.Why)
		})
	}
}

func TestIssuesAreThoseThatGitHubCloses(t *testing.T) {
	t.Parallel()
	type row struct {
		ID, Repo, Text, Why string
		Want                []string
	}
	all := cases[row](t, "testdata/github_refs.jsonl")
	require.Len(t, all, 30)
	for _, c := range all {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.Want, names(ticket.Issues(c.Text, "github.com", c.Repo, ticket.Body)), c.Why)
		})
	}
}

func TestMentionsAreIssuesWithoutAKeyword(t *testing.T) {
	t.Parallel()
	found := ticket.Mentions("See #12, acme/docs#7, GH-3 and https://github.com/acme/shop/issues/9, not `#1`, "+
		"a#2, https://x.example/a/b/issues/4 or https://x.example/a#5", "github.com", "acme/shop", ticket.Body)
	require.Equal(t, []string{"acme/shop#12", "acme/docs#7", "acme/shop#3", "acme/shop#9"}, names(found))
}

func TestLabelFormsSayWhichLabelsHoldAKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		label, want string
		forms       []string
	}{
		{"Ticket: PAY-1 (open)", "PAY-1", []string{"ticket: * (open)"}},
		{"PAY-1", "", []string{"jira:*"}},
		{"JIRA:PAY-1", "PAY-1", []string{"jira:*"}},
		{"jira:PAY-1x", "", []string{"jira:*", "*"}},
		{"ab", "", []string{"ab*ab"}},
		{"jira:İİPAY-1", "", []string{"jira:*"}},
	} {
		require.Equal(t, c.want, strings.Join(names(ticket.InLabel(c.label, c.forms, []string{"PAY"})), " "), c.label)
	}
}

func TestPageIDsComeFromLinksAlone(t *testing.T) {
	t.Parallel()
	text := "https://acme.atlassian.net/wiki/spaces/ENG/pages/65601/Upload+protocol, " +
		"[old](https://wiki.acme.example:8443/pages/viewpage.action?pageId=7&x=1) <!-- https://a.b/pages/1 --> " +
		"https://acme.atlassian.net/wiki/spaces/ENG/pages/65601 pages/99 https://a.b/pages/x https://u@a.b/pages/5 " +
		"https://a.b/pages/99999999999999999999"
	require.Equal(t, []ticket.PageID{
		{ID: "65601", From: ticket.Body, Host: "acme.atlassian.net"},
		{ID: "7", From: ticket.Body, Host: "wiki.acme.example:8443"},
	}, ticket.PageIDs(text, ticket.Body))
}

func TestHostileTextsAreReadInTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"A-1-", "AB-1 ", "<!--", "```\n", "#1 ", "fixes ", "https://", "A",
		"https://a/pages/1 ",
		"\u2011", "`"} {
		text := strings.Repeat(unit, 65536/len(unit))
		for _, where := range []ticket.Where{ticket.Title, ticket.Branch, ticket.Body} {
			ticket.Keys(text, where, []string{"AB"})
		}
		ticket.Issues(text, "github.com", "a/b", ticket.Body)
		ticket.Mentions(text, "github.com", "a/b", ticket.Body)
		ticket.PageIDs(text, ticket.Body)
	}
}

func dump(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
