package evalcmd

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/wire"
)

func (p Program) options(cases []dataset.Case, files []string, o *Options) (eval.Options, error) {
	e := eval.Options{
		Cases: cases, GateFrom: o.GateFrom, Concurrency: o.Concurrency,
		Commit: wire.Version(), Random: rand.Reader, Now: p.Now, Repos: o.repos,
		Budget: eval.Budget{Cap: o.maxCost},
		Linger: driver.LastAnswers, Announce: p.tell(o),
		Warn: func(err error) { p.tell(o)(warning(driver.Explain(err))) },
	}
	var err error
	if e.Config, err = wire.NamedConfig(o.File(), config.Default()); err != nil {
		return e, err
	}
	e.Index = func(ctx context.Context, dir, commit string) (*index.Index, error) {
		place, err := p.Place(ctx, dir, commit)
		if err != nil {
			return nil, err
		}
		x, _, _, err := place.Index(ctx, index.Options{}, e.Config.Index)
		return x, err
	}
	if e.Reviewer, err = p.reviewer(cases, o); err != nil {
		return e, err
	}
	if e.Judge, err = p.judge(o); err != nil {
		return e, err
	}
	if e.Dir, err = p.runDir(o.out, files, e.Reviewer.Name); err != nil {
		return e, err
	}
	return e, setPrices(&e)
}

// setPrices sets the prices of reviewer and judge. It returns an error if a cost cap could not
// be kept for want of one.
func setPrices(e *eval.Options) error {
	price := func(model string) (*cost.Price, error) {
		if p, ok := wire.PriceOf(model, e.Config); ok {
			return &p, nil
		}
		if e.Budget.Cap == 0 {
			return nil, nil
		}
		return nil, problem.Usage(fmt.Sprintf("--max-cost needs to know what %s costs", model),
			"its price under prices in the settings file (--config)")
	}
	var err error
	if e.Reviewer.Chat != nil && e.Reviewer.Name != score.Scripted {
		e.Budget.Price, err = price(e.Reviewer.Name)
	}
	if e.Judge != nil && err == nil {
		e.Budget.Judge, err = price(e.Judge.Model)
	}
	return err
}

// runDir returns the folder that keeps the run: out, or else a folder next to the store that
// depends on the files and the reviewer.
func (p Program) runDir(out string, files []string, reviewer string) (string, error) {
	if out != "" {
		return out, nil
	}
	base, missing := filestore.UserFolder(p.Getenv, "XDG_STATE_HOME", ".local/state", "Library/Application Support")
	if missing != "" {
		return "", problem.Usage("there is no folder to keep the run in", "name one: --out DIR")
	}
	key := []string{reviewer}
	for _, f := range files {
		if !dataset.Embedded(f) {
			f, _ = filepath.Abs(f) // empty without a working folder
		}
		key = append(key, f)
	}
	return filepath.Join(base+"-eval", review.Hash(key...)[:16]), nil
}

func (p Program) reviewer(cases []dataset.Case, o *Options) (eval.Reviewer, error) {
	if o.scripted.shown {
		return eval.Looking(cases), nil
	}
	if o.scripted.set {
		return eval.Scripted(o.scripted.Options), nil
	}
	s := o.WithModel(p.Getenv)
	if s.Provider == "offline" {
		if o.Provider == "auto" {
			p.tell(o)(p.NoModel)
		}
		return eval.Reviewer{Name: "offline"}, nil
	}
	client, err := p.ModelClient(s, nil)
	return eval.Reviewer{Name: s.Model, Chat: client}, err
}

// judge returns the judge's model. A separate endpoint gets its own key, never the
// reviewer's.
func (p Program) judge(o *Options) (*eval.Judge, error) {
	if o.judge == noJudge {
		return nil, nil
	}
	s := o.WithModel(p.Getenv)
	s.Model = o.judge
	if o.judgeURL != "" {
		s.BaseURL, s.Key = o.judgeURL, p.Getenv("PR_REVIEW_JUDGE_KEY")
	}
	client, err := p.ModelClient(s, nil)
	return &eval.Judge{Model: s.Model, Chat: client, Agreement: o.agreement}, err
}
