package history

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

const (
	minIssue = 12       // characters: anything shorter is a question or a nod and names no defect
	maxIssue = 300      // characters
	maxBody  = 16 << 10 // bytes of a comment to search for a paragraph
)

// remark is a comment that counts, and the issue that it states.
type remark struct {
	github.ReviewComment
	issue string
}

// chooseRemarks returns the remarks on the commit with the most of them; ties go to the
// earlier commit. Only on one commit are all the line numbers valid. Comments are
// ordered oldest first.
func chooseRemarks(comments []github.ReviewComment, author string) []remark {
	var remarks []remark
	for _, c := range comments {
		if issue := issueOf(c.Body); issue != "" && countsAsRemark(c, author) {
			remarks = append(remarks, remark{c, issue})
		}
	}
	of, best := map[string]int{}, ""
	for _, r := range remarks {
		of[r.OriginalCommitID]++
	}
	for _, r := range remarks {
		if of[r.OriginalCommitID] > of[best] {
			best = r.OriginalCommitID
		}
	}
	return slices.DeleteFunc(remarks, func(r remark) bool { return r.OriginalCommitID != best })
}

// countsAsRemark reports whether a comment opens a thread on a line of the new side, is by a
// person other than the author, and was acted on: its line has changed since. A deleted account
// (null or "ghost" in the API) does not count, as it may have been the author's or a bot's.
func countsAsRemark(c github.ReviewComment, author string) bool {
	placed := c.Side == "RIGHT" && !c.WholeFile && c.OriginalLine > 0 && c.OriginalCommitID != ""
	bot := c.UserType == "Bot" || strings.HasSuffix(c.User, "[bot]")
	reviewer := c.User != "" && c.User != "ghost" && !bot && !strings.EqualFold(c.User, author)
	return placed && c.ReplyTo == 0 && reviewer && c.Outdated()
}

// noise matches what states no defect of the writer's: hidden comments, code, and what others said.
var noise = pattern.Lazy("(?s)<!--.*?-->|```.*?(?:```|$)|~~~.*?(?:~~~|$)|(?m:^[ \\t]*>[^\n]*$)")

var emptyLine = pattern.Lazy(`\n\s*\n`)

// issueOf returns the first paragraph of a comment that is long enough to name a defect, on one
// line. It goes through guard: people grade the file in an editor, which must not show them
// another text than the judge gets.
func issueOf(body string) string {
	body = strings.ReplaceAll(guard.CutBytes(body, maxBody), "\r\n", "\n")
	for _, text := range emptyLine().Split(noise().ReplaceAllString(body, ""), -1) {
		text = strings.Join(strings.Fields(text), " ")
		if line := guard.Line(text, maxIssue-1); utf8.RuneCountInString(line) >= minIssue {
			return line
		}
	}
	return ""
}
