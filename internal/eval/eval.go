// Package eval runs the review over historical changes with known defects and
// measures how many it finds, to judge every change of prompt, model or
// pipeline.
//
// A case goes through the real graph up to the gate. A journal keeps what models
// answer before it is used, so that an interrupted run can continue and repeating
// a finished one costs nothing. It posts nothing and asks no person. Start
// reading at Run, then case.go for what happens to one case.
package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/judge"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/wording"
)

// Reviewer is what is under test: the rules if Chat is nil, otherwise a model.
type Reviewer struct {
	Name string // for people: offline, scripted, or the model's name
	Chat review.Chatter
}

// Judge is the model that decides whether two texts mean the same defect.
type Judge struct {
	Model     string
	Chat      review.Chatter
	Agreement bool // also measure how often it agrees with people
}

// Options configures a run: the cases, what reviews and judges them, and where results go.
type Options struct {
	Cases    []dataset.Case
	Dir      string // folder of journal and results
	Reviewer Reviewer
	Judge    *Judge // nil: only the place decides
	Config   config.Config
	GateFrom finding.Severity
	Repos    string // folder of the clones of cases that name commits; empty for none
	Blind    Blind  // what to withhold from the reviewer
	// Index returns the index of a clone's commit from the product's cache; nil: built in memory, for 20 s at most
	Index       func(ctx context.Context, dir, commit string) (*index.Index, error)
	seen        func(score.Report, []score.Result) map[string]score.Seen // returns Report.Shown
	Budget      Budget
	Concurrency int // questions in flight at a time
	Commit      string
	Random      io.Reader
	Now         func() time.Time
	Linger      time.Duration // how long a cancelled run waits for answers in flight

	// Announce is called with the forecast before anything is asked, Observe with the progress, by
	// several goroutines, and Warn with problems that do not end the run. Each may be nil.
	Announce func(string)
	Observe  func(Progress)
	Warn     func(error)
}

// Progress tells how far a run is. Cost is the run's cost so far, including earlier
// parts of it.
type Progress struct {
	Cases, Total int
	Asked        int // questions asked by this process
	Cost         cost.MicroUSD
}

// Because returns an error that says what happened because of cause. It has the
// parts and the kind of cause.
func Because(what string, cause error) error {
	p := *problem.Of(cause)
	p.What = what + ": " + p.What
	return &p
}

func folderError(dir string, err error) error {
	err = fmt.Errorf("the run's folder %s: %w", dir, err)
	if errors.Is(err, graph.ErrSnapshot) {
		return problem.New(err.Error(), "", "remove the folder of that case: only it is asked again")
	}
	return problem.As(problem.Failed, err,
		"make it writable, make room, or name another with --out; what was paid before is kept")
}

type run struct {
	Options
	meter    *meter
	release  func() error // unlocks the folder, which one run uses at a time
	review   []*journal   // by case; nil entries for rules
	judging  []*journal   // by case; nil entries without a judge
	labelled *journal     // for the judge's agreement

	indexing sync.Mutex

	done  atomic.Int64
	mu    sync.Mutex
	cause error // why the first file failed
}

// Run reviews and scores every case and writes the results. It tries all cases: the error
// names the first one that failed, and another run continues from there.
func Run(ctx context.Context, o Options) (score.Report, error) {
	began := o.Now()
	r := &run{Options: o, meter: newMeter(o)}
	r.meter.onAnswer = r.observe
	if err := r.open(ctx); err != nil {
		return score.Report{}, folderError(o.Dir, errors.Join(err, r.close()))
	}
	if o.Announce != nil {
		o.Announce(r.forecast())
	}
	r.observe()
	results, err := r.runCases(ctx)
	var about score.About
	if err == nil {
		about, err = r.about(ctx)
	}
	if err = errors.Join(err, r.close()); err != nil {
		return score.Report{}, err
	}
	r.warn(results)
	about.Seconds = o.Now().Sub(began).Seconds()
	report := score.Summarize(results, about)
	if o.seen != nil {
		report.Shown = o.seen(report, results)
	}
	if err := writeRun(o.Dir, o.Cases, results, report); err != nil {
		return score.Report{}, folderError(o.Dir, err)
	}
	return report, nil
}

func journalDir(dir string) string { return filepath.Join(dir, "journal") }

// open locks the folder against other runs and loads the answers that earlier ones paid for.
func (r *run) open(ctx context.Context) error {
	store, err := filestore.New(journalDir(r.Dir))
	if err != nil {
		return err
	}
	if r.release, err = store.Lock(ctx, "run"); err != nil {
		return err
	}
	r.review = make([]*journal, len(r.Cases))
	r.judging = make([]*journal, len(r.Cases))
	for i, c := range r.Cases {
		if r.Reviewer.Chat != nil {
			if r.review[i], err = r.journal(ctx, reviewThread(c, r.reviewerKey()), r.Budget.Price); err != nil {
				return err
			}
		}
		if r.Judge != nil {
			if r.judging[i], err = r.journal(ctx, judgeThread(c, r.reviewerKey(), r.judgeKey()),
				r.Budget.Judge); err != nil {
				return err
			}
		}
	}
	if r.Judge != nil && r.Judge.Agreement {
		r.labelled, err = r.journal(ctx, "labelled:"+r.judgeKey(), r.Budget.Judge)
	}
	return err
}

