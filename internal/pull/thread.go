package pull

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

var instancePattern = pattern.Lazy(`^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$`)

var partialPattern = pattern.Lazy(`(^|-)partial-[0-9]+$`)

// CheckInstance returns an error for an instance that is not a slug (lower-case letters, digits
// and inner dashes, at most 32), or that would make a draft's name look like a partial
// checkpoint's. The empty instance is valid.
func CheckInstance(slug string) error {
	if partialPattern().MatchString(slug) {
		return fmt.Errorf("instance %q ends like the name of a partial checkpoint", slug)
	}
	if slug != "" && !instancePattern().MatchString(slug) {
		return fmt.Errorf("instance %q is not a slug of at most 32 lower-case letters, digits and inner dashes", slug)
	}
	return nil
}

// ThreadID returns the id of a review's thread for a pull request's head: owner/repo#42:<head>, or
// owner/repo#42@instance:<head>.
func ThreadID(ref Ref, instance, head string) string {
	if instance != "" {
		instance = "@" + instance
	}
	return ref.String() + instance + ":" + head
}

var pullThreadPattern = pattern.Lazy(`^([^\s/#@:~]+/[^\s/#@:~]+#[0-9]+)(?:@([a-z0-9-]+))?:[0-9a-f]{7,}$`)

// OfThread returns the pull request and the instance of a thread id as typed, whose last part may
// be abbreviated. ok is false if the thread does not belong to a pull request.
func OfThread(typed string) (ref, instance string, ok bool) {
	m := pullThreadPattern().FindStringSubmatch(typed)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// MinPrefix is the shortest abbreviation of a thread id's last part.
const MinPrefix = 7

// MatchThread reports whether a thread id as typed, its last part possibly abbreviated to
// MinPrefix characters or more, matches id. Names on GitHub match in any letter case.
func MatchThread(typed, id string) bool {
	about, last := cutThread(typed)
	of, whole := cutThread(id)
	return typed == id || len(last) >= MinPrefix && strings.HasPrefix(whole, last) &&
		(about == of || SameSubject(about, of))
}

// SameSubject reports whether two names of pull requests or tickets on GitHub differ in their letter case at most.
func SameSubject(a, b string) bool { return strings.EqualFold(a, b) && !strings.HasPrefix(b, "local/") }

func cutThread(id string) (about, last string) {
	i := strings.LastIndexByte(id, ':')
	return id[:max(0, i)], id[i+1:]
}
