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

// Reviewer is who reviews: a model or the rules. One by a model is asked only
// after prepare.
type Reviewer struct {
	review.Reviewer
	Rules    bool
	Model    string
	Endpoint string // whose model it is
	wire     Wire
	settings settings.Settings
	onWait   func(time.Duration, string)
	asks     *review.Model // nil for rules
	said     said          // on the pull request; nil where there is none
	Account  Account

	Mute   bool          // neither a path nor the endpoint's own words are shown
	Linger time.Duration // how long a review goes on when the run is cancelled

	mu    sync.Mutex
	cause error // of the first file that failed
	notes []string
	where string // its path
	held  string // why the model was first waited for since the last result
	found int    // findings so far
	used  cost.Usage
}

// Review passes on to the model or the rules and counts what comes back.
func (r *Reviewer) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	return r.counted(ctx, func(ctx context.Context) (finding.FileReview, error) { return r.Reviewer.Review(ctx, f) })
}

// Redraft passes on to the model and counts what comes back, as Review does.
func (r *Reviewer) Redraft(ctx context.Context, f diff.File, was finding.FileReview, feedback string,
	round int) (finding.FileReview, error) {
	return r.counted(ctx, func(ctx context.Context) (finding.FileReview, error) {
		return r.asks.Redraft(ctx, f, was, feedback, round)
	})
}

// Overview passes on to the model what there is to look at, with what was said on the pull
// request, and counts what comes back.
func (r *Reviewer) Overview(ctx context.Context, w review.Whole) (seen finding.Overview, err error) {
	w.Discussion = r.said
	_, err = r.counted(ctx, func(ctx context.Context) (finding.FileReview, error) {
		seen, err = r.asks.Overview(ctx, w)
		return finding.FileReview{Findings: finding.Kept(seen.Findings), Usage: seen.Usage}, err
	})
	return seen, err
}

// Learn gives the model pages of the team's wiki, before it is asked about a file.
func (r *Reviewer) Learn(pages []prompt.Document, digest string) {
	if r.asks != nil {
		r.asks.Guides.Pages, r.asks.Guides.PagesDigest = pages, digest
	}
}

// counted asks, a while longer where the run is cancelled, and counts what comes back.
func (r *Reviewer) counted(ctx context.Context,
	ask func(context.Context) (finding.FileReview, error)) (finding.FileReview, error) {
	ctx, done := Lingering(ctx, r.Linger)
	defer done()
	ctx, searches := budget.Metered(ctx)
	result, err := ask(ctx)
	result.Usage = cost.Add(result.Usage, searches.Used())
	r.mu.Lock()
	defer r.mu.Unlock()
	result.Notes = slices.Clone(r.notes)
	r.found += len(result.Findings)
	r.used = cost.Add(r.used, result.Usage)
	if errors.Is(err, cost.ErrSpent) {
		r.cause = cmp.Or(r.cause, err)
	}
	if err == nil {
		r.held = ""
	}
	return result, err
}

// SoFar is what the reviews that ended have found and used, and what they may use.
func (r *Reviewer) SoFar() (findings int, used cost.Usage, limit cost.MicroUSD) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.found, r.used, r.Account.Cap
}

// NewReviewer chooses by the provider setting. What can be wrong with it is found
// here, before anything is read.
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
		r.held = cmp.Or(r.held, why) // what follows is of no other cause, and says less of it
		r.mu.Unlock()
		if onWait != nil {
			onWait(d, why)
		}
	}
	return r, nil
}

// Failed notes why a file failed: the first one's cause is told when the run has
// ended. Where the reviewer itself panicked, debug logging has the stack.
func (r *Reviewer) Failed(path string, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause == nil {
		r.cause, r.where = cause, path
	}
	log := r.wire.debug
	if crash, ok := errors.AsType[*graph.PanicError](cause); ok && log != nil {
		for line := range strings.Lines(string(crash.Stack)) {
			log(line)
		}
	}
}

// note takes what did not answer while the reviewer looked around.
func (r *Reviewer) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// Trouble is what a reviewer has met, for a person. It may hold text from outside.
type Trouble struct {
	Notes []string // what could not be looked at
	Path  string   // of the first file that failed
	Cause error    // what lay behind that; nil for none
	Held  string   // why the model was first waited for, where no file has come to its end since
}

// Trouble tells of it. What Mute hides is left out: notes, the path, and what the endpoint said.
func (r *Reviewer) Trouble() Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := Trouble{slices.Clone(r.notes), r.where, r.cause, r.held}
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

// Prompt is the fingerprint of what the reviewer is told.
func (r *Reviewer) Prompt() string {
	if r.Rules {
		return ""
	}
	return prompt.Fingerprint()
}

// Lingering is a context that ends some time after ctx was cancelled: what a model
// is about to answer was paid for. A deadline of the run it keeps. Done is called
// when it is not needed any more.
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
