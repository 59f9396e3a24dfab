package githubtest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/actions"
	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
	"github.com/org/pr-review-action/internal/githubtest/site"
)

// What tests name of the rooms below.
type (
	Tree        = memgit.Tree
	File        = memgit.File
	Fault       = fakehttp.Fault
	Request     = fakehttp.Request
	Settings    = site.Settings
	RepoOptions = site.RepoOptions
	Run         = actions.Run
	RunOptions  = actions.RunOptions
	Artifact    = actions.Artifact
	Environment = actions.Environment
)

// Link is the content of a file of a Tree that is a symbolic link.
func Link(target string) string { return memgit.Link(target) }

// Short names of what every handler takes and returns.
type (
	answer = fakehttp.Answer
	object = fakehttp.Object
	call   = site.Call
)

// RateLimited is GitHub's answer to a token whose hourly limit is used up.
func RateLimited(reset time.Time) Fault {
	return Fault{
		Status: http.StatusForbidden,
		Headers: map[string]string{"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0",
			"x-ratelimit-reset": strconv.FormatInt(reset.Unix(), 10), "x-ratelimit-resource": "core"},
		Body: `{"message":"API rate limit exceeded for installation ID 1."` +
			`,"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api","status":"403"}`,
	}
}

// SecondaryLimit is GitHub's answer to too many requests at a time.
func SecondaryLimit(status int, retryAfter time.Duration) Fault {
	return Fault{
		Status:  status,
		Headers: map[string]string{"retry-after": strconv.Itoa(int(retryAfter.Seconds()))},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try` +
			` again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api` +
			`#about-secondary-rate-limits"}`,
	}
}
