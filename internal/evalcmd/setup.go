package evalcmd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wire"
)

func (p Program) options(cases []dataset.Case, files []string, o *Options) (eval.Options, error) {
	e := eval.Options{
		Cases: cases, GateFrom: o.GateFrom, Concurrency: o.Concurrency,
		Commit: wire.Version(), Random: rand.Reader, Now: p.Now, Repos: o.repos,
		Budget: eval.Budget{Cap: o.maxCost, Price: o.price, Judge: o.judgePrice},
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
		x, _, _, err := place.Index(ctx,
			index.Options{Ignored: e.Config.Index.Ignores, MaxFiles: e.Config.Index.MaxFiles})
		return x, err
	}
	if e.Decisions, err = readDecisions(o.decisions); err != nil {
		return e, err
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
	return e, checkPrices(&e, o)
}

// checkPrices returns an error if a cost cap could not be kept for want of a price. A judge that
// uses the reviewer's model has the reviewer's price.
func checkPrices(e *eval.Options, o *Options) error {
	if e.Judge != nil && e.Budget.Judge == nil && e.Judge.Model == e.Reviewer.Name {
		e.Budget.Judge = e.Budget.Price
	}
	asks := e.Reviewer.Chat != nil && !o.scripted.set
	switch {
	case e.Budget.Cap == 0:
		return nil
	case asks && e.Budget.Price == nil:
		return problem.Usage("--max-cost needs to know what the model costs",
			"--price IN/OUT, in USD per million input and output tokens, such as 0.25/2")
	case e.Judge != nil && e.Budget.Judge == nil:
		return problem.Usage("--max-cost needs to know what the judge costs",
			"--judge-price IN/OUT, in USD per million input and output tokens, such as 1.25/10")
	}
	return nil
}

// runDir returns the folder that keeps the run: out, or else a folder beside the store that
// depends on the files and the reviewer.
func (p Program) runDir(out string, files []string, reviewer string) (string, error) {
	if out != "" {
		return out, nil
	}
	base, missing := filestore.UserFolder(p.Getenv, "XDG_STATE_HOME", ".local/state", "Library/Application Support")
	if missing != "" {
		return "", problem.Usage("there is no folder to keep the run in", "name one: --out DIR")
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", reviewer)
	for _, f := range files {
		if !dataset.Embedded(f) {
			f, _ = filepath.Abs(f) // empty without a working folder
		}
		fmt.Fprintf(sum, "%s\n", f)
	}
	return filepath.Join(base+"-eval", fmt.Sprintf("%x", sum.Sum(nil)[:8])), nil
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

// judge returns the judge's model. A separate endpoint gets a key of its own, never the
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

func readDecisions(path string) ([]eval.Decision, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, problem.Usage("the decisions cannot be read: "+err.Error(),
			"name a file of JSON lines: case, draft, commands")
	}
	defer f.Close()
	all, err := eval.ReadDecisions(f)
	if err != nil {
		return nil, problem.Usage(path+": "+err.Error(),
			`a line is {"case": …, "draft": …, "commands": "/drop F2"}; eval show prints the draft's name`)
	}
	return all, nil
}
