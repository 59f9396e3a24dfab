package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wording"
)

// Site is the report on one repository of a list. Its files go into a pull request.
type Site struct {
	Report
	Visibility string `json:"visibility"` // public, private or internal; empty if it was not seen
	State      string `json:"state"`      // to do, done, there, kept, failed, or left (not reached)
	URL        string `json:"url"`        // of the pull request
	Error      string `json:"error"`
	Next       string `json:"next"` // what to do about the error

	r      *repository
	base   string // commit at the tip of the default branch
	opened bool   // this run opened the pull request
}

// The states of a site in addition to those of a step.
const (
	kept = "kept" // it has our workflows, or a person closed the pull request
	left = "left"
)

// setupBranch is the branch of init's pull request in each repository of a list. Later runs
// recognize an earlier run's work by this name.
const setupBranch = "pr-review-action/set-up"

// fail records the error that ended a site. A site that was canceled counts as left.
func (s *Site) fail(err error) {
	switch {
	case err == nil:
		return
	case errors.Is(err, context.Canceled):
		s.State = left
		return
	}
	s.State, s.Error = failed, driver.Gist(err)
	for _, row := range problem.Of(err).Rows {
		if row[0] == "next" {
			s.Next = row[1]
		} else {
			s.Error += "; " + row[1]
		}
	}
	s.Next = cmp.Or(s.Next, "fix that and run the same again: it continues with what is there")
	if status, is := errors.AsType[*transport.StatusError](err); is && status.Limited && status.RetryAfter > 0 {
		s.Next = fmt.Sprintf("run the same again in %s: it goes on with what is there",
			wording.Span(status.RetryAfter.Round(time.Second)))
	}
}

// checkExisting looks for our workflows, and for the pull request of an earlier run.
func (s *Site) checkExisting(ctx context.Context) error {
	r := s.r
	for _, path := range []string{draftPath, decidePath, config.DefaultPath} {
		_, err := r.api.Content(ctx, r.ref.Owner, r.ref.Repo, path, s.base, maxFile)
		switch {
		case errors.Is(err, github.ErrNotFound):
		case err != nil:
			return err
		case path == config.DefaultPath:
			r.own = true
		default:
			s.State, s.Why = kept, "has "+filepath.Base(path)
			return nil
		}
	}
	return s.findPullRequest(ctx)
}

// findPullRequest looks for the pull request of an earlier run, which a person may have closed since.
func (s *Site) findPullRequest(ctx context.Context) error {
	all, err := s.r.api.OpenedFrom(ctx, s.r.ref.Owner, s.r.ref.Repo, setupBranch)
	for _, o := range all {
		switch {
		case o.Open:
			s.State, s.URL, s.Why = there, o.URL, ""
			return err
		case s.URL == "":
			s.State, s.URL, s.Why = kept, o.URL, "somebody closed"
		}
	}
	return err
}

// maxTries is the number of times that push tries, since a concurrent run may change the branch.
const maxTries = 5

// propose creates the branch, what the repository lacks on GitHub, and the pull request. It
// looks before each write, so that none is created twice.
func (c *Command) propose(ctx context.Context, s *Site) error {
	w := write.New(s.r.api)
	if s.State == toDo {
		if err := s.push(ctx, w); err != nil {
			return explainAccess(err)
		}
	}
	_ = c.carryOut(ctx, s.Steps) // the steps hold the failures
	if s.State == toDo {
		if err := s.openPullRequest(ctx, w, c.describePull(s)); err != nil {
			return explainAccess(err)
		}
	}
	for _, step := range s.Steps {
		if step.State == failed {
			return problem.New("not made: "+step.What, "", step.Why)
		}
	}
	return ctx.Err()
}

// push commits the files to the branch, unless they are there.
func (s *Site) push(ctx context.Context, w *write.Client) (err error) {
	for range maxTries {
		var parent string
		if parent, err = s.parent(ctx, w); parent == "" && err == nil {
			return nil
		}
		if err == nil {
			k := write.Commit{Branch: setupBranch, Parent: parent, Headline: pullTitle, Body: pullSummary,
				Files: s.pullFiles()}
			_, err = w.Commit(ctx, s.r.ref, k)
		}
		if err == nil || !errors.Is(err, write.ErrExists) && !errors.Is(err, write.ErrMoved) &&
			!errors.Is(err, write.ErrUncertain) {
			return err
		}
	}
	return err
}

