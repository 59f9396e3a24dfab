package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/configcmd"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/stats"
)

// proposedSettings is what --propose prints as JSON.
type proposedSettings struct {
	File      string        `json:"file"`
	Decisions int           `json:"decisions"` // that were looked at
	Least     leastEvidence `json:"least"`
	Proposed  []stats.Habit `json:"proposed"`
	Diff      string        `json:"diff"` // that git apply takes; empty where nothing is proposed
}

// leastEvidence is what a habit takes.
type leastEvidence struct {
	Share   float64 `json:"share"` // dropped of judged, the lower end of its 95 % interval
	Dropped int     `json:"dropped"`
	Pulls   int     `json:"pulls"`
	Drafts  int     `json:"drafts"`
	Chance  float64 `json:"chance"`
}

// propose prints what habits of approvers ask the settings for, as a diff of their file. It
// changes nothing.
func (a *app) propose(all []stats.Run, o *statsOptions) error {
	repositories := map[string]bool{}
	for _, r := range all {
		if r.Record != nil {
			repositories[r.Repository] = true
		}
	}
	if len(repositories) > 1 {
		return problem.Usage(fmt.Sprintf("the decisions are of %d repositories, and settings are of one",
			len(repositories)), a.name+" show --stats --propose owner/repo")
	}
	file, text, err := settingsText(o.Config)
	if err != nil {
		return err
	}
	from := config.File{Path: file, Defaults: o.Defaults}
	now, err := from.Parse(text)
	if err != nil {
		return err
	}
	verdicts := stats.Verdicts(all)
	p := proposedSettings{File: file, Decisions: len(verdicts),
		Least:    leastEvidence{stats.MinShare, stats.MinDropped, stats.MinPulls, stats.MinDrafts, stats.MaxChance},
		Proposed: []stats.Habit{}}
	habits, entries := stats.Proposed(stats.Habits(verdicts), now)
	if len(entries) > 0 {
		after, err := stats.Extend(from, text, entries)
		if err != nil {
			return err
		}
		base := ""
		if text != nil {
			base = "there"
		}
		p.Proposed = habits
		p.Diff = change.Unified([]change.File{change.Of(file, "", base, string(text), string(after))})
	}
	if o.json {
		return driver.PrintJSON(a.Stdout, p)
	}
	fmt.Fprint(a.Stdout, p.Diff)
	a.tellProposal(p)
	return nil
}

// tellProposal says beside the diff what it rests on, and how it is applied.
func (a *app) tellProposal(p proposedSettings) {
	what := "Nothing to propose"
	if n := len(p.Proposed); n > 0 {
		what = fmt.Sprintf("Proposed for %s: %d", guard.Line(p.File, driver.MaxLine), n)
	}
	fmt.Fprintf(a.Stderr, "%s, from %d decisions.\nAn entry rests on %d findings or more, dropped by id with a reason "+
		"on %d pull\nrequests or more. Of those judged it is more than %.0f %%, at the lower end of the\n95 %% "+
		"interval, and more than chance would give.\n",
		what, p.Decisions, stats.MinDropped, stats.MinPulls, 100*stats.MinShare)
	if p.Diff != "" {
		fmt.Fprintf(a.Stderr, "Nothing was changed. To apply it, from the top of the clone, pipe this into git "+
			"apply.\n")
	}
}

// settingsText reads the settings file of this folder's clone, or the one that is named; its
// text is nil where there is none. The name is the one from the clone's top.
func settingsText(named string) (file string, text []byte, err error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here) // what is above a link is not what is above its target
	}
	top := filepath.Join(here, configcmd.WorkTree())
	path := filepath.Join(top, named)
	if err == nil && named != config.DefaultPath {
		if path = named; !filepath.IsAbs(path) {
			path = filepath.Join(here, path)
		}
		if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(folder, filepath.Base(path))
		}
		named, err = filepath.Rel(top, path)
	}
	if named = filepath.ToSlash(named); err != nil || !filepath.IsLocal(named) {
		return "", nil, problem.Usage("the settings file is outside of this clone", "name one in it with --config")
	}
	text, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return named, nil, nil
	}
	if err != nil {
		return "", nil, problem.Usage("the settings cannot be read: "+err.Error(), "name the file with --config")
	}
	return named, text, nil
}

// repositoryOf is the repository of a thread: owner/repo, or local/folder.
func repositoryOf(thread string) string {
	if end := strings.IndexAny(thread, "#:"); end >= 0 {
		return thread[:end]
	}
	return thread
}
