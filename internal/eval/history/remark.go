package history

import (
	"slices"
	"strings"
	"unicode"
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
		if countsAsRemark(c, author) {
			remarks = append(remarks, remark{c, issueOf(c.Body)})
		}
	}
	remarks = slices.DeleteFunc(remarks, func(r remark) bool { return r.issue == "" })
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
// person other than the author, and was acted on: its line has changed since. A
// deleted account does not count, as it may have been the author's or a bot's.
func countsAsRemark(c github.ReviewComment, author string) bool {
	placed := c.Side == "RIGHT" && !c.WholeFile && c.OriginalLine > 0 && c.OriginalCommitID != ""
	return placed && c.ReplyTo == 0 && isReviewer(c.User, c.UserType, author) && c.Outdated()
}

// isReviewer reports whether an account belongs to a person other than the author. The
// API returns null or "ghost" for a deleted one.
func isReviewer(login, kind, author string) bool {
	bot := kind == "Bot" || strings.HasSuffix(login, "[bot]")
	return login != "" && login != "ghost" && !bot && !strings.EqualFold(login, author)
}

// isApproved reports whether a person approved, and no person made a remark in a review
// or requested changes.
func isApproved(reviews []github.Review, author string) bool {
	approvals := 0
	for _, r := range reviews {
		switch {
		case !isReviewer(r.User, r.UserType, author):
			continue
		case r.State != "APPROVED" && r.State != "COMMENTED" || issueOf(r.Body) != "":
			return false // DISMISSED may have been a request for changes
		case r.State == "APPROVED":
			approvals++
		}
	}
	return approvals > 0
}

var hiddenComment = pattern.Lazy(`(?s)<!--.*?-->`)

// issueOf returns the first meaningful paragraph of a comment, on one line. It goes through
// guard: people grade the file in an editor, which must not show them another text than the
// judge gets.
func issueOf(body string) string {
	body = guard.CutBytes(body, maxBody)
	for _, text := range paragraphs(hiddenComment().ReplaceAllString(body, "")) {
		if line := guard.Line(text, maxIssue-1); utf8.RuneCountInString(line) >= minIssue && !isPraise(line) {
			return line
		}
	}
	return ""
}

// paragraphs returns the paragraphs of a comment's plain text. It skips quoted lines,
// which are somebody else's, and code blocks, which name no defect.
func paragraphs(body string) []string {
	var list []string
	current, fence := "", ""
	for line := range strings.Lines(body + "\n\n") {
		line = strings.TrimSpace(line)
		switch mark := fenceOf(line); {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
			continue
		case mark == "" && line != "" && line[0] != '>':
			current += " " + line
			continue
		default:
			fence = mark
		}
		if current != "" {
			list = append(list, strings.TrimSpace(current))
		}
		current = ""
	}
	return list
}

// fenceOf returns the run of marks that opens or closes a code block, or "" for any
// other line.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if run := line[:len(line)-len(strings.TrimLeft(line, mark))]; len(run) >= 3 {
			return run
		}
	}
	return ""
}

// isPraise reports whether a text consists only of words of thanks and consent.
func isPraise(text string) bool {
	words := strings.Fields("lgtm thanks thank thx you nice great good awesome cool perfect excellent love neat " +
		"clean looks look " +
		"this that is it s to me work job catch idea fix well done very much so for the now really a lot")
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if !slices.Contains(words, word) {
			return false
		}
	}
	return true
}
