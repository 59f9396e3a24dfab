package app

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/review"
)

// defaultMaxCost caps a run for which nobody set a cap, where its models' prices
// are known.
const defaultMaxCost cost.MicroUSD = 1_000_000

// brief is what a reviewer by a model is told once the change was read.
type brief struct {
	change ingest.Change
	paid   reviewpr.Paid
	surroundings
	revises *cost.Usage // of the draft that is revised; nil for a first one
}

// account is what the models of a run may cost and do.
type account struct {
	cap    cost.MicroUSD // 0: none can be held
	notice string        // why no cap holds, where that is so
	why    string        // why it is lower than the cap of a run, where that is so
	price  *cost.Price   // of the model that reviews
}

// prepare completes a reviewer by a model with what the settings file says: which
// model for which task, their prices, and the caps. Nothing is asked yet.
func (r *reviewer) prepare(b brief) error {
	if r.rules {
		return nil
	}
	c := b.change.Config
	t := b.tasks(r.model)
	prices, unknown := pricesOf(t, c)
	if err := r.open(c, b.others(), unknown); err != nil {
		return err
	}
	r.account.price = prices[r.model]
	ledger := budget.New(r.account.cap)
	ledger.Paid(b.own())
	limiter := limit.New(limit.Options{Concurrency: r.settings.concurrency, OnWait: r.onWait})
	chats, clients := map[string]review.Chatter{}, map[string]*llm.Client{}
	for task, name := range t {
		client, err := r.client(name, c.ModelOptions, limiter)
		if err != nil {
			return err
		}
		if known := clients[name]; known != nil {
			client = known // what a server takes is learned once
		}
		clients[name] = client
		chats[task] = spoken{ledger.Over(client, prices[name]), task, r.settings.baseURL, name, prices[name]}
	}
	own := r.app.own(r.settings)
	model := review.NewModel(review.Options{
		Review: cmp.Or(chats[redrafts], chats[reviews]), Verify: chats[verifies], Classify: chats[classifies],
		Limits: agent.Limits{Turns: c.Agent.Turns(), Time: c.Agent.Time()}, Tools: b.tools.Redacting(own), Head: b.head,
		Guides:  review.Guides{Language: c.Language, Guidelines: c.GuidelinesFor, Instructions: b.change.Guidance},
		FileCap: c.MaxCostPerFile, MaxTokens: c.ModelOptions.MaxOutputTokens, Effort: c.ModelOptions.Effort, Random: rand.Reader, Now: r.app.Now, Redact: own,
	})
	model.OnFailure = r.failed
	r.Reviewer, r.asks = model, model
	r.asks.Once = b.paid.Once
	return nil
}

// own is what earlier parts of the run have cost. A revision is a run of its own:
// what its draft had cost before is none of it.
func (b brief) own() cost.MicroUSD {
	if b.revises == nil {
		return b.paid.Own()
	}
	return max(0, b.paid.Own()-b.revises.Cost)
}

// others is what other runs on the pull request have cost, and with them the draft
// that is revised.
func (b brief) others() cost.MicroUSD {
	if b.revises == nil {
		return b.paid.Others()
	}
	return b.paid.Others() + b.revises.Cost
}

// named takes the reviewing model's name from the settings file, where it has one.
func (r *reviewer) named(c config.Config) {
	if !r.rules {
		r.model = cmp.Or(c.Models.Review, r.model)
	}
}

// The tasks that models are asked for.
const (
	reviews    = "review"
	redrafts   = "redraft"
	verifies   = "verify"
	classifies = "classify"
)

// tasks are the models' names by the tasks that are done. A revision labels nothing.
func (b brief) tasks(model string) map[string]string {
	c := b.change.Config
	if b.revises == nil {
		return tasks(c, model)
	}
	t := tasks(c, cmp.Or(c.Models.Redraft, model))
	t[redrafts] = t[reviews]
	delete(t, reviews)
	delete(t, classifies)
	return t
}

// tasks are those of a review.
func tasks(c config.Config, model string) map[string]string {
	t := map[string]string{reviews: model}
	if c.Verifies() {
		t[verifies] = cmp.Or(c.Models.Verify, model)
	}
	if c.Classifies() {
		t[classifies] = c.Models.Classify
	}
	return t
}

// pricesOf are the prices of the models by name; unknown names one that has none.
func pricesOf(tasks map[string]string, c config.Config) (prices map[string]*cost.Price, unknown string) {
	prices = map[string]*cost.Price{}
	for _, task := range []string{reviews, redrafts, verifies, classifies} {
		name, asked := tasks[task]
		if !asked {
			continue
		}
		p, ok := c.Prices[name]
		if !ok {
			p, ok = cost.PriceOf(name)
		}
		if !ok {
			unknown = cmp.Or(unknown, name)
			continue
		}
		prices[name] = &p
	}
	return prices, unknown
}

