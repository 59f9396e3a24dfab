package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/guard"
)

// evalOptions are the flags of the eval commands.
type evalOptions struct {
	judge     string
	judgeURL  string
	agreement bool
	limit     int
	scripted  scripted
	baseline  string
	tolerance float64
	maxCost   cost.MicroUSD
	price     *cost.Price
	decisions string
	last      int    // eval import
	all       bool   // eval import
	diff      string // eval findings
	repo      string // eval findings
}

func evalRunFlags(f *pflag.FlagSet, o *options) {
	e := &o.eval
	mirror(f, &o.settings, "provider", "base-url", "model", "concurrency", "config", "gate-from", "allow-http")
	f.StringVar(&e.judge, "judge", "none", "model that judges whether a finding means the known defect; none: place alone decides")
	f.StringVar(&e.judgeURL, "judge-base-url", "", "the judge's endpoint, with its key in PR_REVIEW_JUDGE_KEY; else the reviewer's")
	f.BoolVar(&e.agreement, "agreement", false, "measure the judge against people on 30 labelled pairs")
	f.Var(&e.scripted, "scripted", "review by a script that knows the answers: RECALL or RECALL:NOISE[:SEED], such as 0.8:0.5")
	f.IntVar(&e.limit, "limit", 0, "run the first N cases alone")
	f.Var(parsed(func(v string) (err error) { e.maxCost, err = cost.ParseUSD(v); return err }), "max-cost", "stop before the run costs more than this many USD, judge included")
	f.Var(parsed(func(v string) error { p, err := cost.ParsePrice(v); e.price = &p; return err }), "price", "USD per million input and output tokens, such as 0.25/2, where the endpoint reports no cost")
	f.StringVar(&e.baseline, "baseline", "", "the object that an earlier run printed; exit 1 where this run is worse")
	f.Float64Var(&e.tolerance, "tolerance", 0, "how many points worse than the baseline is no failure")
	f.StringVar(&e.decisions, "decisions", "", "decisions recorded at the gate, JSON lines: case, draft, commands")
	f.StringVar(&o.out, "out", "", "folder of results and journal; a run in the same one is continued")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}

// parsed is a flag that a function reads.
type parsed func(string) error

func (parsed) String() string       { return "" }
func (parsed) Type() string         { return "value" }
func (p parsed) Set(v string) error { return p(v) }

// scripted is --scripted.
type scripted struct {
	set bool
	oracle.Options
}

func (s *scripted) String() string { return "" }
func (s *scripted) Type() string   { return "value" }

// Set reads RECALL[:NOISE[:SEED]].
func (s *scripted) Set(v string) error {
	parts := strings.Split(v, ":")
	recall, err := strconv.ParseFloat(parts[0], 64)
	s.set, s.Recall, s.Noise, s.Seed = true, recall, 0, 1
	if err == nil && len(parts) > 1 {
		s.Noise, err = strconv.ParseFloat(parts[1], 64)
	}
	if err == nil && len(parts) > 2 {
		s.Seed, err = strconv.ParseUint(parts[2], 10, 64)
	}
	if err != nil || len(parts) > 3 || !(s.Recall >= 0 && s.Recall <= 1) || !(s.Noise >= 0 && s.Noise <= 20) {
		return fmt.Errorf("%q is none of RECALL, RECALL:NOISE, RECALL:NOISE:SEED with a recall from 0 to 1 and a noise from 0 to 20 findings a file", v)
	}
	return nil
}

// evalRun reviews and scores the cases of files.
func (a *app) evalRun(ctx context.Context, args []string, o *options) error {
	if len(args) == 0 {
		return usageError("eval run takes files of cases", a.name+" eval run starter runs the set that comes with it")
	}
	cases, err := dataset.Read(args...)
	if err != nil {
		return usage{err}
	}
	if o.eval.limit > 0 {
		cases = cases[:min(len(cases), o.eval.limit)]
	}
	baseline, err := readBaseline(o.eval.baseline)
	if err != nil {
		return err
	}
	options, err := a.evalOptions(cases, args, o)
	if err != nil {
		return err
	}
	p := a.newProgress(o)
	options.Observe = p.cases
	a.announce(options, o)
	report, err := eval.Run(ctx, options)
	p.stop()
	if err != nil {
		return stopped(err, options.Dir)
	}
	return a.evaluated(report, baseline, options.Dir, o)
}

// announce says, before anything is paid, what a run is going to ask.
func (a *app) announce(e eval.Options, o *options) {
	if !o.quiet {
		fmt.Fprintln(a.Stderr, eval.Forecast(e))
	}
}

