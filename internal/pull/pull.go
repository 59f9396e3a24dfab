// Package pull names pull requests and the threads of their reviews.
//
// It defines values and parses names; it does no I/O. Start at Ref and Pull.
package pull

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/pattern"
)

// Pull is a pull request as the API describes it. Title, Body, Author, branch names and labels are
// untrusted text.
type Pull struct {
	Ref
	RepoID        int64     `json:"repo_id"`
	Private       bool      `json:"private,omitempty"`
	Title         string    `json:"title"`
	Body          string    `json:"body,omitempty"`
	Author        string    `json:"author"`
	AuthorBot     bool      `json:"author_bot,omitempty"`
	Association   string    `json:"association,omitempty"` // OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, …
	State         string    `json:"state"`                 // open or closed
	Merged        bool      `json:"merged,omitempty"`
	Draft         bool      `json:"draft,omitempty"`
	Labels        []string  `json:"labels,omitempty"`
	BaseRef       string    `json:"base_ref"`
	BaseSHA       string    `json:"base_sha"`
	HeadRef       string    `json:"head_ref"`
	HeadSHA       string    `json:"head_sha"`
	HeadRepo      string    `json:"head_repo,omitempty"` // owner/name; empty if the fork was deleted
	HeadRepoID    int64     `json:"head_repo_id,omitempty"`
	MergeBase     string    `json:"merge_base,omitempty"` // read only if a blob has to be diffed
	DefaultBranch string    `json:"default_branch,omitempty"`
	ChangedFiles  int       `json:"changed_files"`
	ChangedLines  int       `json:"changed_lines,omitempty"` // added and deleted
	URL           string    `json:"url,omitempty"`
	UpdatedAt     time.Time `json:"updated_at,omitzero"`
}

// Fork reports whether the head is outside the base's repository. A deleted fork counts as a fork.
func (p Pull) Fork() bool { return p.HeadRepoID != p.RepoID }

// Open reports whether a review can still be posted.
func (p Pull) Open() bool { return p.State == "open" }

// DefaultHost is the host of a reference without one.
const DefaultHost = "github.com"

// Ref identifies a pull request.
type Ref struct {
	Scheme string `json:"scheme,omitempty"` // http if the web address has it, otherwise empty for https
	Host   string `json:"host"`             // host[:port] of the web address, github.com by default
	Owner  string `json:"owner"`
	Repo   string `json:"repo"`
	Number int    `json:"number"`
}

// FullName returns owner/repo.
func (r Ref) FullName() string { return r.Owner + "/" + r.Repo }

// Web returns the repository's web address.
func (r Ref) Web() string { return r.Server() + "/" + r.FullName() }

// Server returns the web address of the host.
func (r Ref) Server() string { return cmp.Or(r.Scheme, "https") + "://" + r.Host }

// String returns owner/repo#number.
func (r Ref) String() string { return fmt.Sprintf("%s/%s#%d", r.Owner, r.Repo, r.Number) }

var (
	ownerPattern = pattern.Lazy(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})$`)
	repoPattern  = pattern.Lazy(`^[A-Za-z0-9._-]{1,100}$`)
	shortPattern = pattern.Lazy(`^([^/#\s]+)/([^/#\s]+)#([0-9]+)$`)
)

// ParseRepository parses owner/repo.
func ParseRepository(s string) (owner, repo string, err error) {
	owner, repo, ok := strings.Cut(s, "/")
	if !ok || !ownerPattern().MatchString(owner) || !repoPattern().MatchString(repo) || repo == "." || repo == ".." {
		return "", "", fmt.Errorf("%q is not a repository's owner/name", s)
	}
	return owner, repo, nil
}

// ParseRef parses owner/repo#number or the web address of a pull request
// (https://host/owner/repo/pull/number, and anything after it).
func ParseRef(s string) (Ref, error) {
	scheme, host, path, number := "", DefaultHost, "", ""
	if m := shortPattern().FindStringSubmatch(s); m != nil {
		path, number = m[1]+"/"+m[2], m[3]
	} else {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			return Ref{}, fmt.Errorf("%q is neither owner/repo#number nor a pull request's address", s)
		}
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if len(parts) < 4 || parts[2] != "pull" && parts[2] != "pulls" {
			return Ref{}, fmt.Errorf("%q is not a pull request's address: expected https://%s/owner/repo/pull/number",
				s, u.Host)
		}
		host, path, number = strings.TrimPrefix(strings.ToLower(u.Host), "www."), parts[0]+"/"+parts[1], parts[3]
		if u.Scheme == "http" && host != DefaultHost {
			scheme = u.Scheme
		}
	}
	owner, repo, err := ParseRepository(path)
	if err != nil {
		return Ref{}, err
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n == 0 {
		return Ref{}, fmt.Errorf("%q: %q is not a pull request's number", s, number)
	}
	return Ref{Scheme: scheme, Host: host, Owner: owner, Repo: repo, Number: int(n)}, nil
}

// On returns the reference with the server of a web address, such as GITHUB_SERVER_URL. An invalid
// address changes nothing.
func (r Ref) On(server string) Ref {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return r
	}
	r.Scheme, r.Host = "", strings.ToLower(u.Host)
	if u.Scheme == "http" {
		r.Scheme = u.Scheme
	}
	return r
}

// LooksLikeRef reports whether a review argument means a pull request and not a file or a range:
// it has a scheme, or the form owner/repo#number.
func LooksLikeRef(s string) bool {
	return strings.Contains(s, "://") || shortPattern().MatchString(s)
}

var instancePattern = pattern.Lazy(`^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$`)

var partialPattern = pattern.Lazy(`(^|-)partial-[0-9]+$`)

// CheckInstance returns an error for an instance that is not a slug (lower-case letters, digits
// and inner dashes, at most 32), or that would make a draft's name look like a partial
// checkpoint's. The empty instance is valid.
func CheckInstance(slug string) error {
	if partialPattern().MatchString(slug) {
		return fmt.Errorf("%q ends like the name of a partial checkpoint", slug)
	}
	if slug != "" && !instancePattern().MatchString(slug) {
		return fmt.Errorf("%q is not a slug of at most 32 lower-case letters, digits and inner dashes", slug)
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
