package apply

import (
	"context"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/pull"
)

// Issues comments on issues of GitHub, by their keys owner/repo#7.
type Issues struct{ API *github.Client }

// Mentions reports whether a comment on an issue holds a text. Errors are
// *atlassian.Failure.
func (i Issues) Mentions(ctx context.Context, key, text string) (bool, error) {
	ref, err := issue(key)
	if err == nil {
		var there bool
		if _, there, err = i.API.Said(ctx, ref, text); err == nil {
			return there, nil
		}
	}
	return false, failure(err, key)
}

// Comment says text and an address under an issue. Errors are *atlassian.Failure.
func (i Issues) Comment(ctx context.Context, key, text, address string) error {
	ref, err := issue(key)
	if err == nil {
		if _, err = write.New(i.API).Comment(ctx, ref, text+" "+address); err == nil {
			return nil
		}
	}
	return failure(err, key)
}

// failure is one that asking again does not help: the client of GitHub has done so.
func failure(err error, key string) error {
	failed := atlassian.Explain(err, key, "the GitHub token")
	failed.Temporary = false
	return failed
}

func issue(key string) (pull.Ref, error) {
	name, digits, _ := strings.Cut(key, "#")
	owner, repo, err := pull.ParseRepository(name)
	if err != nil {
		return pull.Ref{}, err
	}
	number, err := strconv.Atoi(digits)
	return pull.Ref{Owner: owner, Repo: repo, Number: number}, err
}
