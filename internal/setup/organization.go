package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
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

// atOnce is how many repositories are looked at side by side. They are written to one by one, as
// GitHub asks, and told of in the list's order.
const atOnce = 4

// organization looks at every repository of the list, and with Apply opens a pull request
// in each that has no workflow yet. What fails in one stops no other; where GitHub takes no
// more requests, those behind it are left for the next run.
func (c *Command) organization(ctx context.Context) error {
	refs, err := c.listed()
	if err != nil {
		return err
	}
	api, err := c.GitHub(refs[0], c.Settings)
	if err != nil {
		return err
	}
	if !api.Authorized() {
		return problem.Usage("there is no token to ask GitHub about the repositories of "+c.Org+" with",
			"set GITHUB_TOKEN, such as to $(gh auth token)")
	}
	c.Asks = false
	plan, unread := api.Plan(ctx, c.Org) // once for all
	table := c.newTable(refs)
	var sites []*Site
	for _, ref := range refs {
		sites = append(sites, &Site{Report: Report{Repository: ref.FullName()}, State: left, r: &repository{ref: ref}})
	}
	var over atomic.Bool // GitHub takes no more requests
	told := 0
	for s := range looked(sites, func(s *Site) {
		if !over.Load() && ctx.Err() == nil {
			s.fail(c.see(ctx, s, api, func(r *repository) { r.planned(plan, unread) }))
		}
	}) {
		switch open := s.State == toDo || s.State == there; {
		case open && (over.Load() || ctx.Err() != nil):
			s.State = left
		case open && c.Apply:
			s.fail(c.propose(ctx, s))
		}
		status, is := errors.AsType[*transport.StatusError](s.err)
		if is && status.Limited {
			over.Store(true)
		}
		for s.done = true; told < len(sites) && sites[told].done; told++ {
			table.row(sites[told])
		}
	}
	return cmp.Or(table.end(sites), ctx.Err())
}

// looked gives each site once look has returned for it, so that a slow one holds back no other.
func looked(sites []*Site, look func(*Site)) <-chan *Site {
	next, all := make(chan *Site), make(chan *Site)
	var looking sync.WaitGroup
	for range atOnce {
		looking.Go(func() {
			for s := range next {
				look(s)
				all <- s
			}
		})
	}
	go func() {
		for _, s := range sites {
			next <- s
		}
		close(next)
		looking.Wait()
		close(all)
	}()
	return all
}

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

// see looks at a repository, and says what would be written there.
func (c *Command) see(ctx context.Context, s *Site, api *github.Client, plan func(*repository)) (err error) {
	r := s.r
	s.State, r.api = toDo, api
	defer func() { s.Unseen = r.unseen }()
	if r.facts, err = api.Repository(ctx, r.ref.Owner, r.ref.Repo); err != nil {
		return err
	}
	r.found()
	s.Repository, s.Visibility = r.ref.FullName(), r.facts.Visibility
	if !strings.EqualFold(r.ref.Owner, c.Org) {
		return problem.New("it has moved to "+guard.Line(r.ref.FullName(), 200), "", "take it out of the list")
	}
	if r.facts.Archived {
		return problem.New("it is archived: nobody can write to it", "", "take it out of the list, or unarchive it")
	}
	tip, err := api.Tip(ctx, r.ref.Owner, r.ref.Repo, r.branch)
	if errors.Is(err, github.ErrNotFound) {
		return problem.New("it is empty", "", "push a first commit to "+guard.Line(r.branch, 100))
	}
	if s.base = tip.SHA; err != nil {
		return err
	}
	if err := s.mayRun(ctx); err != nil {
		return err
	}
	if err := s.has(ctx); err != nil || s.State == kept {
		return err
	}
	if r.facts.Private {
		plan(r)
	}
	return c.plan(ctx, s)
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

// plan chooses the route, and with it what is written.
func (c *Command) plan(ctx context.Context, s *Site) (err error) {
	var text []byte
	if r := s.r; r.own {
		text, err = r.api.Content(ctx, r.ref.Owner, r.ref.Repo, config.DefaultPath, s.base, maxFile)
		if err != nil {
			return err
		}
	}
	own, err := config.Parse(config.DefaultPath, text)
	if err != nil {
		return err
	}
	if s.r.facts.Private && !c.whole() && (s.r.plan == "" || s.r.plan == "free") {
		s.Notes = append(s.Notes, "on the Free plan a private repository reads no secret of its organization: the key "+
			"is one of the repository there")
	}
	with := c.filling(own, &s.Report)
	if s.Route, s.Why, err = c.choose(ctx, s.r, with); err != nil {
		return err
	}
	files, err := c.files(s.Route, with)
	for _, f := range files {
		if f.State = toDo; f.own && s.r.own {
			f.State = kept
		}
		s.Files = append(s.Files, f)
	}
	s.Steps = c.steps(s.r, s.r.onGitHub(ctx, s.Route, with.label, c.whole()), with.label)
	if len(c.Reviewers) == 0 && s.Route == Approval {
		s.Steps[0].do = nil // nobody becomes the reviewer of a list for having run this
	}
	return err
}
