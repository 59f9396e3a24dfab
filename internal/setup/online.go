package setup

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// Check is one thing that was looked at.
type Check struct {
	What  string `json:"what"`
	State string `json:"state"` // ok, no, or unseen
	Found string `json:"found"` // in words
	Next  string `json:"next"`  // what to do about it, or empty
}

// The states of a check.
const (
	ok     = "ok"
	no     = "no"
	unseen = "unseen"
)

// PrintChecks prints a line for each check, and what to do about those that say no.
func PrintChecks(front *driver.Front, all []Check) {
	for _, k := range all {
		hanging(front.Stdout, k.State, 8, k.What+": "+k.Found)
		if k.Next != "" && k.State != ok {
			hanging(front.Stdout, "        next", 14, k.Next)
		}
	}
}

// Failed is the error of checks that say no, nil where none does.
func Failed(all []Check) error {
	bad := slices.IndexFunc(all, func(k Check) bool { return k.State == no })
	if bad < 0 {
		return nil
	}
	return driver.Reported{Err: problem.Usage(all[bad].What+": "+all[bad].Found, all[bad].Next)}
}

// Online asks the models that the settings name for a tiny answer, where there is a key
// or an address to ask.
func Online(ctx context.Context, front *driver.Front, s settings.Settings, c config.Config) []Check {
	answered, err := front.Try(ctx, c, s)
	switch {
	case err != nil:
		return []Check{{"model", no, driver.Gist(err), next(err)}}
	case answered == nil:
		return []Check{{"model", unseen, "there is no key here to ask with (OPENAI_API_KEY)", ""}}
	}
	var all []Check
	for _, name := range slices.Sorted(maps.Keys(answered)) {
		k := Check{"model " + guard.Line(name, 100), ok, "answers", ""}
		if err := answered[name]; err != nil {
			k.State, k.Found = no, driver.Gist(err)
			k.Next = cmp.Or(next(err), "see that the server runs, and that base-url is its address")
		}
		all = append(all, k)
	}
	return all
}

// Token tells what the token here may do in the repository that the clone around the
// working folder came from: read it, and post reviews, as far as GitHub shows that.
func Token(ctx context.Context, front *driver.Front, s settings.Settings) Check {
	k := Check{"token", unseen, "", ""}
	ref, err := ingest.Origin(ctx, ".")
	if err != nil {
		k.Found = "this folder is no clone of a repository that it could be tried on"
		return k
	}
	api, err := front.GitHub(ref, s)
	if err == nil && !api.Authorized() {
		k.Found = "there is none (GITHUB_TOKEN, such as $(gh auth token))"
		return k
	}
	k.What = "token for " + ref.FullName()
	var known, posts bool
	if err == nil {
		known, posts, err = api.CanWritePulls(transport.Brief(ctx, lookTime), ref.Owner, ref.Repo)
	}
	switch {
	case err != nil:
		k.State, k.Found = no, driver.Gist(err)
		k.Next = cmp.Or(next(err), "see that this machine reaches GitHub (HTTPS_PROXY), and run it again")
	case !known:
		k.State, k.Found = ok, "may read it; whether it may post reviews, only posting tells"
	case !posts:
		k.State, k.Found = ok, "may read it, and not post reviews: a workflow posts with its own token"
	default:
		k.State, k.Found = ok, "may read it and post reviews"
	}
	return k
}