func (r *run) journal(ctx context.Context, thread string, price *cost.Price) (*journal, error) {
	j, err := openJournal(ctx, journalDir(r.Dir), thread)
	if err != nil {
		return nil, err
	}
	j.onLoss = func(err error) { r.meter.refuse(folderError(r.Dir, err)) } // further answers would be lost too
	for i, e := range j.list {
		e.Answer.Usage = budget.Priced(e.Answer.Usage, price)
		j.list[i], j.known[e.Key] = e, e
		r.meter.ledger.Paid(e.Answer.Usage.Cost)
	}
	return j, nil
}

func (r *run) close() error {
	err := r.labelled.close()
	if r.release != nil {
		err = errors.Join(err, r.release())
	}
	return err
}

// reviewThread returns the journal thread of a case's review. A change of the
// case or of the reviewer gives another thread.
func reviewThread(c dataset.Case, reviewer string) string {
	texts := []string{c.Diff, reviewer}
	for _, path := range slices.Sorted(maps.Keys(c.Tree)) {
		texts = append(texts, path, c.Tree[path])
	}
	if c.Ticket != nil {
		texts = append(texts, fmt.Sprint(c.Context()))
	}
	return "review/" + c.ID + ":" + digest(texts...)
}

func judgeThread(c dataset.Case, reviewer, judge string) string {
	return "judge/" + c.ID + ":" + digest(c.Diff, reviewer, judge)
}

func (r *run) runCases(ctx context.Context) ([]score.Result, error) {
	results := make([]score.Result, len(r.Cases))
	failed := make([]error, len(r.Cases))
	var group errgroup.Group
	group.SetLimit(r.Concurrency)
	for i := range r.Cases {
		group.Go(func() error {
			if failed[i] = ctx.Err(); failed[i] == nil {
				results[i], failed[i] = r.runCase(ctx, i)
			}
			if failed[i] == nil {
				r.done.Add(1)
			}
			r.observe()
			return nil
		})
	}
	if err := errors.Join(group.Wait(), r.firstError(failed)); err != nil {
		return nil, err
	}
	return results, r.checkAnyReviewed(results)
}

// firstError returns why the cases were not all done, or nil. It names the first one that failed.
func (r *run) firstError(failed []error) error {
	stopped := fmt.Sprintf("the run was stopped with %d of %d cases done", r.done.Load(), len(r.Cases))
	var first error
	for i, err := range failed {
		switch {
		case errors.Is(err, cost.ErrSpent):
			return problem.As(problem.Spent, fmt.Errorf("%s: %w", stopped, err), "raise --max-cost and "+r.retryHint())
		case errors.Is(err, context.Canceled) && first == nil:
			first = problem.As(problem.Failed, fmt.Errorf("%s: %w", stopped, err), r.retryHint())
		case err != nil && first == nil:
			first = fmt.Errorf("case %s: %w", r.Cases[i].ID, err)
		}
	}
	return first
}

// checkAnyReviewed returns an error if every review failed, so that there are no figures.
func (r *run) checkAnyReviewed(results []score.Result) error {
	if slices.ContainsFunc(results, func(result score.Result) bool { return result.Outcome != reviewpr.Failed }) {
		return nil
	}
	return Because("not one file could be reviewed, so there are no figures",
		cmp.Or(r.cause, errors.New("none has text to review")))
}

// retryHint returns the advice on how to continue an unfinished run.
func (r *run) retryHint() string {
	return "run it again in the same folder: what was paid is kept in " + guard.Line(r.Dir, 0)
}

// recordFailure records why the first file failed. The cause may contain an address.
func (r *run) recordFailure(_ string, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = cmp.Or(r.cause, cause)
}

// warn reports files that failed, and rulings without a readable answer.
func (r *run) warn(results []score.Result) {
	if r.cause != nil {
		r.note(fmt.Errorf("files could not be reviewed, the first of them: %w", r.cause))
	}
	unread := 0 // rulings that are "no" for want of a readable answer
	for _, result := range results {
		for _, ruling := range result.Rulings {
			if !ruling.Yes && ruling.Reason == judge.OffSchema {
				unread++
			}
		}
	}
	if unread > 0 {
		r.note(fmt.Errorf("%s counted as no: %s", wording.Count(unread, "ruling"), judge.OffSchema))
	}
}

// note reports something odd that is not an error.
func (r *run) note(what error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Warn != nil {
		r.Warn(what)
	}
}

func (r *run) observe() {
	if r.Observe != nil {
		spent, asked := r.meter.totals()
		r.Observe(Progress{Cases: int(r.done.Load()), Total: len(r.Cases), Asked: asked, Cost: spent})
	}
}

func (r *run) judge(i int) *judge.Judge {
	if r.Judge == nil {
		return nil
	}
	return judge.New(r.judgeChat(), r.Random, r.judging[i].once)
}

func (r *run) judgeChat() review.Chatter { return r.meter.wrap(r.Judge.Chat, r.Budget.Judge) }
