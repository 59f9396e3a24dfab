package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
)

// Bounds of what is told of a discussion.
const (
	maxRemark     = 1500 // characters of one text
	maxDiscussion = 40 << 10
)

// The parts of a pull request's discussion. Reviews are those and the comments on the diff.
const (
	Commits  = "commits"
	Comments = "comments"
	Reviews  = "reviews"
)

// Discussion tells the first page of what the author and others say about a pull
// request, for steps that may see it: the review of a file must not, since the author's
// framing costs findings (D2). Every text stands behind who said it and when, each of
// its lines behind "| ", so that no text can pass for another's, and free of the
// redactor's values too.
func Discussion(ctx context.Context, api *github.Client, ref pull.Ref, part string,
	own *secret.Redactor) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, DefaultTime)
	defer cancel()
	said := ""
	read := func(kind string, page func(context.Context, pull.Ref, int) ([]github.Remark, bool, error)) error {
		remarks, more, err := page(ctx, ref, 1)
		said += told(kind, remarks, more)
		return err
	}
	var err error
	switch part {
	case Commits:
		err = read("commit", api.Commits)
	case Comments:
		err = read("comment", api.Comments)
	default:
		if err = read("review", api.ReviewPage); err == nil {
			err = read("comment on the diff", api.ReviewCommentPage)
		}
	}
	text, _ := Set{redact: own}.fit(said, maxDiscussion)
	return text, err
}

// told writes a page of remarks.
func told(kind string, remarks []github.Remark, more bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%ss, page 1: %d\n", kind, len(remarks))
	for _, r := range remarks {
		b.WriteString(entry(kind, r))
	}
	if more {
		fmt.Fprintf(&b, "more %ss follow on page 2\n", kind)
	}
	return b.String()
}

// entry is one remark behind its head.
func entry(head string, r github.Remark) string {
	if r.SHA != "" {
		head += " " + r.SHA[:min(len(r.SHA), 12)]
	} else if r.ID != 0 {
		head += fmt.Sprintf(" %d", r.ID)
	}
	if r.ReplyTo != 0 {
		head += fmt.Sprintf(" (answers %d)", r.ReplyTo)
	}
	head += " by " + speaker(r)
	if !r.At.IsZero() {
		head += " at " + r.At.UTC().Format(time.RFC3339)
	}
	if r.State != "" {
		head += ", " + guard.Line(strings.ToLower(r.State), 30)
	}
	if r.Path != "" {
		head += fmt.Sprintf(", on %q line %d", guard.Line(r.Path, maxShown), r.Line)
	}
	return head + "\n" + barred(r.Body, maxRemark)
}

func speaker(r github.Remark) string {
	name := guard.Line(secret.Redact(r.User), 60)
	if name == "" {
		name = "a deleted account"
	}
	var is []string
	if r.Association != "" && r.Association != "NONE" {
		is = append(is, guard.Line(strings.ToLower(r.Association), 30))
	}
	if r.UserType == "Bot" {
		is = append(is, "bot")
	}
	if is == nil {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, strings.Join(is, ", "))
}
