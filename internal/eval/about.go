package eval

import (
	"context"
	"fmt"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/judge"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/stats"
	"github.com/org/pr-review-action/internal/wire"
)

func (r *run) about(ctx context.Context) (score.About, error) {
	a := score.About{Reviewer: r.Reviewer.Name, Fingerprints: r.Fingerprints(), Latency: stats.Quantiles(r.latencies())}
	if a.Reviewer != score.Scripted && r.Reviewer.Chat != nil {
		a.Reviewer, a.Model = "model", r.Reviewer.Name
	}
	if r.Judge == nil {
		return a, nil
	}
	a.Judge = r.Judge.Model
	if !r.Judge.Agreement {
		return a, nil
	}
	agreement, err := judge.New(r.judgeChat(), r.Random, r.labelled.once).Agreement(withAbout(ctx, "a labelled pair"))
	if err != nil {
		return a, fmt.Errorf("measuring the judge: %w", err)
	}
	a.Agreement = &score.Agreement{Agreed: agreement.Agreed, Of: agreement.Of}
	a.Judging = score.Bill(agreement.Usage)
	return a, nil
}

// Fingerprints returns what the report of a run with these options says that it was measured with.
func (o Options) Fingerprints() map[string]string {
	r := &run{Options: o}
	f := map[string]string{
		"cases": dataset.Fingerprint(r.Cases), "config": r.Config.Fingerprint(),
		"graph":  fmt.Sprintf("%s %d", reviewpr.Name, reviewpr.Version),
		"commit": r.Commit, "reviewer": r.reviewerKey(), "gate_from": string(r.GateFrom),
	}
	if r.Reviewer.Chat != nil {
		f["prompt"], f["model"] = prompt.Fingerprint(), r.Reviewer.Chat.Identity()
	}
	if r.Judge != nil {
		f["judge"], f["judge_prompt"], f["judge_model"] = r.judgeKey(), judge.Fingerprint(), r.Judge.Chat.Identity()
	}
	return f
}

// reviewerKey identifies the reviewer: what it asks, which model, and how it reads the answer.
func (r *run) reviewerKey() string {
	if r.Reviewer.Chat == nil {
		return "rules"
	}
	key := r.model(r.Reviewer.Chat, wire.RepoContext{}).Key(diff.File{})
	if r.Blind != (Blind{}) {
		return digest(key, fmt.Sprint(r.Blind))
	}
	return digest(key)
}

func (r *run) judgeKey() string { return digest(judge.Fingerprint(), r.Judge.Chat.Identity()) }

// latencies returns for each case the seconds of its slowest file, as files are
// reviewed in parallel. They come from the journal, so that a continued run has
// them too.
func (r *run) latencies() []float64 {
	var all []float64
	for _, j := range r.review {
		if j == nil {
			continue
		}
		files, slowest := map[string]float64{}, 0.0
		for _, e := range j.exchanges() {
			files[e.About] += e.Seconds
			slowest = max(slowest, files[e.About])
		}
		if len(files) > 0 {
			all = append(all, stats.Round(slowest))
		}
	}
	return all
}

func digest(texts ...string) string { return review.Hash(texts...)[:16] }
