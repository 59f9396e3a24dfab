package githubtest

import (
	"net/http"
	"strconv"
	"time"
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
