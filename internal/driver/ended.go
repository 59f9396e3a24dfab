package driver

import (
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/trace"
)

// EndRun ends the span of this process's part of a run with what it came to. ref is the
// zero one for local input, and err what ended the process.
func (f *Front) EndRun(span *trace.Span, ref pull.Ref, r Report, began time.Time, err error) {
	outcome := r.Outcome
	if outcome == "" {
		outcome = OutcomeOf(err)
	}
	came := trace.Came{Repository: ref.FullName(), Pull: ref.Number, Outcome: outcome, Findings: len(r.Findings),
		Seconds: f.Now().Sub(began).Seconds()}
	if spent := price(f.Spent).Cost; spent != nil {
		micros := int64(*spent)
		came.Cost = &micros
	}
	span.Came(came)
	span.End(err)
}

// spend notes what a thread has cost beyond what it had before.
func (f *Front) spend(before, now cost.Usage) {
	now.Cost, now.Unpriced = now.Cost-before.Cost, now.Unpriced-before.Unpriced
	f.Spent.Cost, f.Spent.Unpriced = f.Spent.Cost+now.Cost, f.Spent.Unpriced+now.Unpriced
}
