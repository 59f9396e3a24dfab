package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/configcmd"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/stats"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wire"

	"github.com/org/pr-review-action/internal/local"
)

// printSums prints the sums over runs, or what --propose asks for.
func (a *app) printSums(all []stats.Run, unread []stats.Unread) error {
	if a.Propose {
		return a.propose(all)
	}
	sum := stats.Sum(all, unread)
	if a.JSON {
		return driver.PrintJSON(a.Stdout, sum)
	}
	fmt.Fprint(a.Stdout, sum.Text())
	return nil
}

// reports returns the drafts of a store whose threads are wanted. It warns of a draft that
// cannot be read, and leaves it out.
func (a *app) reports(ctx context.Context, store wire.Store,
	wanted func(thread string) bool) (all []driver.Report, err error) {
	ids, err := local.Threads(ctx, store)
	for _, id := range ids {
		if !wanted(id) {
			continue
		}
		r, err := a.Report(ctx, local.Session{Store: store, Thread: id})
		if err != nil {
			a.Warn(guard.Line(id, driver.MaxLine) + ": " + driver.Explain(err))
			continue
		}
		all = append(all, r)
	}
	return all, err
}

// reviewed returns what reports whether a thread is a review's of a repository, or of any if
// that is empty.
func reviewed(repository string) func(thread string) bool {
	return func(thread string) bool {
		return !local.IsProposal(thread) && (repository == "" || repositoryOf(thread) == repository)
	}
}

// repositoryOf returns the repository of a thread, or what stands for it in local input.
func repositoryOf(thread string) string { return thread[:strings.IndexAny(thread+"#", "#:")] }

// statsRuns converts drafts to runs for the sums, each once: two folders may hold the same draft.
func statsRuns(all []driver.Report) (runs []stats.Run) {
	seen := map[string]bool{}
	for _, r := range all {
		of := r.Thread[:max(0, strings.LastIndexByte(r.Thread, ':'))]
		if r.State.Pull != nil {
			of = fmt.Sprintf("%s#%d", r.State.Pull.FullName(), r.State.Pull.Number) // of any instance
		}
		if of == "" || seen[r.Digest] {
			continue
		}
		seen[r.Digest] = r.Digest != ""
		runs = append(runs, statsRun(r, of))
	}
	return runs
}

func statsRun(r driver.Report, of string) stats.Run {
	return stats.Run{Repository: repositoryOf(r.Thread), Pull: of, Outcome: r.Outcome, Usage: r.Usage,
		Seconds: r.State.Draft.Seconds, Record: r.State.Decision}
}

// remoteDecisions bounds how many decisions are read per repository: each takes three
// requests.
const remoteDecisions = 200

// remoteStats sums up the drafts on GitHub of the named repositories. owner/* names all of an
// owner's that the token can see. A repository that cannot be read is listed as unread.
func (a *app) remoteStats(ctx context.Context, names []string, after time.Time) error {
	var runs []stats.Run
	var unread []stats.Unread
	seen := map[string]bool{}
	for i := 0; i < len(names); i++ {
		if seen[strings.ToLower(names[i])] {
			continue
		}
		seen[strings.ToLower(names[i])] = true
		owner, all := strings.CutSuffix(names[i], "/*")
		if all {
			of, err := a.repositoriesOf(ctx, owner)
			if err != nil {
				return err
			}
			names = append(names, of...)
			continue
		}
		ref, err := a.Repository(names[i])
		if err != nil {
			return problem.Usage(err.Error(), "name a repository, owner/repo, or all of an owner: 'owner/*'")
		}
		found, err := a.remoteRuns(ctx, ref, after)
		runs = append(runs, found...)
		if err == nil {
			continue
		}
		if ctx.Err() != nil || len(names) == 1 {
			return err
		}
		unread = append(unread, stats.Unread{Repository: names[i], Reason: driver.Gist(err)})
		if status, ok := errors.AsType[*transport.StatusError](err); ok && status.Limited {
			for _, left := range names[i+1:] {
				unread = append(unread, stats.Unread{Repository: left,
					Reason: "not asked for: the rate limit was reached before"})
			}
			break
		}
	}
	return a.printSums(runs, unread)
}

