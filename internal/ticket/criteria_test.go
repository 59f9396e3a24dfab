package ticket_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/ticket"
)

func TestCriteriaAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"heading", "Goal\n\n## Acceptance **criteria**\n\n1. one\n   - nested\n2. two\n\n### Part\n\n- three\n\n## " +
			"Out of scope\n\n- x",
			[]string{"one\n- nested", "two", "three"}},
		{"a fence holds no heading", "## AC\n\n- a\n\n```\n# no heading\n- no entry\n```\n\n- b", []string{"a", "b"}},
		{"colon", "Text\nDefinition of done:\n- a\n- b\n\nAfter\n- c", []string{"a", "b"}},
		{"bold", "**AC**\n\nAs agreed.\n\n- [x] a\n- [ ] b\n\n> note\n\n- c", []string{"a", "b"}},
		{"bare words are no title", "Acceptance criteria\na\nb", nil},
		{"paragraphs", "## Acceptance criterion\n\nIt works.\n\nIt is fast.", []string{"It works.", "It is fast."}},
		{"scenarios", "**Scenario: a**\n\nGiven x\nWhen y\nThen z\n\n```gherkin\nGiven p\nThen q\n```\nGiven r",
			[]string{"Scenario: a\nGiven x\nWhen y\nThen z", "Given p\nThen q", "Given r"}},
		{"a scenario without steps is a word", "Scenario: we are tired", nil},
		{"tasks", "Do it.\n\n- [ ] a\n- plain\n- [x] b", []string{"a", "b"}},
		{"empty entry", "## AC\n-\n- a", []string{"a"}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, found := range ticket.CriteriaIn(c.text) {
				got = append(got, found.Text)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestCriteriaKeepTheirTicks(t *testing.T) {
	t.Parallel()
	require.Equal(t, []ticket.Criterion{{Text: "a", Done: true}, {Text: "b"}},
		ticket.CriteriaIn("AC:\n- [x] a\n- [ ] b"))
}

func TestCriteriaAreBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("- [ ] a\n", 1000), strings.Repeat("Given a\nThen b\n", 1000),
		"## AC\n\n" + strings.Repeat("a\n\n", 1000)} {
		require.Len(t, ticket.CriteriaIn(text), 50)
	}
}

func TestShownLeavesOutWhatMayNotLeave(t *testing.T) {
	t.Parallel()
	whole := ticket.Context{
		Keys: []ticket.Key{{Key: "PAY-1", From: ticket.Title}},
		Tickets: []ticket.Ticket{{Key: "PAY-1", Source: "jira", Summary: "secret summary", Description: "secret text",
			Labels: []string{"secret"}, Criteria: []ticket.Criterion{{N: 1, Text: "secret criterion"}}}},
		Pages:   []ticket.Ticket{{Key: "7", Summary: "secret title", Description: "secret page"}},
		Flags:   []ticket.Flag{{ID: "PAY-1", Line: 3, Text: "secret flag"}},
		Missing: []string{"Without ticket: PAY-2 is not visible to the Jira user"},
	}
	key := whole.Shown(ticket.ShowKey)
	require.NotContains(t, dump(t, key), "secret")
	require.Equal(t, []ticket.Criterion{{N: 1}}, key.Criteria())
	require.Equal(t, whole.Missing, key.Missing)
	criteria := dump(t, whole.Shown(ticket.ShowCriteria))
	for _, gone := range []string{"secret text", "secret flag"} {
		require.NotContains(t, criteria, gone)
	}
	require.Contains(t, criteria, "secret criterion")
	require.Contains(t, criteria, "secret page")
	require.Equal(t, key, whole.Shown("unheard of"))
	require.Equal(t, "secret text", whole.Shown(ticket.ShowFull).Tickets[0].Description, "the whole stays as it was")
}

func TestAFilesHeadingsMayBeUnderlined(t *testing.T) {
	t.Parallel()
	require.Equal(t, "file-2d711642", ticket.FromMarkdown("notes", "x").Key, "8 digits of its SHA-256")
	got := ticket.FromMarkdown("PAY-1", "\ufeffDebits\r\n======\r\n\r\nToo many.\r\n\r\n"+
		"Acceptance criteria\r\n---\r\n\r\n- One is kept\r\n")
	require.Equal(t, "Debits", got.Summary)
	require.Equal(t, []ticket.Criterion{{N: 1, Text: "One is kept"}}, got.Criteria)
	for text, want := range map[string]string{
		"---\nlabels: a\n---\n# Debits\n": "Debits",
		"- an item\n---\n\n# Debits\n":    "Debits",
		"A line.\n\n---\n\n# Debits\n":    "Debits",
		"a | b\n--- | ---\n\n# Debits\n":  "Debits",
		"Debits\n===":                     "Debits",
	} {
		require.Equal(t, want, ticket.FromMarkdown("PAY-1", text).Summary, text)
	}
}
