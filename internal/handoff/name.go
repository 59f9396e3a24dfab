package handoff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/pattern"
)

// Names formats and parses the artifact names of one graph. Its value is their common
// prefix, "pr-review-" for reviews of pull requests: two kinds of subject may share a
// number.
type Names string

// Name holds the parts of an artifact's name. Partial is the number of a partial checkpoint,
// 0 for a draft. A name is only a claim: whoever uploads an artifact chooses it.
type Name struct {
	Number   int
	Key      string // key of a subject without a number, such as PAY-88
	Instance string
	Partial  int
	Code     string
}

// Of reports whether the name can belong to a draft of the subject.
func (n Name) Of(s checkpoint.Subject) bool {
	return n.Number == s.Number && strings.EqualFold(n.Key, s.Key) && n.Instance == s.Instance
}

// Draft returns the name of a draft: 42-3f9c2a71be04d855, 42-docs-3f9c2a71be04d855 or,
// for a ticket, PAY-88-3f9c2a71be04d855, after the prefix. A full digest is shortened to
// its code.
func (p Names) Draft(s checkpoint.Subject, digest string) string {
	return p.Partial(s, 0, digest)
}

// Partial returns the name of the n-th partial checkpoint, n from 1:
// 42-partial-3-3f9c2a71be04d855 after the prefix.
func (p Names) Partial(s checkpoint.Subject, n int, digest string) string {
	return p.String(Name{s.Number, s.Key, s.Instance, n, checkpoint.Code(digest)})
}

// String returns an artifact's name in the form that Parse reads.
func (p Names) String(n Name) string {
	middle := n.Instance
	if middle != "" {
		middle += "-"
	}
	if n.Partial > 0 {
		middle += fmt.Sprintf("partial-%d-", n.Partial)
	}
	about := n.Key
	if about == "" {
		about = strconv.Itoa(n.Number)
	}
	return fmt.Sprintf("%s%s-%s%s", p, about, middle, n.Code)
}

// Decision returns the name of the decision on a draft.
func (p Names) Decision(code string) string { return string(p) + "decision-" + code }

// The instance matches as little as possible, so that it never includes "partial-3".
var namePattern = pattern.Lazy(
	`^(?:([1-9][0-9]{0,8})|([A-Za-z][A-Za-z0-9_]{0,49}-[0-9a-f]{1,9}))-(?:([a-z0-9](?:[a-z0-9-]{0` +
		`,30}?[a-z0-9])??)-)??` +
		`(?:partial-([1-9][0-9]{0,8})-)?([0-9a-f]{16})$`)

// Parse parses the artifact name of a draft or a partial checkpoint.
func (p Names) Parse(name string) (Name, bool) {
	rest, ours := strings.CutPrefix(name, string(p))
	m := namePattern().FindStringSubmatch(rest)
	if !ours || m == nil {
		return Name{}, false
	}
	n := Name{Key: m[2], Instance: m[3], Code: m[5]}
	n.Number, _ = strconv.Atoi(m[1]) // at most nine digits, or none
	n.Partial, _ = strconv.Atoi(m[4])
	return n, true
}
