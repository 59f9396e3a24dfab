package ticketcontext

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// Commenter comments on tickets. Its errors are *atlassian.Failure.
type Commenter interface {
	// Mentions reports whether a comment on a ticket contains a text.
	Mentions(ctx context.Context, key, text string) (bool, error)
	// Comment posts text and an address under a ticket, with one request.
	Comment(ctx context.Context, key, text, address string) error
}

// Comment posts text with an address under a ticket, unless a comment there contains the address already. Only the
// first source that can comment on it is asked: if the answer is lost, the comment is looked for, and never sent
// again. said is false if it was there before. A key of a project that the settings do not list is refused.
func Comment(ctx context.Context, key, text, address string, o Options) (said bool, err error) {
	if err := o.checkProject(key); err != nil {
		return false, err
	}
	issue := strings.Contains(key, "#")
	var lacks []string
	for _, s := range o.Sources {
		switch {
		case s.Comments == nil || s.Issues != issue:
		case s.Lacks != "":
			lacks = append(lacks, s.Title+": "+s.Lacks)
		default:
			return s.comment(ctx, key, text, address, o)
		}
	}
	where := "no source under context.sources can comment on it"
	if len(lacks) > 0 {
		where = strings.Join(lacks, "; ")
	}
	return false, problem.Usage("nobody can be asked to comment on "+key,
		"name a source that can: jira, mcp with comment, or issues: github; with its variables set in this job",
		problem.At(where))
}

func (s Source) comment(ctx context.Context, key, text, address string, o Options) (said bool, err error) {
	if s.Close != nil {
		defer s.Close()
	}
	there := false
	look := func(ctx context.Context) (err error) {
		there, err = s.Comments.Mentions(ctx, key, address)
		return err
	}
	if failed := o.retry(ctx, look); failed != nil || there {
		return false, s.problem(failed, key, "was not asked for a comment")
	}
	failed := o.once(ctx, func(ctx context.Context) error { return s.Comments.Comment(ctx, key, text, address) })
	if failed == nil {
		return true, nil
	}
	if lost := o.retry(ctx, look); lost == nil && there {
		return true, nil
	}
	return false, s.problem(failed, key, "may not have taken the comment")
}

// problem returns the error of a failed comment; nil for no failure.
func (s Source) problem(f *atlassian.Failure, key, what string) error {
	if f == nil {
		return nil
	}
	next := "re-run the job: it looks for the comment before it makes one"
	var refused *transport.StatusError
	if errors.As(f.Err, &refused) && refused.Code < http.StatusInternalServerError && !refused.Limited {
		next = "see that it may comment there (an issue needs the job's permission issues: write), then " + next
	}
	return problem.New(fmt.Sprintf("%s %s on %s", s.Title, what, key), failureSentence(s, f, key), next)
}
