package evalcmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
)

// noJudge is the value of --judge for which only the place decides.
const noJudge = "none"

// Options holds the flags of these commands: the settings and their own.
type Options struct {
	settings.Settings
	out, diff, repo, repos, baseline string
	json, quiet                      bool

	judge, judgeURL string
	agreement       bool
	limit           uint
	last            int
	scripted        scripted
	tolerance       float64
	maxCost         cost.MicroUSD
}

func runFlags(f *pflag.FlagSet, o *Options) {
	f.StringVar(&o.judge, "judge", noJudge,
		"`model` that judges whether a finding means the known defect; none: only the place decides")
	f.StringVar(&o.judgeURL, "judge-base-url", "",
		"`address` of the judge's endpoint, with its key in PR_REVIEW_JUDGE_KEY; else the reviewer's")
	f.BoolVar(&o.agreement, "agreement", false, "measure the judge against people on 30 labelled pairs")
	f.Func("scripted", "review by a `script` that knows the answers: RECALL or RECALL:NOISE[:SEED], such as 0.8:0.5; "+
		"or shown: it reports what its prompts and tools have shown it, with packs, tools, both and neither",
		o.scripted.parse)
	f.StringVar(&o.repos, "repos", "",
		"`folder` of clones, OWNER+NAME or OWNER/NAME, for cases that name repo, base and head")
	f.UintVar(&o.limit, "limit", 0, "run only the first `number` of cases")
	f.Func("max-cost", "stop before the run costs more than this many `USD`, judge included",
		func(v string) (err error) { o.maxCost, err = cost.ParseUSD(v); return err })
	f.StringVar(&o.baseline, "baseline", "",
		"`file` that an earlier run printed as JSON; exit 1 if this run is worse")
	f.Float64Var(&o.tolerance, "tolerance", 0, "how many `points` worse than the baseline is not a failure")
	f.StringVar(&o.out, "out", "", "`folder` of results and journal; a run in the same folder is continued")
	jsonFlag(f, o)
	quietFlag(f, o)
}

func jsonFlag(f *pflag.FlagSet, o *Options) {
	f.BoolVar(&o.json, "json", false, "print one JSON object")
}

func quietFlag(f *pflag.FlagSet, o *Options) {
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}

type scripted struct {
	set, shown bool
	oracle.Options
}

// parse parses RECALL[:NOISE[:SEED]], or "shown".
func (s *scripted) parse(v string) error {
	if s.shown = v == "shown"; s.shown {
		s.set = true
		return nil
	}
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
		return fmt.Errorf("%q is not one of RECALL, RECALL:NOISE, RECALL:NOISE:SEED and shown,"+
			" with a recall from 0 to 1 and a noise from 0 to 20 findings a file", v)
	}
	return nil
}

func (o *Options) check() error {
	switch {
	case o.scripted.set && (o.Model != "" || o.Provider != "auto"):
		return problem.Usage("--scripted asks no model", "leave out --model and --provider, or --scripted")
	case o.judge == noJudge && (o.agreement || o.judgeURL != ""):
		return problem.Usage("there is no judge", "name its model with --judge MODEL")
	}
	return nil
}
