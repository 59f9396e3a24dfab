package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
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
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

// noJudge is the value of --judge with which place alone decides.
const noJudge = "none"

// evalOptions are the flags of the eval commands.
type evalOptions struct {
	judge      string
	judgeURL   string
	agreement  bool
	limit      int
	scripted   scripted
	baseline   string
	judgePrice *cost.Price
	tolerance  float64
	maxCost    cost.MicroUSD
	price      *cost.Price
	decisions  string
	last       int    // eval import
	all        bool   // eval import
	diff       string // eval findings
	repo       string // eval findings
}

func evalRunFlags(f *pflag.FlagSet, o *options) {
	e := &o.eval
	mirror(f, &o.settings, "provider", "base-url", "model", "concurrency", "config", "gate-from", "allow-http")
	f.StringVar(&e.judge, "judge", noJudge, "model that judges whether a finding means the known defect; none: place alone decides")
	f.StringVar(&e.judgeURL, "judge-base-url", "", "the judge's endpoint, with its key in PR_REVIEW_JUDGE_KEY; else the reviewer's")
	f.BoolVar(&e.agreement, "agreement", false, "measure the judge against people on 30 labelled pairs")
	f.Var(&e.scripted, "scripted", "review by a script that knows the answers: RECALL or RECALL:NOISE[:SEED], such as 0.8:0.5")
	f.IntVar(&e.limit, "limit", 0, "run the first N cases alone")
	f.Var(parsed(func(v string) (err error) { e.maxCost, err = cost.ParseUSD(v); return err }), "max-cost", "stop before the run costs more than this many USD, judge included; needs the prices")
	f.Var(parsed(func(v string) error { p, err := cost.ParsePrice(v); e.price = &p; return err }), "price", "of the model: USD per million input and output tokens, such as 0.25/2")
	f.Var(parsed(func(v string) error { p, err := cost.ParsePrice(v); e.judgePrice = &p; return err }), "judge-price", "the same of the judge")
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

// checkEval refuses flags that contradict each other or mean nothing.
func (o *options) checkEval() error {
	e := &o.eval
	switch {
	case e.limit < 0:
		return problem.Usage(fmt.Sprintf("--limit %d is no number of cases", e.limit), "")
	case !(e.tolerance >= 0 && e.tolerance <= 100):
		return problem.Usage(fmt.Sprintf("--tolerance %g is no number of points", e.tolerance), "give 0 to 100")
	case e.tolerance > 0 && e.baseline == "":
		return problem.Usage("--tolerance has no baseline", "name one with --baseline FILE")
	case e.scripted.set && (o.model != "" || o.provider != "auto"):
		return problem.Usage("--scripted asks no model", "leave out --model and --provider, or --scripted")
	case e.judge == "":
		return problem.Usage("--judge names no model", "name one, or none")
	case e.judge == noJudge && (e.agreement || e.judgeURL != "" || e.judgePrice != nil):
		return problem.Usage("there is no judge", "name its model with --judge MODEL")
	}
	return nil
}

// evalRun reviews and scores the cases of files.
func (a *app) evalRun(ctx context.Context, args []string, o *options) error {
	if err := o.checkEval(); err != nil {
		return err
	}
	if len(args) == 0 {
		return problem.Usage("eval run takes files of cases", a.name+" eval run starter runs the set that comes with it")
	}
	cases, err := dataset.Read(args...)
	if err != nil {
		return problem.As(problem.Misuse, err, "")
	}
	if o.eval.limit > 0 {
		cases = cases[:min(len(cases), o.eval.limit)]
	}
	options, err := a.evalOptions(cases, args, o)
	if err != nil {
		return err
	}
	baseline, err := readBaseline(options, o)
	if err != nil {
		return err
	}
	p := a.newProgress(o)
	options.Observe = p.cases
	report, err := eval.Run(ctx, options)
	p.stop()
	if err != nil {
		return a.stopped(err, options.Dir)
	}
	return a.evaluated(report, baseline, options.Dir, o)
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
		return problem.Usage("the baseline cannot be compared: "+err.Error(), "make a new one with the same cases and judge: --json > "+o.eval.baseline)
	case len(missed) > 0:
		return problem.New("the baseline is missed", strings.Join(missed, "; "), a.name+" eval diff names the cases, given the folders of both runs")
	}
	return nil
}

// readBaseline reads the baseline, and refuses one that cannot be compared before
// anything is paid.
func readBaseline(e eval.Options, o *options) (*score.Report, error) {
	path := o.eval.baseline
	if path == "" {
		return nil, nil
	}
	next := "make a new one with the same cases and judge: --json > " + path
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, problem.Usage("the baseline cannot be read: "+err.Error(), next)
	}
	r, err := score.ReadReport(text)
	switch cases := r.Fingerprints["cases"]; {
	case err != nil:
		return nil, problem.Usage(fmt.Sprintf("the baseline %s cannot be read: %s", path, err), next)
	case cases != "" && cases != dataset.Fingerprint(e.Cases):
		return nil, problem.Usage("the baseline cannot be compared: it is of other cases", next)
	case r.Judged && e.Judge == nil:
		return nil, problem.Usage("the baseline cannot be compared: it was judged, and this run has no judge", next)
	}
	return &r, nil
}