// repositoriesOf returns the names of an owner's repositories.
func (a *app) repositoriesOf(ctx context.Context, owner string) (names []string, err error) {
	ref, err := a.Repository(owner + "/x")
	if err != nil {
		return nil, problem.Usage(fmt.Sprintf("%q is not an owner's name", owner), "name one, such as 'acme/*'")
	}
	api, err := a.GitHub(ref, a.Settings)
	if err != nil {
		return nil, err
	}
	all, cut, err := api.RepositoriesOf(ctx, owner)
	for _, r := range all {
		names = append(names, r.FullName)
	}
	if cut {
		a.Warn(fmt.Sprintf("only the %d repositories of %s that were pushed to last are looked at", len(all), owner))
	}
	return names, err
}

// remoteRuns returns the drafts of a repository on GitHub, decided or not. It ignores the
// decisions of runs that may not decide, and warns of what it cannot read.
func (a *app) remoteRuns(ctx context.Context, ref pull.Ref, after time.Time) (all []stats.Run, err error) {
	r, err := a.remote(ctx, ref)
	if err != nil {
		return nil, err
	}
	r.stored = slices.DeleteFunc(r.stored, func(s handoff.Stored) bool { return s.Created.Before(after) })
	records, err := r.records(ctx)
	if err != nil {
		return nil, err
	}
	drafts := r.drafts(ctx, func(n handoff.Name) bool {
		return records[n.Code] == nil || records[n.Code].Drafting == nil
	})
	for _, d := range drafts {
		report, err := r.open(ctx, d)
		if err != nil {
			r.Warn(d.name + " is left out: " + guard.Line(driver.Explain(err), driver.MaxLine))
			continue
		}
		one := statsRun(report, fmt.Sprintf("%s#%d", ref.FullName(), d.Subject.Number))
		if one.Record = records[d.code]; one.Record != nil {
			with := report.State.OnRecord(*one.Record)
			one.Record, one.Outcome = &with, outcomeOf(with)
		} else if checkpoint.CheckExpiry(d.Manifest, r.Now()) != nil {
			one.Outcome = driver.Expired
		}
		delete(records, d.code)
		all = append(all, one)
	}
	for _, record := range records {
		one := stats.Run{Repository: ref.FullName(), Pull: stats.Judgement{Thread: record.Thread}.Pull(),
			Outcome: outcomeOf(*record), Record: record}
		if e := record.Drafting; e != nil {
			one.Seconds = e.Seconds
			one.Usage.Calls, one.Usage.Unpriced, one.Usage.Cost = e.Calls, e.Unpriced, cost.MicroUSD(e.Cost)
		}
		all = append(all, one)
	}
	return all, nil
}

// records returns the decisions on drafts by code, for each draft the oldest that was acted
// on. It returns an error when the rate limit is reached.
func (r *remote) records(ctx context.Context) (map[string]*decision.Record, error) {
	records, prefix := map[string]*decision.Record{}, reviewpr.Names.Decision("")
	named := slices.DeleteFunc(slices.Clone(r.stored), func(s handoff.Stored) bool {
		return s.Expired || !strings.HasPrefix(s.Name, prefix)
	})
	if len(named) > remoteDecisions {
		named = named[:remoteDecisions]
		r.Warn(fmt.Sprintf("only the newest %d decisions of %s are read", remoteDecisions, r.ref.FullName()))
	}
	for _, s := range slices.Backward(named) {
		code := strings.TrimPrefix(s.Name, prefix)
		if records[code] != nil {
			continue
		}
		claim, ours, err := r.runs.Claim(ctx, s, r.protection(checkpoint.Manifest{}), s.RepositoryID, r.branch)
		if status, ok := errors.AsType[*transport.StatusError](err); ctx.Err() != nil || ok && status.Limited {
			return nil, err
		}
		if err != nil {
			r.Warn(s.Name + " is left out: it cannot be read, as one that is encrypted cannot without " +
				"PR_REVIEW_CHECKPOINT_KEY")
		}
		if err == nil && ours && claim.Record.Code == code && (claim.Acted() || r.isPosted(ctx, claim.Record)) {
			records[code] = &claim.Record
		}
	}
	return records, nil
}

