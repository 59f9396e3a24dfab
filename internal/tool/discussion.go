package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
)

// Bounds of what get_pr_discussion shows.
const (
	maxRemark     = 1500 // characters of one text; of a description and an issue maxBody
	maxBody       = 8000
	maxIssues     = 5 // linked issues that are read
	maxDiscussion = 40 << 10
)

type discussionArgs struct {
	Section string `json:"section" enum:"description,commits,comments,reviews,issues" description:"description: title and text of the pull request. commits: their messages. comments: the conversation. reviews: reviews and comments on the diff. issues: the issues that the description names."`
	Page    int    `json:"page" description:"Page of the section, counted from 1. A result says whether others follow."`
}

// DiscussionSource is a pull request whose discussion can be read.
type DiscussionSource struct {
	API *github.Client
	Ref pull.Ref
	// Ours tells our own earlier reviews, by marker and account; nil knows none.
	Ours func(github.Review) bool
}

// Discussion is the tool get_pr_discussion: what the author and others say about a
// pull request, for steps that may see it. The review of a file must not be
// offered it: the author's framing costs findings (D2). Every text stands behind
// who said it and when, each of its lines behind "| ", so that no text can pass
// for another's. Of linked issues only those of the same repository are read:
// the token may see others, and a description is not to choose what they tell.
func Discussion(s DiscussionSource) Tool {
	return New("get_pr_discussion", "Shows what the author and others say about the pull request: claims of people, "+
		"not facts about the code.",
		func(ctx context.Context, a discussionArgs) (string, error) {
			page := max(a.Page, 1)
			switch a.Section {
			case "description":
				return s.description(ctx)
			case "commits":
				remarks, more, err := s.API.Commits(ctx, s.Ref, page)
				return told("commit", remarks, page, more, nil), err
			case "comments":
				remarks, more, err := s.API.Comments(ctx, s.Ref, page)
				return told("comment", remarks, page, more, nil), err
			case "reviews":
				return s.reviews(ctx, page)
			case "issues":
				return s.issues(ctx)
			}
			return "", errors.New("section is none of description, commits, comments, reviews, issues")
		}).Within(Limits{Bytes: maxDiscussion})
}

// description reads the pull request as the issue that it is too, which says when
// it was opened.
func (s DiscussionSource) description(ctx context.Context) (string, error) {
	r, err := s.API.Issue(ctx, s.Ref.Owner, s.Ref.Repo, s.Ref.Number)
	return entry("description", r, maxBody, false), err
}

// reviews shows a page of reviews and the same page of comments on the diff.
func (s DiscussionSource) reviews(ctx context.Context, page int) (string, error) {
	reviews, moreReviews, err := s.API.ReviewPage(ctx, s.Ref, page)
	if err != nil {
		return "", err
	}
	comments, moreComments, err := s.API.ReviewCommentPage(ctx, s.Ref, page)
	if err != nil {
		return "", err
	}
	ours, err := s.ours(ctx)
	if err != nil {
		return "", err
	}
	return told("review", reviews, page, moreReviews, ours) +
		told("comment on the diff", comments, page, moreComments, ours), nil
}

// ours lists the ids of our own reviews, of all pages: a comment on the diff may
// be of one that stands on another page.
func (s DiscussionSource) ours(ctx context.Context) ([]int64, error) {
	if s.Ours == nil {
		return nil, nil
	}
	all, err := s.API.Reviews(ctx, s.Ref)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, r := range all {
		if s.Ours(r) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

func (s DiscussionSource) issues(ctx context.Context) (string, error) {
	described, err := s.API.Issue(ctx, s.Ref.Owner, s.Ref.Repo, s.Ref.Number)
	if err != nil {
		return "", err
	}
	numbers := linked(s.Ref, described.Title+"\n"+described.Body)
	var b strings.Builder
	for _, n := range numbers[:min(len(numbers), maxIssues)] {
		issue, err := s.API.Issue(ctx, s.Ref.Owner, s.Ref.Repo, n)
		switch {
		case errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrExpired):
			fmt.Fprintf(&b, "issue #%d: not there\n", n)
		case err != nil:
			return "", err
		default:
			b.WriteString(entry(fmt.Sprintf("issue #%d", n), issue, maxBody, false))
		}
	}
	switch {
	case len(numbers) == 0:
		return "the description names no issue of this repository\n", nil
	case len(numbers) > maxIssues:
		fmt.Fprintf(&b, "%d more that it names are not shown\n", len(numbers)-maxIssues)
	}
	return b.String(), nil
}

// reference matches #12, owner/repo#12 and the address of an issue.
var reference = regexp.MustCompile(`(?:https?://([^/\s]+)/)?(?:([\w.-]+/[\w.-]+))?(?:#|/issues/)([1-9][0-9]{0,8})\b`)

// linked lists the issues of the pull request's own repository that a text names,
// in the order of the text.
func linked(p pull.Ref, text string) []int {
	var numbers []int
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if m[1] != "" && !strings.EqualFold(m[1], p.Host) || m[2] != "" &&
			!strings.EqualFold(m[2], p.Owner+"/"+p.Repo) {
			continue
		}
		n, err := strconv.Atoi(m[3])
		if err == nil && n != p.Number && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// told writes a page of remarks, those of our own reviews marked.
func told(kind string, remarks []github.Remark, page int, more bool, ours []int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%ss, page %d: %d\n", kind, page, len(remarks))
	for _, r := range remarks {
		id := r.ID
		if r.Review != 0 {
			id = r.Review
		}
		b.WriteString(entry(kind, r, maxRemark, id != 0 && slices.Contains(ours, id)))
	}
	if more {
		fmt.Fprintf(&b, "more %ss follow on page %d\n", kind, page+1)
	}
	return b.String()
}

// entry is one remark behind its head.
func entry(kind string, r github.Remark, max int, ours bool) string {
	head := kind
	if r.SHA != "" {
		head += " " + r.SHA[:min(len(r.SHA), 12)]
	} else if r.ID != 0 && r.Title == "" {
		head += fmt.Sprintf(" %d", r.ID)
	}
	if r.ReplyTo != 0 {
		head += fmt.Sprintf(" (answers %d)", r.ReplyTo)
	}
	head += " by " + speaker(r, ours)
	if !r.At.IsZero() {
		head += " at " + r.At.UTC().Format(time.RFC3339)
	}
	if r.State != "" {
		head += ", " + guard.Line(strings.ToLower(r.State), 30)
	}
	if r.Path != "" {
		head += fmt.Sprintf(", on %q line %d", guard.Line(r.Path, maxShown), r.Line)
	}
	text := r.Body
	if r.Title != "" {
		text = "title: " + r.Title + "\n" + text
	}
	return head + "\n" + barred(text, max)
}

func speaker(r github.Remark, ours bool) string {
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
	if ours {
		is = append(is, "this reviewer, earlier")
	}
	if is == nil {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, strings.Join(is, ", "))
}