// evaluated prints the report, and holds it against the baseline.
func (a *app) evaluated(report score.Report, baseline *score.Report, dir string, o *options) error {
	var err error
	if o.json {
		err = printJSON(a.Stdout, report)
	} else {
		_, err = fmt.Fprint(a.Stdout, report.Markdown())
	}
	if err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintln(a.Stderr, eval.Took(report))
		fmt.Fprintf(a.Stderr, "Kept in %s: %s eval show CASE --out %s tells why.\n", guard.Line(dir, 0), a.name, guard.Line(dir, 0))
	}
	if baseline == nil {
		return nil
	}
	missed, err := report.Missed(*baseline, o.eval.tolerance)
	switch {
	case err != nil:
		return usageError("the baseline cannot be compared: "+err.Error(), "make a new one of these cases: --json > "+o.eval.baseline)
	case len(missed) > 0:
		return problem("the baseline is missed", strings.Join(missed, "; "), a.name+" eval diff names the cases, given the folders of both runs")
	}
	return nil
}

func readBaseline(path string) (*score.Report, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError("the baseline cannot be read: "+err.Error(), "name the object that an earlier run printed with --json")
	}
	r, err := score.ReadReport(text)
	if err != nil {
		return nil, usageError(fmt.Sprintf("the baseline %s cannot be read: %s", path, err), "name the object that an earlier run printed with --json")
	}
	return &r, nil
}

// evalOptions are the options of a run over cases that were read from files.
func (a *app) evalOptions(cases []dataset.Case, files []string, o *options) (eval.Options, error) {
	e := eval.Options{
		Cases: cases, GateFrom: o.gateFrom, Concurrency: o.concurrency, Commit: Version(), Random: rand.Reader, Now: a.Now,
		Budget: eval.Budget{Cap: o.eval.maxCost, Price: o.eval.price},
	}
	var err error
	if e.Dir, err = a.evalDir(o.out, files); err != nil {
		return e, err
	}
	if e.Config, err = namedConfig(config.Default(), o); err != nil {
		return e, err
	}
	if e.Decisions, err = readDecisions(o.eval.decisions); err != nil {
		return e, err
	}
	if e.Reviewer, err = a.reviewed(o); err != nil {
		return e, err
	}
	e.Judge, err = a.judge(o)
	return e, err
}

// evalDir is where a run is kept: as named, else a folder for these files' names
// beside the store.
func (a *app) evalDir(out string, files []string) (string, error) {
	if out != "" {
		return out, nil
	}
	base, err := filestore.Default(func(name string) string {
		if name == "PR_REVIEW_STORE" {
			return ""
		}
		return a.getenv(name)
	})
	if err != nil {
		return "", usageError("there is no folder to keep the run in", "name one: --out DIR")
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)))
	}
	return filepath.Join(base+"-eval", strings.Join(names, "+")), nil
}

// reviewed is the reviewer under test.
func (a *app) reviewed(o *options) (eval.Reviewer, error) {
	if o.eval.scripted.set {
		return eval.Scripted(o.eval.scripted.Options), nil
	}
	s := a.modelSettings(o.settings)
	if s.provider == "offline" {
		if o.provider == "auto" && !o.quiet {
			fmt.Fprintln(a.Stderr, noModelNotice)
		}
		return eval.Reviewer{Name: "offline"}, nil
	}
	client, err := a.model(s, nil)
	return eval.Reviewer{Name: s.model, Chat: client}, err
}

func (a *app) judge(o *options) (*eval.Judge, error) {
	if o.eval.judge == "none" {
		return nil, nil
	}
	s := o.settings
	s.model = o.eval.judge
	if o.eval.judgeURL != "" {
		s.baseURL, s.key = o.eval.judgeURL, a.getenv("PR_REVIEW_JUDGE_KEY")
	}
	s.provider = "openai"
	client, err := a.model(a.modelSettings(s), nil)
	return &eval.Judge{Model: s.model, Chat: client, Agreement: o.eval.agreement}, err
}

// stopped words the error of a run that did not come to its end.
func stopped(err error, dir string) error {
	next := "run it again in the same folder: what was paid is kept in " + dir
	if errors.Is(err, eval.ErrUnpriced) {
		return usageError(err.Error(), "say what it costs, such as --price 0.25/2, or leave --max-cost out; what was paid is kept in "+dir)
	}
	if s, ok := errors.AsType[*eval.StoppedError](err); ok {
		return spent{problem("the run "+s.Error(), "", "raise --max-cost and "+next)}
	}
	if errors.Is(err, context.Canceled) {
		return problem("the run was cancelled", "", next)
	}
	return cmp.Or(err)
}

func readDecisions(path string) ([]eval.Decision, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usageError("the decisions cannot be read: "+err.Error(), "name a file of JSON lines: case, draft, commands")
	}
	defer f.Close()
	all, err := eval.ReadDecisions(f)
	if err != nil {
		return nil, usageError(path+": "+err.Error(), "a line is {\"case\": …, \"draft\": …, \"commands\": \"/drop F2\"}; eval show prints the draft's name")
	}
	return all, nil
}
