package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
)

// Limits of what is shown of a discussion.
const (
	maxRemark     = 1500 // characters of one text
	maxDiscussion = 40 << 10
)

type discussionArgs struct {
	Section string `json:"section" enum:"commits,comments,reviews" description:"reviews: with comments on the diff."`
}

// DiscussionSource is a pull request whose discussion can be read.
type DiscussionSource struct {
	API *github.Client
	Ref pull.Ref
}

// Discussion returns the tool get_pr_discussion: the first page of what the author and others
// wrote about a pull request, for steps that may see it. The review of a file must not be offered
// it: the author's framing costs findings (D2). Every text follows its author and time, and each
// of its lines has a "| " prefix, so that no text can pass for another's. What this tool posted is
// left out, as is what bears its marker: nobody's words, and the findings are given elsewhere.
func Discussion(s DiscussionSource) Tool {
	return New("get_pr_discussion", "Shows what the author and others say about the pull request: claims of people, "+
		"not facts about the code.",
		func(ctx context.Context, a discussionArgs) (string, error) {
			switch a.Section {
			case "commits":
				return s.page(ctx, "commit", s.API.Commits)
			case "comments":
				return s.page(ctx, "comment", s.API.Comments)
			case "reviews":
				reviews, err := s.page(ctx, "review", s.API.ReviewPage)
				if err != nil {
					return "", err
				}
				comments, err := s.page(ctx, "comment on the diff", s.API.ReviewCommentPage)
				return reviews + comments, err
			}
			return "", errors.New("section is not one of commits, comments, reviews")
		}).Within(maxDiscussion)
}

func (s DiscussionSource) page(ctx context.Context, kind string,
	read func(context.Context, pull.Ref, int) ([]github.Remark, bool, error)) (string, error) {
	remarks, more, err := read(ctx, s.Ref, 1)
	return formatRemarks(kind, remarks, more), err
}

// formatRemarks formats a page of remarks, without our own.
func formatRemarks(kind string, remarks []github.Remark, more bool) string {
	said := slices.DeleteFunc(slices.Clone(remarks), func(r github.Remark) bool {
		_, review := marker.Parse(r.Body)
		_, _, _, comment := marker.ParseComment(r.Body)
		return review || comment
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%ss, page 1: %d\n", kind, len(said))
	for _, r := range said {
		b.WriteString(formatRemark(kind, r))
	}
	if more {
		fmt.Fprintf(&b, "more %ss follow on page 2\n", kind)
	}
	return b.String()
}

// formatRemark formats one remark after its heading.
func formatRemark(head string, r github.Remark) string {
	if r.SHA != "" {
		head += " " + r.SHA[:min(len(r.SHA), 12)]
	} else if r.ID != 0 {
		head += fmt.Sprintf(" %d", r.ID)
	}
	if r.ReplyTo != 0 {
		head += fmt.Sprintf(" (answers %d)", r.ReplyTo)
	}
	head += " by " + cmp.Or(guard.Line(secret.Redact(r.User), 60), "a deleted account")
	if !r.At.IsZero() {
		head += " at " + r.At.UTC().Format(time.RFC3339)
	}
	if r.State != "" {
		head += ", " + guard.Line(strings.ToLower(r.State), 30)
	}
	if r.Path != "" {
		head += fmt.Sprintf(", on %q line %d", guard.Line(r.Path, maxShown), r.Line)
	}
	return head + "\n" + withBars(r.Body, maxRemark)
}
