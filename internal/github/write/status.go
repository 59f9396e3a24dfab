package write

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// ErrNoStatuses reports that the token may not write commit statuses.
var ErrNoStatuses = problem.Sentinel("the token may not write commit statuses (statuses: write)",
	"give the token statuses: write")

// Mark is the content of the commit status for a waiting draft: numbers, a code, a time and
// an address, and no text from a pull request or a model.
type Mark struct {
	Instance string // slug of a second reviewer, whose mark has its own name
	Code     string // of the draft, 16 hex digits
	Findings int
	Blockers int
	Expires  time.Time
	Page     string // where the draft is read and decided; empty for none
}

var (
	codeForm = pattern.Lazy(`^[0-9a-f]{16}$`)
	plainURL = pattern.Lazy(`^https?://[A-Za-z0-9.:/#?=&_-]+$`)
)

// Mark sets a pending status on a commit: a draft waits there. It returns ErrNoStatuses, an
// error of package github, or a *transport.StatusError.
func (c *Client) Mark(ctx context.Context, ref pull.Ref, sha string, m Mark) error {
	if !codeForm().MatchString(m.Code) {
		return fmt.Errorf("marking %s: the code has not 16 hex digits", ref)
	}
	return c.setStatus(ctx, ref, sha, m.Instance, "pending", m.description(), m.Page)
}

// description returns at most 140 characters, GitHub's limit.
func (m Mark) description() string {
	return fmt.Sprintf("waits for a decision: %s, %s; code %s, until %s", count(m.Findings, "finding"),
		count(m.Blockers, "blocker"),
		m.Code, m.Expires.UTC().Format("2 Jan 2006 15:04 UTC"))
}

// Remark changes the status that Mark set on a commit: a decision was refused, and why, as
// far as it fits; the draft keeps waiting. It writes nothing unless the instance's mark is
// pending and names the draft. m provides instance, code and page. Errors are those of Unmark.
func (c *Client) Remark(ctx context.Context, ref pull.Ref, sha string, m Mark, why string) (said bool, err error) {
	if waits, err := c.hasMark(ctx, ref, sha, m.Instance, m.Code); err != nil || !waits {
		return false, err
	}
	const room = 140 - len("decision refused: ; draft 0123456789abcdef waits")
	text := []rune(guard.Line(why, room-1))
	text = text[:min(len(text), room)]
	err = c.setStatus(ctx, ref, sha, m.Instance, "pending",
		fmt.Sprintf("decision refused: %s; draft %s waits", string(text), m.Code), m.Page)
	return err == nil, err
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Ending is the outcome of a marked draft.
type Ending string

// The outcomes.
const (
	Posted   Ending = "decided: posted"
	Rejected Ending = "decided: rejected"
	Lapsed   Ending = "expired, not decided"
)

// Unmark ends the wait of a commit that Mark marked, with success after a decision and error
// without one. It writes nothing unless the instance's mark is pending and names the draft, so
// a job may always call it; a posted review also ends the wait of any other draft of the commit.
// m provides instance, code and page, here of the posted review. Errors are those of Mark; a
// token that may not even read statuses gets ErrNoStatuses.
func (c *Client) Unmark(ctx context.Context, ref pull.Ref, sha string, m Mark, end Ending) (cleared bool, err error) {
	if end == Posted {
		m.Code = ""
	}
	if waits, err := c.hasMark(ctx, ref, sha, m.Instance, m.Code); err != nil || !waits {
		return false, err
	}
	state := "success"
	if end == Lapsed {
		state = "error"
	}
	err = c.setStatus(ctx, ref, sha, m.Instance, state, string(end), m.Page)
	return err == nil, err
}

// hasMark reports whether an instance's mark is pending on a commit: the draft's with a code or, if
// code is empty, any.
func (c *Client) hasMark(ctx context.Context, ref pull.Ref, sha, instance, code string) (bool, error) {
	list, _, err := c.read.CommitStatuses(ctx, ref.Owner, ref.Repo, sha)
	return slices.ContainsFunc(list, func(s github.CommitStatus) bool {
		return s.Context == contextName(instance) && s.State == "pending" && strings.Contains(s.Description, code)
	}), wrapNoAccess(ErrNoStatuses, "reading the statuses of "+ref.String(), err)
}

// setStatus sets an instance's status. It leaves out an address that has not the form of ours.
func (c *Client) setStatus(ctx context.Context, ref pull.Ref, sha, instance, state, description, page string) error {
	s := &gh.RepoStatus{State: &state, Context: gh.String(contextName(instance)), Description: &description}
	if plainURL().MatchString(page) {
		s.TargetURL = &page
	}
	_, err := retryLimited(ctx, c, func() (*gh.RepoStatus, error) {
		made, _, err := c.api.Repositories.CreateStatus(ctx, ref.Owner, ref.Repo, sha, s)
		return made, err
	})
	return wrapNoAccess(ErrNoStatuses, "setting the status of "+ref.String(), err)
}
