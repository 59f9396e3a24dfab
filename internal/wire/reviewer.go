package wire

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/settings"
)

// Reviewer reviews by a model or by rules. A model's reviewer needs Prepare before it is
// asked.
type Reviewer struct {
	review.Reviewer
	Rules      bool
	Model      string
	Endpoint   string // whose model it is
	wire       Wire
	settings   settings.Settings
	onWait     func(time.Duration, string)
	model      *review.Model    // nil for rules
	discussion discussionReader // reads the pull request's discussion; nil if there is none
	Account    Account

	Mute   bool          // hides paths and the endpoint's own words
	Linger time.Duration // how long a review continues after the run is cancelled

	mu         sync.Mutex
	cause      error // of the first file that failed
	notes      []string
	failedPath string // its path
	firstWait  string // why the model was first waited for since the last result
	findings   int    // findings so far
	used       cost.Usage
}

// Review passes a file to the model or the rules and counts the result.
func (r *Reviewer) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	return r.askAndCount(ctx, func(ctx context.Context) (finding.FileReview, error) {
		return r.Reviewer.Review(ctx, f)
	})
}

// Redraft passes a file to the model again and counts the result, as Review does.
func (r *Reviewer) Redraft(ctx context.Context, f diff.File, was finding.FileReview, feedback string,
	round int) (finding.FileReview, error) {
	return r.askAndCount(ctx, func(ctx context.Context) (finding.FileReview, error) {
		return r.model.Redraft(ctx, f, was, feedback, round)
	})
}

// Overview passes the whole change to the model, with the pull request's discussion, and
// counts the result.
func (r *Reviewer) Overview(ctx context.Context, w review.Whole) (seen finding.Overview, err error) {
	w.Discussion = r.discussion
	_, err = r.askAndCount(ctx, func(ctx context.Context) (finding.FileReview, error) {
		seen, err = r.model.Overview(ctx, w)
		return finding.FileReview{Findings: finding.Kept(seen.Findings), Usage: seen.Usage}, err
	})
	return seen, err
}

// Learn gives the model pages of the team's wiki, before it reviews any file.
func (r *Reviewer) Learn(pages []prompt.Document, digest string) {
	if r.model != nil {
		r.model.Guides.Pages, r.model.Guides.PagesDigest = pages, digest
	}
}

// Remind tells the model what earlier reviews reported, before it reviews any file.
func (r *Reviewer) Remind(reported func(diff.File) []finding.Finding) {
	if r.model != nil {
		r.model.Reported = reported
	}
}

// askAndCount calls ask, lets it linger if the run is cancelled, and counts the result.
func (r *Reviewer) askAndCount(ctx context.Context,
	ask func(context.Context) (finding.FileReview, error)) (finding.FileReview, error) {
	ctx, done := Lingering(ctx, r.Linger)
	defer done()
	ctx, searches := budget.WithMeter(ctx)
	result, err := ask(ctx)
	result.Usage = cost.Add(result.Usage, searches.Used())
	r.mu.Lock()
	defer r.mu.Unlock()
	result.Notes = slices.Clone(r.notes)
	r.findings += len(result.Findings)
	r.used = cost.Add(r.used, result.Usage)
	if errors.Is(err, cost.ErrSpent) {
		r.cause = cmp.Or(r.cause, err)
	}
	if err == nil {
		r.firstWait = ""
	}
	return result, err
}

// SoFar returns what the finished reviews have found and used, and what they may use.
func (r *Reviewer) SoFar() (findings int, used cost.Usage, limit cost.MicroUSD) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findings, r.used, r.Account.Cap
}

// NewReviewer returns the reviewer for the provider setting. It checks the settings before
// anything is read.
func (w Wire) NewReviewer(s settings.Settings, onWait func(time.Duration, string)) (*Reviewer, error) {
	s = s.WithModel(w.getenv)
	if s.Provider == "offline" {
		return &Reviewer{Reviewer: review.Rules{}, Rules: true, wire: w, settings: s}, nil
	}
	client, err := w.ModelClient(s, onWait)
	if err != nil {
		return nil, err
	}
	r := &Reviewer{Model: s.Model, Endpoint: client.Endpoint(), wire: w, settings: s}
	r.onWait = func(d time.Duration, why string) {
		r.mu.Lock()
		r.firstWait = cmp.Or(r.firstWait, why) // later waits have the same cause, and say less about it
		r.mu.Unlock()
		if onWait != nil {
			onWait(d, why)
		}
	}
	return r, nil
}

// Failed records why a file failed: the first cause is reported at the end of the run. If the
// reviewer panicked, the stack goes to the debug log.
func (r *Reviewer) Failed(path string, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause == nil {
		r.cause, r.failedPath = cause, path
	}
	log := r.wire.debug
	if crash, ok := errors.AsType[*graph.PanicError](cause); ok && log != nil {
		for line := range strings.Lines(string(crash.Stack)) {
			log(line)
		}
	}
}

// note records what did not answer while the reviewer looked around.
func (r *Reviewer) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// Trouble holds what went wrong for a reviewer, for a person. It may contain outside text.
type Trouble struct {
	Notes []string // what could not be looked at
	Path  string   // of the first file that failed
	Cause error    // its cause; nil for none
	Held  string   // why the model was first waited for, if no file has finished since
}

// Trouble returns what went wrong so far, without what Mute hides: notes, the path, and the endpoint's own words.
func (r *Reviewer) Trouble() Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := Trouble{slices.Clone(r.notes), r.failedPath, r.cause, r.firstWait}
	if !r.Mute {
		return t
	}
	t.Notes, t.Path = nil, ""
	if said, ok := errors.AsType[*llm.StatusError](r.cause); ok {
		silent := *said.StatusError
		silent.Message = "" // it may repeat what was asked
		t.Cause = &llm.StatusError{StatusError: &silent}
	}
	return t
}

// Prompt returns the fingerprint of the reviewer's prompt; "" for rules.
func (r *Reviewer) Prompt() string {
	if r.Rules {
		return ""
	}
	return prompt.Fingerprint()
}

// Lingering returns a context that ends linger after ctx is cancelled: the answer that a
// model is about to give is paid for. It keeps the run's deadline. The caller calls done once
// the context is no longer needed.
func Lingering(ctx context.Context, linger time.Duration) (longer context.Context, done func()) {
	if linger == 0 {
		return ctx, func() {}
	}
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); errors.Is(cause, graph.ErrDeadline) {
			end(cause)
			return
		}
		timer := time.NewTimer(linger)
		defer timer.Stop()
		select {
		case <-timer.C:
			end(context.Cause(ctx))
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); end(nil) }
}
