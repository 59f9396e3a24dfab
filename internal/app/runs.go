package app

import (
	"strings"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/pull"
)

// newRuns reads the runs of a pull request's repository.
func newRuns(api *github.Client, ref pull.Ref, event string, files ...string) *handoff.Runs {
	return &handoff.Runs{API: api, Ref: ref, Event: event, Files: files}
}

// workflowFile takes the path out of owner/name/path@ref.
func workflowFile(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	parts := strings.SplitN(ref, "/", 3)
	return parts[len(parts)-1]
}
