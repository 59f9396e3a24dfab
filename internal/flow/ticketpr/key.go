package ticketpr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
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

var (
	trackersKey = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,49}-[1-9][0-9]{0,8}$`)
	issueNumber = regexp.MustCompile(`^#?([1-9][0-9]{0,8})$`)
)

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
	m := issueNumber.FindStringSubmatch(number)
	switch {
	case m != nil:
		return Asked{Key: "gh-" + m[1], From: of.FullName() + "#" + m[1]}, nil
	case trackersKey.MatchString(strings.ToUpper(text)):
		key := strings.ToUpper(text)
		return Asked{Key: key, From: key}, nil
	}
	return Asked{}, problem.Usage(fmt.Sprintf("%.100q names no ticket", text),
		"name a key such as PAY-88, or an issue of "+of.FullName()+" such as #7")
}

// ThreadID names the drafts of a ticket at a base commit: owner/repo~PAY-88:<40 hex>.
func ThreadID(of pull.Ref, key, base string) string {
	return fmt.Sprintf("%s~%s:%s", of.FullName(), key, base)
}
