package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
)

// Event describes what requested the review.
type Event struct {
	Name     string // pull_request, pull_request_target, workflow_dispatch, …; empty on the command line
	Explicit bool   // a person requested this review: a dispatch or the command line
	Pushed   bool   // the event is a push to the pull request, newer than any label
	Labeled  string // the label that this event set on Head; otherwise empty
	Head     string // the head that the event names
}

// LabelFacts answers who labeled a pull request.
type LabelFacts interface {
	LabelSetter(ctx context.Context, ref pull.Ref, label string) (login string, err error)
	Permission(ctx context.Context, owner, repo, login string) (string, error)
}

// Admit decides whether a pull request is reviewed at all. It returns "" for yes, or else the
// reason as a sentence without a full stop.
func Admit(ctx context.Context, p pull.Pull, e Event, a config.Admission, facts LabelFacts) (string, error) {
	switch {
	case a.SkipLabel != "" && slices.Contains(p.Labels, a.SkipLabel):
		return fmt.Sprintf("the label %q opts out", a.SkipLabel), nil
	case p.Draft && a.Drafts == config.Skip:
		return "it is a draft", nil
	case p.AuthorBot && a.Bots == config.Skip:
		return "its author is a bot", nil
	case e.Explicit:
		return "", nil
	}
	reason := "reviews are on demand here"
	if !a.OnDemand {
		association := strings.ToLower(cmp.Or(p.Association, "none"))
		if allowed, err := authorAllowed(ctx, p, e, a, association, facts); allowed || err != nil {
			return "", err
		}
		reason = "its author's association with the repository is " + association
	}
	why, err := labelAdmits(ctx, p, e, a.Label, facts)
	if err != nil || why == "" {
		return "", err
	}
	return reason + ", and " + why, nil
}

// authorAllowed also takes somebody with write access for a member: a hidden membership looks like none.
func authorAllowed(ctx context.Context, p pull.Pull, e Event, a config.Admission, association string,
	facts LabelFacts) (bool, error) {
	allowed := a.Authors
	if len(allowed) == 0 {
		if e.Name != "pull_request_target" {
			return true, nil
		}
		allowed = []string{"owner", "member", "collaborator", "contributor"}
	}
	if slices.Contains(allowed, "all") || slices.Contains(allowed, association) {
		return true, nil
	}
	if association == "collaborator" || !slices.Contains(allowed, "member") {
		return false, nil
	}
	writes, err := mayWrite(ctx, p, p.Author, facts)
	if errors.Is(err, github.ErrNoAccess) {
		err = nil
	}
	return writes, err
}

func mayWrite(ctx context.Context, p pull.Pull, login string, facts LabelFacts) (bool, error) {
	permission, err := facts.Permission(ctx, p.Owner, p.Repo, login)
	if errors.Is(err, github.ErrNotFound) {
		err = nil
	}
	return github.MayWrite(permission), err
}

// labelAdmits returns "" if somebody with write access has labeled this very head, or else why the
// label does not count. Only the event tells on which head a label was set. GitHub's timeline has
// no time of a push; the dates of commits would be the substitute, and their author sets those.
func labelAdmits(ctx context.Context, p pull.Pull, e Event, label string, facts LabelFacts) (string, error) {
	if label == "" || !slices.Contains(p.Labels, label) {
		return fmt.Sprintf("nobody with write access has set the label %q", label), nil
	}
	if e.Pushed {
		return fmt.Sprintf("the label %q was set before this push", label), nil
	}
	login, err := facts.LabelSetter(ctx, p.Ref, label)
	if errors.Is(err, github.ErrNotFound) {
		return fmt.Sprintf("it is not known who set the label %q", label), nil
	}
	if err != nil {
		return "", err
	}
	writes, err := mayWrite(ctx, p, login, facts)
	switch {
	case err != nil:
		return "", err
	case !writes:
		return fmt.Sprintf("the label %q was set by somebody without write access", label), nil
	case e.Labeled != label || e.Head != p.HeadSHA || e.Head == "":
		return fmt.Sprintf("the label %q was set before the last push, or nothing tells: it counts in the run that "+
			"setting it starts, so set it again", label), nil
	}
	return "", nil
}
