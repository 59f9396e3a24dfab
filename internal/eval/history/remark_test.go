package history

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
)

func TestTheIssueIsTheFirstParagraphThatSaysSomething(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"This leaks the file.":                                  "This leaks the file.",
		"This leaks\r\n  the file.\r\n\r\nPlease close it.":     "This leaks the file.",
		"Nice!\n\nBut this leaks the file.":                     "But this leaks the file.",
		"> close it later\n> or never\nThis leaks the file.":    "This leaks the file.",
		"```go\nx := open()\n\ny()\n```\nThis leaks the file.":  "This leaks the file.",
		"~~~\ncode that is long\n~~~\nLeaks the file.":          "Leaks the file.",
		"<!-- a marker\nof a tool -->This leaks the file.":      "This leaks the file.",
		"nit: `x` leaks\n```suggestion\nx.Close()\n```":         "nit: `x` leaks",
		"See\x1b[31m the file":                                  "See<U+001B>[31m the file",
		"":                                                      "",
		"Why?":                                                  "",
		"12345678901":                                           "",
		"123456789012":                                          "123456789012",
		"```suggestion\nreturn nil, err\n```":                   "",
		"```\nThis fence never ends, so all of it is code, yes": "",
		"> This is what somebody else has said.":                "",
	} {
		require.Equal(t, want, issueOf(body), "%q", body)
	}
	long := issueOf(strings.Repeat("ä", 400))
	require.Equal(t, maxIssue, utf8.RuneCountInString(long))
	require.True(t, strings.HasSuffix(long, "…"))
}

func TestAReviewersOutdatedCommentOnALineCounts(t *testing.T) {
	t.Parallel()
	good := github.ReviewComment{Side: "RIGHT", OriginalLine: 5, OriginalCommitID: "c", User: "maya", UserType: "User"}
	require.True(t, countsAsRemark(good, "lee"))
	for name, change := range map[string]func(c *github.ReviewComment){
		"the old side":   func(c *github.ReviewComment) { c.Side = "LEFT" },
		"no line":        func(c *github.ReviewComment) { c.WholeFile = true },
		"no line number": func(c *github.ReviewComment) { c.OriginalLine = 0 },
		"no commit":      func(c *github.ReviewComment) { c.OriginalCommitID = "" },
		"a reply":        func(c *github.ReviewComment) { c.ReplyTo = 1 },
		"the author":     func(c *github.ReviewComment) { c.User = "Lee" },
		"an app":         func(c *github.ReviewComment) { c.User = "x[bot]" },
		"a bot":          func(c *github.ReviewComment) { c.UserType = "Bot" },
		"nobody":         func(c *github.ReviewComment) { c.User = "" },
		"a ghost":        func(c *github.ReviewComment) { c.User = "ghost" },
		"not acted on":   func(c *github.ReviewComment) { c.Line = 5 },
	} {
		c := good
		change(&c)
		require.False(t, countsAsRemark(c, "lee"), name)
	}
}

func TestARemarkBeginsWhereItsFirstLineIsOnTheNewSide(t *testing.T) {
	t.Parallel()
	for want, c := range map[int]github.ReviewComment{
		3: {StartSide: "RIGHT", OriginalStartLine: 3, OriginalLine: 5},
		5: {StartSide: "LEFT", OriginalStartLine: 3, OriginalLine: 5},
		6: {OriginalLine: 6},
		7: {OriginalStartLine: 8, OriginalLine: 7},
	} {
		require.Equal(t, want, firstLine(remark{ReviewComment: c}))
	}
}

// FuzzIssue holds that whatever a comment has in it, an issue is one line of
// bounded length that people and judge see alike.
func FuzzIssue(f *testing.F) {
	for _, seed := range []string{"This leaks the file.", "> quote\n\ntext that is long enough",
		"```\nx\n```\nafter the code block", "<!-- x --> visible text here", "\u202etext that turns",
		"a\xffb and more text"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		line := issueOf(body)
		if line == "" {
			return
		}
		n := utf8.RuneCountInString(line)
		require.True(t, n >= minIssue && n <= maxIssue, "%d characters", n)
		require.NotContains(t, line, "\n")
		require.Equal(t, line, guard.Visible(line))
	})
}
