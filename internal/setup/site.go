package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// Site is one repository of a list: a report of init whose files go into a pull request.
type Site struct {
	Report
	Visibility string `json:"visibility"` // public, private or internal; empty where it was not seen
	State      string `json:"state"`      // to do, done, there, kept, failed, or left: not come to
	URL        string `json:"url"`        // of the pull request
	Error      string `json:"error"`
	Next       string `json:"next"` // what to do about the error

	r    *repository
	base string // commit at the tip of the default branch
	done bool   // nothing more is done to it
	err  error
}

// The states of a site beside those of a step.
const (
	kept = "kept" // it has workflows of ours, or somebody closed the pull request
	left = "left"
)

// setupBranch is the branch of init's pull request in each repository of a list. By its
// name every later run finds what an earlier one made.
const setupBranch = "pr-review-action/set-up"

// fail notes what ended a site. One whose time ended with the run's was not come to.
func (s *Site) fail(err error) {
	switch {
	case err == nil:
		return
	case errors.Is(err, context.Canceled):
		s.State = left
		return
	}
	s.State, s.err, s.Error = failed, err, driver.Gist(err)
	for _, row := range problem.Of(err).Rows {
		if row[0] == "next" {
			s.Next = row[1]
		} else {
			s.Error += "; " + row[1]
		}
	}
	s.Next = cmp.Or(s.Next, "mend that and run the same again: it goes on with what is there")
	if status, is := errors.AsType[*transport.StatusError](err); is && status.Limited && status.RetryAfter > 0 {
		s.Next = fmt.Sprintf("run the same again in %v: it goes on with what is there",
			status.RetryAfter.Round(time.Second))
	}
}

// mayRun is an error where the repository runs no workflows.
func (s *Site) mayRun(ctx context.Context) error {
	on, allowed, err := s.r.api.ActionsPolicy(ctx, s.r.ref.Owner, s.r.ref.Repo)
	switch {
	case errors.Is(err, github.ErrNotFound), errors.Is(err, github.ErrNoAccess):
		s.r.miss("whether Actions are on", err)
	case err != nil:
		return err
	case !on:
		return problem.New("Actions are off there", "", "allow them: Settings, Actions, General; run the same again")
	case allowed != "" && allowed != "all":
		s.Notes = append(s.Notes, "certain actions alone may run: allow org/pr-review-action at Settings, "+
			"Actions, General")
	}
	return nil
}

// has looks for workflows of ours, and for the pull request of an earlier run.
func (s *Site) has(ctx context.Context) error {
	r := s.r
	on, err := r.api.Entries(ctx, r.ref.Owner, r.ref.Repo, s.base, []string{draftPath, decidePath, config.DefaultPath})
	if err != nil {
		return err
	}
	for _, path := range []string{draftPath, decidePath} {
		if _, is := on[path]; is {
			s.State, s.Why = kept, "has "+filepath.Base(path)
			return nil
		}
	}
	_, r.own = on[config.DefaultPath]
	return s.opened(ctx)
}

// opened looks for the pull request of an earlier run, which a person may have closed.
func (s *Site) opened(ctx context.Context) error {
	all, err := s.r.api.OpenedFrom(ctx, s.r.ref.Owner, s.r.ref.Repo, setupBranch)
	for _, o := range all {
		switch {
		case o.Own && o.Open:
			s.State, s.URL, s.Why = there, o.URL, ""
			return err
		case o.Own && s.URL == "":
			s.State, s.URL, s.Why = kept, o.URL, "somebody closed"
		}
	}
	return err
}
