package handoff

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
)

// Names makes and reads the names of one graph's artifacts. It is what they all begin
// with, "pr-review-" for reviews of pull requests: subjects of two kinds may have one
// number.
type Names string

// Name is what an artifact's name says. Partial is the number of a partial
// checkpoint, 0 of a draft. It is a claim: who may upload may name.
type Name struct {
	Number   int
	Key      string // of a subject without a number, such as PAY-88
	Instance string
	Partial  int
	Code     string
}

// Of reports whether the name is of a subject's draft, as far as a name can tell.
func (n Name) Of(s checkpoint.Subject) bool {
	return n.Number == s.Number && strings.EqualFold(n.Key, s.Key) && n.Instance == s.Instance
}

// Draft is the name under which a draft is kept: 42-3f9c2a71be04d855 or
// 42-docs-3f9c2a71be04d855, or of a ticket PAY-88-3f9c2a71be04d855, behind the prefix. Of
// a digest its code is taken.
func (p Names) Draft(s checkpoint.Subject, digest string) string {
	return p.Partial(s, 0, digest)
}

// Partial is the name under which the n-th state of a run under way is kept, n from
// 1: 42-partial-3-3f9c2a71be04d855 behind the prefix.
func (p Names) Partial(s checkpoint.Subject, n int, digest string) string {
	return p.String(Name{s.Number, s.Key, s.Instance, n, checkpoint.Code(digest)})
}

// String is an artifact's name, which Parse reads.
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

// Decision is the name under which the decision on a draft is kept.
func (p Names) Decision(code string) string { return string(p) + "decision-" + code }

// The instance is the shortest that fits, so that "partial-3" is never part of it.
var namePattern = regexp.MustCompile(
	`^(?:([1-9][0-9]{0,8})|([A-Za-z][A-Za-z0-9_]{0,49}-[0-9a-f]{1,9}))-(?:([a-z0-9](?:[a-z0-9-]{0` +
		`,30}?[a-z0-9])??)-)??` +
		`(?:partial-([1-9][0-9]{0,8})-)?([0-9a-f]{16})$`)

// Parse reads the name of a draft's or a partial checkpoint's artifact.
func (p Names) Parse(name string) (Name, bool) {
	rest, ours := strings.CutPrefix(name, string(p))
	m := namePattern.FindStringSubmatch(rest)
	if !ours || m == nil {
		return Name{}, false
	}
	n := Name{Key: m[2], Instance: m[3], Code: m[5]}
	n.Number, _ = strconv.Atoi(m[1]) // at most nine digits, or none
	n.Partial, _ = strconv.Atoi(m[4])
	return n, true
}
