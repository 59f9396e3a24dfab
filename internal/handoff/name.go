package handoff

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/org/pr-review-action/internal/checkpoint"
)

// Name is what an artifact's name says. Partial is the number of a partial
// checkpoint, 0 of a draft. It is a claim: who may upload may name.
type Name struct {
	Number   int
	Instance string
	Partial  int
	Code     string
}

// Of reports whether the name is of a subject's draft, as far as a name can tell.
func (n Name) Of(s checkpoint.Subject) bool { return n.Number == s.Number && n.Instance == s.Instance }

// String is the artifact's name, which ParseName reads.
func (n Name) String() string {
	if n.Partial > 0 {
		return PartialName(n.Number, n.Instance, n.Partial, n.Code)
	}
	return ArtifactName(n.Number, n.Instance, n.Code)
}

// ArtifactName is the name under which a draft is kept:
// pr-review-42-3f9c2a71be04d855, or pr-review-42-docs-3f9c2a71be04d855.
func ArtifactName(number int, instance, code string) string {
	if instance != "" {
		instance += "-"
	}
	return fmt.Sprintf("pr-review-%d-%s%s", number, instance, code)
}

// PartialName is the name under which the n-th state of a run under way is
// kept, n from 1: pr-review-42-partial-3-3f9c2a71be04d855.
func PartialName(number int, instance string, n int, digest string) string {
	if instance != "" {
		instance += "-"
	}
	return ArtifactName(number, fmt.Sprintf("%spartial-%d", instance, n), checkpoint.Code(digest))
}

// DecisionArtifactName is the name under which the decision on a draft is kept.
func DecisionArtifactName(code string) string { return "pr-review-decision-" + code }

// The instance is the shortest that fits, so that "partial-3" is never part of it.
var namePattern = regexp.MustCompile(
	`^pr-review-([1-9][0-9]{0,8})-(?:([a-z0-9](?:[a-z0-9-]{0,30}?[a-z0-9])??)-)??(?:partial-([1-9][0-9]{0,8})-)?([0-9a-f]{16})$`)

// ParseName reads the name of a draft's or a partial checkpoint's artifact.
func ParseName(name string) (Name, bool) {
	m := namePattern.FindStringSubmatch(name)
	if m == nil {
		return Name{}, false
	}
	n := Name{Instance: m[2], Code: m[4]}
	n.Number, _ = strconv.Atoi(m[1]) // at most nine digits, or none
	n.Partial, _ = strconv.Atoi(m[3])
	return n, true
}