// isPosted reports whether the review that a record approves is posted, which fail-on lets fail its run.
func (r *remote) isPosted(ctx context.Context, record decision.Record) bool {
	ref, err := pull.ParseRef(stats.Judgement{Thread: record.Thread}.Pull())
	of := checkpoint.Subject{Number: ref.Number}
	_, digest := r.posted(ctx, checkpoint.Manifest{Thread: record.Thread, Subject: of})
	return err == nil && digest == record.Digest
}

// outcomeOf returns the outcome that a decision led to.
func outcomeOf(r decision.Record) string {
	switch {
	case r.Withdrawn():
		return "WITHDRAWN"
	case r.Decision == decision.Approve:
		return reviewpr.Posted
	case r.Decision == decision.Revise:
		return "REVISED"
	}
	return reviewpr.Aborted
}

// parseSince parses a day, such as 2026-11-01, or a time span before now, such as 30d or 36h.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	if ago, err := settings.ParseSpan(text); err == nil {
		return now.Add(-ago), nil
	}
	return time.Time{}, problem.Usage(fmt.Sprintf("--since: %.40q is neither a day nor a time", text),
		"such as 2026-11-01 or 30d")
}

// proposedSettings is the JSON object that --propose prints.
type proposedSettings struct {
	File      string         `json:"file"`
	Decisions int            `json:"decisions"` // number of verdicts examined
	Least     map[string]any `json:"least"`     // thresholds that a habit has to reach
	Proposed  []stats.Habit  `json:"proposed"`
	Diff      string         `json:"diff"` // for git apply; empty if nothing is proposed
}

// propose prints the settings that the approvers' habits suggest, as a diff of the settings
// file. It changes nothing.
func (a *app) propose(all []stats.Run) error {
	repositories := map[string]bool{}
	for _, r := range all {
		if r.Record != nil {
			repositories[r.Repository] = true
		}
	}
	if len(repositories) > 1 {
		return problem.Usage(fmt.Sprintf("the decisions are of %d repositories, and settings are of one",
			len(repositories)), a.Name+" show --stats --propose owner/repo")
	}
	if err := a.Settings.InRepository(); err != nil {
		return err
	}
	text, err := wire.ReadFile(filepath.Join(configcmd.WorkTree(), a.Config), config.MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return problem.Usage("the settings cannot be read: "+err.Error(), "name the file with --config")
	}
	from := config.File{Path: a.Config, Defaults: a.Defaults}
	now, err := from.Parse(text)
	if err != nil {
		return err
	}
	verdicts := stats.Verdicts(all)
	p := proposedSettings{File: a.Config, Decisions: len(verdicts),
		Least: map[string]any{"share": stats.MinShare, "dropped": stats.MinDropped, "pulls": stats.MinPulls,
			"drafts": stats.MinDrafts, "chance": stats.MaxChance}} // share: lower bound of the 95 % interval
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
		p.Diff = change.Unified([]change.File{change.Of(a.Config, "", base, string(text), string(after))})
	}
	if a.JSON {
		return driver.PrintJSON(a.Stdout, p)
	}
	fmt.Fprint(a.Stdout, p.Diff)
	what, next := "Nothing to propose", ""
	if n := len(p.Proposed); n > 0 {
		what = fmt.Sprintf("Proposed for %s: %d", guard.Line(p.File, driver.MaxLine), n)
		next = "Nothing was changed. To apply it, from the top of the clone, pipe this into git apply.\n"
	}
	fmt.Fprintf(a.Stderr, "%s, from %d decisions.\n%s", what, p.Decisions, next)
	return nil
}