// parent returns the commit to put the files on. It creates the branch if there is none,
// and returns "" if the branch already has exactly these files.
func (s *Site) parent(ctx context.Context, w *write.Client) (string, error) {
	api, owner, repo := s.r.api, s.r.ref.Owner, s.r.ref.Repo
	tip, err := api.Tip(ctx, owner, repo, setupBranch)
	if errors.Is(err, github.ErrNotFound) {
		return s.base, w.Branch(ctx, s.r.ref, setupBranch, s.base)
	}
	var changed, wanted []string
	if err == nil {
		changed, err = api.ChangedPaths(ctx, owner, repo, s.base, tip.SHA)
	}
	if err != nil || len(changed) == 0 {
		return tip.SHA, err
	}
	same := true
	for _, f := range s.pullFiles() {
		text, err := api.Content(ctx, owner, repo, f.Path, tip.SHA, maxFile)
		if err != nil && !errors.Is(err, github.ErrNotFound) {
			return "", err
		}
		wanted, same = append(wanted, f.Path), same && string(text) == f.Content
	}
	if slices.Sort(wanted); same && slices.Equal(changed, wanted) {
		return "", nil
	}
	return "", problem.New("its branch "+setupBranch+" has other changes than these", "",
		"find out who made them; delete the branch and run the same again, or open its pull request by hand")
}

// pullFiles returns the files of the pull request.
func (s *Site) pullFiles() (all []change.File) {
	for _, f := range s.Files {
		if f.State != kept {
			all = append(all, change.File{Path: f.Path, Content: f.text})
		}
	}
	return all
}

// openPullRequest opens the pull request, or adopts one that exists by then.
func (s *Site) openPullRequest(ctx context.Context, w *write.Client, body string) (err error) {
	s.URL, err = w.OpenPull(ctx, s.r.ref, write.NewPull{Title: pullTitle, Body: body, Branch: setupBranch,
		Base: s.r.branch})
	if errors.Is(err, write.ErrExists) || errors.Is(err, write.ErrUncertain) {
		if looked := s.findPullRequest(ctx); looked == nil && s.State == there {
			return nil
		}
	}
	if err == nil {
		s.State, s.opened = done, true
	}
	return err
}

// explainAccess explains what the token lacks. Pushing workflows needs its own scope.
func explainAccess(err error) error {
	if errors.Is(err, github.ErrNoAccess) {
		return problem.As(problem.Failed, err, "the token needs contents, workflows and pull requests: write there; "+
			"gh auth refresh --scopes repo,workflow gives gh's the scopes. Then run the same again")
	}
	return err
}

const (
	pullTitle   = "Review pull requests with pr-review-action"
	pullSummary = "It drafts a review of each pull request. A person reads the draft, drops or edits findings, and " +
		"only what they approve is posted."
)

// describePull returns the description of the pull request: what it adds, and what must exist
// before it is merged.
func (c *Command) describePull(s *Site) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s Nothing of a pull request is checked out or run.\n\nIt adds:\n\n",
		strings.Replace(pullSummary, "It", "[pr-review-action](https://github.com/org/pr-review-action)", 1))
	about := map[string]string{
		draftPath:          "drafts a review, which waits until somebody decides",
		decidePath:         "the form, under *Actions*: a writer approves or aborts a draft",
		config.DefaultPath: "what is reviewed, and how; every line is an example, commented out",
	}
	for _, f := range s.pullFiles() {
		fmt.Fprintf(&b, "- `%s`: %s\n", f.Path, about[f.Path])
	}
	fmt.Fprintf(&b, "\n**Before it is merged**, an administrator sees to this:\n\n"+
		"- [ ] secret %s of the organization, open to this repository. Any workflow on any branch "+
		"of a writer can read it: give it its own budget.\n", keySecret)
	if s.r.needsPolicy() {
		fmt.Fprintf(&b, "- [ ] %s. From 2 December 2026 on GitHub blocks that event in public repositories by "+
			"default.\n", policyStep)
	}
	for _, step := range s.Steps {
		if step.State != there && step.State != done {
			var lines []string
			for _, command := range step.Commands {
				lines = append(lines, commandBreaks.Replace(command))
			}
			commands := guard.Fence(strings.Join(lines, "\n"), "sh")
			fmt.Fprintf(&b, "- [ ] %s\n\n  %s\n", guard.Inline(step.What, driver.MaxLine),
				strings.ReplaceAll(strings.TrimSpace(commands), "\n", "\n  "))
		}
	}
	fmt.Fprintf(&b, "\nThen open a pull request: its run's summary has the draft. `%s init --check`, in a clone, "+
		"says what is missing.\n", c.Name)
	return b.String()
}