// evalOptions are the options of a run over cases that were read from files.
func (a *app) evalOptions(cases []dataset.Case, files []string, o *options) (eval.Options, error) {
	e := eval.Options{
		Cases: cases, GateFrom: o.gateFrom, Concurrency: o.concurrency, Commit: Version(), Random: rand.Reader, Now: a.Now,
		Budget: eval.Budget{Cap: o.eval.maxCost, Price: o.eval.price, Judge: o.eval.judgePrice},
		Linger: lastAnswers, Announce: a.tell(o), Warn: a.odd(o),
	}
	var err error
	if e.Config, err = namedConfig(config.Default(), o); err != nil {
		return e, err
	}
	if e.Decisions, err = readDecisions(o.eval.decisions); err != nil {
		return e, err
	}
	if e.Reviewer, err = a.reviewed(o); err != nil {
		return e, err
	}
	if e.Judge, err = a.judge(o); err != nil {
		return e, err
	}
	if e.Dir, err = a.evalDir(o.out, files, e.Reviewer.Name); err != nil {
		return e, err
	}
	return e, a.priced(&e, o)
}

// priced refuses a cap that could not be held. A judge that is the reviewer's model
// costs what the reviewer costs.
func (a *app) priced(e *eval.Options, o *options) error {
	if e.Judge != nil && e.Budget.Judge == nil && e.Judge.Model == e.Reviewer.Name {
		e.Budget.Judge = e.Budget.Price
	}
	asks := e.Reviewer.Chat != nil && !o.eval.scripted.set
	switch {
	case e.Budget.Cap == 0:
		return nil
	case asks && e.Budget.Price == nil:
		return problem.Usage("--max-cost needs to know what the model costs", "--price IN/OUT, in USD per million input and output tokens, such as 0.25/2")
	case e.Judge != nil && e.Budget.Judge == nil:
		return problem.Usage("--max-cost needs to know what the judge costs", "--judge-price IN/OUT, in USD per million input and output tokens, such as 1.25/10")
	}
	return nil
}

// tell prints notices.
func (a *app) tell(o *options) func(string) {
	return func(s string) {
		if !o.quiet {
			fmt.Fprintln(a.Stderr, s)
		}
	}
}

// odd prints what is odd and no error.
func (a *app) odd(o *options) func(error) {
	return func(err error) {
		if !o.quiet {
			a.warn(explain(err))
		}
	}
}

// evalDir is where a run is kept: as named, else a folder beside the store, for
// these files and this reviewer.
func (a *app) evalDir(out string, files []string, reviewer string) (string, error) {
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
		return "", problem.Usage("there is no folder to keep the run in", "name one: --out DIR")
	}
	sum, names := sha256.New(), []string{reviewer}
	for _, f := range files {
		if f != dataset.StarterName {
			f, _ = filepath.Abs(f) // the name alone where there is no working folder
		}
		fmt.Fprintf(sum, "%s\n", f)
		names = append(names, strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)))
	}
	readable := strings.Map(func(r rune) rune {
		if strings.ContainsRune("/\\: ", r) {
			return '-'
		}
		return r
	}, strings.Join(names, "-"))
	return filepath.Join(base+"-eval", fmt.Sprintf("%.80s-%x", readable, sum.Sum(nil)[:4])), nil
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

// judge is the judge's model. An endpoint of its own gets a key of its own, never
// the reviewer's.
func (a *app) judge(o *options) (*eval.Judge, error) {
	if o.eval.judge == noJudge {
		return nil, nil
	}
	s := a.modelSettings(o.settings)
	s.model = o.eval.judge
	if o.eval.judgeURL != "" {
		s.baseURL, s.key = o.eval.judgeURL, a.getenv("PR_REVIEW_JUDGE_KEY")
	}
	client, err := a.model(s, nil)
	return &eval.Judge{Model: s.model, Chat: client, Agreement: o.eval.agreement}, err
}

// stopped words the error of a run that did not come to its end.
func (a *app) stopped(err error, dir string) error {
	again := "run it again in the same folder: what was paid is kept in " + guard.Line(dir, 0)
	if s, ok := errors.AsType[*eval.StoppedError](err); ok {
		return problem.As(problem.Spent, problem.New("the run was "+s.Error(), "", "raise --max-cost and "+again), "")
	}
	if f, ok := errors.AsType[*eval.FolderError](err); ok && !errors.Is(err, graph.ErrBusy) {
		return problem.New(f.Error(), "", "make it writable, make room, or name another with --out; what was paid before is kept")
	}
	if n, ok := errors.AsType[*eval.NothingReadError](err); ok && n.Cause != nil {
		return a.because("not one file could be reviewed, so there are no figures", n.Cause)
	}
	if errors.Is(err, context.Canceled) {
		return problem.New("the run was cancelled", "", again)
	}
	return err
}

// because prints an error with what lay behind it, which has lines of its own.
func (a *app) because(what string, cause error) error {
	fmt.Fprintln(a.Stderr, "error: "+guard.Text(what+": "+explain(cause)))
	return reported{cause}
}

func readDecisions(path string) ([]eval.Decision, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, problem.Usage("the decisions cannot be read: "+err.Error(), "name a file of JSON lines: case, draft, commands")
	}
	defer f.Close()
	all, err := eval.ReadDecisions(f)
	if err != nil {
		return nil, problem.Usage(path+": "+err.Error(), "a line is {\"case\": …, \"draft\": …, \"commands\": \"/drop F2\"}; eval show prints the draft's name")
	}
	return all, nil
}
