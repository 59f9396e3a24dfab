package wire

import (
	"cmp"
	"crypto/rand"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
)

// Prepare completes a model's reviewer with the settings file: the model for each task, the
// prices, and the caps. It asks no model.
func (r *Reviewer) Prepare(b Brief) error {
	if r.Rules {
		return nil
	}
	options, some := b.repoOptions(r.wire, r.settings.TestResults)
	c := b.Change.Config
	t, own, others := b.tasksAndCosts(r.Model)
	prices, unknown := pricesOf(t, c)
	if err := r.Account.setCap(c, r.settings, others, unknown); err != nil &&
		len(reviewpr.ToReview(b.Change)) > 0 { // where no file is asked about, nothing is spent
		return err
	}
	r.Account.price = prices[r.Model]
	ledger := budget.New(r.Account.Cap)
	ledger.Paid(own)
	once := b.Once
	if once == nil {
		once = b.Paid.Once
	}
	e, err := r.wire.Endpoints(c, r.settings, Asking{Ledger: ledger, Once: once, OnLost: r.note,
		OnWait: r.onWait})
	if err != nil {
		return err
	}
	var around RepoContext
	if options.Note, options.Endpoints = r.note, e; some {
		around = NewRepoContext(options)
	}
	limiter := limit.New(limit.Options{Concurrency: r.settings.Concurrency, OnWait: r.onWait})
	chats, clients := map[string]review.Chatter{}, map[string]*llm.Client{}
	for task, name := range t {
		client, err := r.client(name, c.ModelOptions, limiter)
		if err != nil {
			return err
		}
		if known := clients[name]; known != nil {
			client = known // learn only once what a server accepts
		}
		clients[name] = client
		chats[task] = tracedChat{ledger.Over(client, prices[name]), task, r.settings.BaseURL, name, prices[name]}
	}
	redact := r.wire.Redactor(r.settings, c.Variables()...)
	model := review.NewModel(review.Options{
		Review: cmp.Or(chats[taskRedraft], chats[taskReview]), Verify: chats[taskVerify], Classify: chats[taskClassify],
		Limits: agent.Limits{Turns: c.Agent.Turns(), Time: c.Agent.Time()}, Tools: around.Tools.Redacting(redact),
		Head: around.Head, Pack: around.Pack, PackTokens: options.Tokens,
		Guides: review.Guides{Language: c.Language, Guidelines: c.GuidelinesFor, Instructions: b.Change.Guidance,
			Style: c.Report.Style},
		FileCap: c.MaxCostPerFile, MaxTokens: c.ModelOptions.MaxOutputTokens, Effort: c.ModelOptions.Effort,
		Linters: b.Linted.Hints, Random: rand.Reader, Now: r.wire.now, Redact: redact,
	})
	model.OnFailure = r.Failed
	r.Reviewer, r.model, r.discussion = model, model, b.discussion(redact)
	r.model.Once = once
	return nil
}

// tasksAndCosts returns the model names by task, what earlier parts of the run have cost, and what
// other runs on the pull request have cost. A revision is a separate run that does not
// classify; its draft's cost counts as another run's.
func (b Brief) tasksAndCosts(model string) (t map[string]string, own, others cost.MicroUSD) {
	c := b.Change.Config
	t, own, others = tasks(c, model), b.Paid.Own(), b.Paid.Others()
	if b.Revises == nil {
		return t, own, others
	}
	t = tasks(c, cmp.Or(c.Models.Redraft, model))
	t[taskRedraft] = t[taskReview]
	delete(t, taskReview)
	delete(t, taskClassify)
	return t, max(0, own-b.Revises.Cost), others + b.Revises.Cost
}

// NameModel takes the reviewing model's name from the settings file, if it has one.
func (r *Reviewer) NameModel(c config.Config) {
	if !r.Rules {
		r.Model = cmp.Or(c.Models.Review, r.Model)
	}
}

func (r *Reviewer) client(model string, o config.ModelOptions, l *limit.Limiter) (*llm.Client, error) {
	s := r.settings
	client, err := llm.New(llm.Options{
		BaseURL: s.BaseURL, Key: s.Key, Model: model, HTTP: r.wire.modelHTTP(s, r.onWait), Limiter: l,
		Log: r.wire.debug, ModelOptions: o,
	})
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	return client, nil
}
