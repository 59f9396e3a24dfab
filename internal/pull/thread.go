package pull

import (
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

var instancePattern = pattern.Lazy(`^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$`)

var partialPattern = pattern.Lazy(`(^|-)partial-[0-9]+$`)

// CheckInstance refuses an instance that is not a slug: lower-case letters,
// digits and inner dashes, at most 32, or that would make a draft's name read as
// a partial checkpoint's. The empty instance is the usual one.
func CheckInstance(slug string) error {
	if partialPattern().MatchString(slug) {
		return fmt.Errorf("instance %q ends like the name of a partial checkpoint", slug)
	}
	if slug != "" && !instancePattern().MatchString(slug) {
		return fmt.Errorf("instance %q is not a slug of at most 32 lower-case letters, digits and inner dashes", slug)
	}
	return nil
}

// ThreadID names the run of a review over a pull request's head:
// owner/repo#42:<head>, or owner/repo#42@instance:<head>.
func ThreadID(ref Ref, instance, head string) string {
	if instance != "" {
		instance = "@" + instance
	}
	return ref.String() + instance + ":" + head
}

var pullThread = pattern.Lazy(`^([^\s/#@:~]+/[^\s/#@:~]+#[0-9]+)(?:@([a-z0-9-]+))?:[0-9a-f]{7,}$`)

// OfThread gives pull request and instance of a thread id as typed, its last part possibly
// abbreviated; false where the thread is of no pull request.
func OfThread(typed string) (ref, instance string, ok bool) {
	m := pullThread().FindStringSubmatch(typed)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// MinPrefix is the shortest abbreviation of a thread id's last part.
const MinPrefix = 7

// MatchThread reports whether a thread id as typed (its last part possibly
// abbreviated to MinPrefix characters or more) means the given one.
func MatchThread(typed, id string) bool {
	if typed == id {
		return true
	}
	i := strings.LastIndexByte(typed, ':')
	return i >= 0 && len(typed)-i-1 >= MinPrefix && strings.HasPrefix(id, typed) && strings.LastIndexByte(id, ':') == i
}