// open settles what the run may cost; before is what others on the pull request
// have. A cap that was set needs the price of every model, or it could not be held.
func (r *reviewer) open(c config.Config, before cost.MicroUSD, unknown string) error {
	run, pull := cmp.Or(r.settings.maxCost, c.MaxCost), cmp.Or(r.settings.maxCostPerPull, c.MaxCostPerPull)
	switch {
	case unknown != "" && (run > 0 || pull > 0 || c.MaxCostPerFile > 0):
		return problem.Usage(fmt.Sprintf("a cost cap is set and the price of the model %q is not known, so the cap could not be held", unknown),
			fmt.Sprintf("say what it costs, in USD per million tokens: prices: { %q: { input: 0.25, output: 2 } } in %s of the base commit, or for a diff in a file that --config names", unknown, r.settings.config))
	case unknown != "":
		r.account.notice = fmt.Sprintf("The price of the model %q is not known, so the default cap of %s does not hold; with prices in %s it does.", unknown, defaultMaxCost, r.settings.config)
		return nil
	}
	r.account.cap = cmp.Or(run, defaultMaxCost)
	if pull == 0 {
		return nil
	}
	if before >= pull {
		return problem.As(problem.Spent, problem.New(fmt.Sprintf("the reviews of this pull request have cost %s, and max-cost-per-pull is %s", before, pull), "", "raise max-cost-per-pull; nothing was asked"), "")
	}
	if left := pull - before; left < r.account.cap {
		r.account.cap = left
		r.account.why = fmt.Sprintf("max-cost-per-pull is %s, and the reviews of this pull request before have cost %s", pull, before)
	}
	return nil
}

func (r *reviewer) client(model string, o config.ModelOptions, l *limit.Limiter) (*llm.Client, error) {
	s := r.settings
	client, err := llm.New(llm.Options{
		BaseURL: s.baseURL, Key: s.key, Model: model, HTTP: r.app.modelHTTP(s, r.onWait), Limiter: l, Log: r.app.debug(),
		Headers: o.Headers, Body: o.Body, Effort: o.Effort, Temperature: o.Temperature, Seed: o.Seed, MaxTokens: o.MaxOutputTokens,
	})
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	return client, nil
}

// expects says what is about to be asked and what that may cost.
func (r *reviewer) expects(c ingest.Change, paid reviewpr.Paid) []string {
	if r.rules {
		return nil
	}
	files, calls := 0, []budget.Expected{}
	for _, f := range reviewpr.ToReview(c) {
		if !paid.Has(r.Key(f)) {
			files++
			calls = append(calls, r.guess(len(f.Patch))...)
		}
	}
	lines := []string{render.Expected(files, budget.Estimate(calls, r.account.price), r.account.cap)}
	if r.account.notice != "" {
		lines = append(lines, r.account.notice)
	}
	return lines
}

// guess is about what a file's review asks: where a model may look around, it does
// so once, and every third file has a finding that is looked at again.
func (r *reviewer) guess(patch int) []budget.Expected {
	review := budget.Expected{Times: 1, Bytes: len(prompt.System()) + 2*patch + guessedFrame}
	if len(r.asks.Tools.Offers()) > 0 {
		review.Times = 2
	}
	calls := []budget.Expected{review}
	if r.asks.Verify != nil {
		calls = append(calls, budget.Expected{Bytes: review.Bytes / 3, Output: guessedVerdict})
	}
	if r.asks.Classify != nil {
		calls = append(calls, budget.Expected{Bytes: 2*patch + guessedFrame, Output: guessedLabel})
	}
	return calls
}

// guessedVerdict and guessedLabel are about the tokens of such answers, the first
// of a third of the files.
const (
	guessedVerdict = 300
	guessedLabel   = 200
)

// guessedFrame is about the bytes of a question beside the system turn and the diff.
const guessedFrame = 2_000

// debug takes a line about each try and the stack of a panic, where a re-run of
// the job asks for debug logging or RUNNER_DEBUG is 1; nil otherwise.
func (a *app) debug() func(string) {
	out, prefix := a.Stderr, ""
	if a.getenv("GITHUB_ACTIONS") == "true" {
		out, prefix = a.Stdout, "::debug::"
	}
	if a.getenv("RUNNER_DEBUG") != "1" {
		return nil
	}
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, prefix+guard.Line(line, maxLine))
	}
}
