package driver

import (
	"context"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
)

// Facts returns what a draft says of who makes it, how and when.
func (f *Front) Facts(ctx context.Context, s settings.Settings, r *wire.Reviewer) reviewpr.Draft {
	now := f.Clock()
	return reviewpr.Draft{
		Instance: s.Instance, Rules: r.Rules, Model: r.Model, GateFrom: s.GateFrom, Prompt: r.Prompt(),
		CreatedAt: now, ExpiresAt: now.Add(s.Expires), ToolVersion: wire.Version(), MaxCost: r.Account.Cap,
		Trace: trace.Parent(ctx),
	}
}

// MayRevise refuses to have rules revise, or a draft that they made.
func MayRevise(r *wire.Reviewer, d reviewpr.Draft) error {
	const next = "change single findings with commands such as /drop F2, or draft anew with a model"
	switch {
	case d.Rules:
		return problem.Usage("this draft was made by rules, and rules cannot be revised", next)
	case r.Rules:
		return problem.Usage("rules cannot be revised, and "+wire.NoModel,
			"for a model: OPENAI_API_KEY=… or --base-url; without one "+next)
	}
	return nil
}

// Redrafted takes over the facts of a run that revised a draft. The draft may have
// cost as much as before, and what the run may cost.
func Redrafted(r *wire.Reviewer, d, facts reviewpr.Draft, before cost.Usage) reviewpr.Draft {
	d.CreatedAt, d.ExpiresAt, d.ToolVersion, d.Prompt, d.Trace = facts.CreatedAt, facts.ExpiresAt, facts.ToolVersion,
		facts.Prompt, facts.Trace
	if d.MaxCost = 0; r.Account.Cap > 0 {
		d.MaxCost = before.Cost + r.Account.Cap
	}
	return d
}
