package ticketpr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/ticket"
)

// Asked is a ticket as somebody names it.
type Asked struct {
	Key  string // PAY-88, of an issue gh-7: what threads, branches and artifacts are named by
	From string // as sources know it: PAY-88, or owner/repo#7
}

// Issue is the number of an issue of GitHub, 0 of any other ticket.
func (a Asked) Issue() int { return IssueNumber(a.Key) }

// IssueNumber is that of an issue's key, gh-7; 0 of any other key.
func IssueNumber(key string) int {
	digits, _ := strings.CutPrefix(key, "gh-")
	n, _ := strconv.Atoi(digits)
	return n
}

// OfIssue is an issue of GitHub.
func OfIssue(ref pull.Ref) Asked {
	return Asked{Key: fmt.Sprintf("gh-%d", ref.Number), From: fmt.Sprintf("%s#%d", ref.FullName(), ref.Number)}
}

var issueNumber = regexp.MustCompile(`^#?([1-9][0-9]{0,8})$`)

// ParseTicket reads a tracker's key, or an issue of the repository as #7, 7, gh-7 or
// owner/repo#7.
func ParseTicket(text string, of pull.Ref) (Asked, error) {
	text = strings.TrimSpace(text)
	number := text
	if name, digits, long := strings.Cut(text, "#"); long && name != "" {
		if number = "#" + digits; !strings.EqualFold(name, of.FullName()) {
			number = ""
		}
	}
	if digits, short := strings.CutPrefix(strings.ToLower(text), "gh-"); short {
		number = "#" + digits
	}
	if m := issueNumber.FindStringSubmatch(number); m != nil {
		of.Number, _ = strconv.Atoi(m[1])
		return OfIssue(of), nil
	}
	if key := strings.ToUpper(text); ticket.Project(key) != "" {
		return Asked{Key: key, From: key}, nil
	}
	return Asked{}, problem.Usage(fmt.Sprintf("%.100q names no ticket", text),
		"name a key such as PAY-88, or an issue of "+of.FullName()+" such as #7")
}

// ThreadID names the drafts of a ticket at a base commit: owner/repo~PAY-88:<40 hex>.
func ThreadID(of pull.Ref, key, base string) string {
	return fmt.Sprintf("%s~%s:%s", of.FullName(), key, base)
}
