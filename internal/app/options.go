package app

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/evalcmd"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
)

// options are what a command was given.
type options struct {
	settings.Settings
	store    string
	out      string
	json     bool
	quiet    bool
	noInput  bool
	admit    bool
	approve  bool
	abort    bool
	commands []string
	revise   string // feedback
	next     string // owner/repo whose worst draft is meant
	eval     evalcmd.Options
	trace    string // file that the trace is written to
	stats    bool   // sum what approvers decided
	tree     bool   // show how the run came to its findings
}

// verdict is what the flags say, possibly nothing: commands without a verdict
// change the draft that is shown, and decide nothing. A bad command is found
// here, before anything is paid.
func (o *options) verdict() (decision.Verdict, error) {
	d, err := decision.Parse(o.text())
	switch {
	case err != nil:
		return "", problem.As(problem.Misuse, err, "")
	case o.approve && o.abort:
		return "", problem.Usage("--approve and --abort contradict each other", "give one of them")
	case o.revise != "" && (o.approve || o.abort || len(o.commands) > 0):
		return "", problem.Usage("--revise goes with no other decision", "the next draft is decided when it is there")
	case o.approve:
		return decision.Approve, nil
	case o.abort:
		return decision.Abort, nil
	case d.Note != "" && len(d.Commands) == 0:
		return "", problem.Usage("--command holds no command: "+d.Note, `a command begins with a slash, such as --command "/drop F2"; a note needs --approve or --abort beside it`)
	}
	return d.Verdict, nil
}

// text is the commands, one a line.
func (o *options) text() string {
	if o.revise != "" {
		return decision.ReviseCommand(o.revise)
	}
	return strings.Join(o.commands, "\n")
}

func reviewFlags(f *pflag.FlagSet, o *options) {
	o.Flags(f, "provider", "base-url", "model", "concurrency", "config", "gate-from", "instance", "expires", "again", "max-time", "max-cost", "max-cost-per-pull", "test-results", "allow-http")
	decisionFlags(f, o)
	f.BoolVar(&o.admit, "admit", false, "review although the repository's admission rules would skip it")
	f.BoolVar(&o.noInput, "no-input", false, "never ask; park instead")
	traceFlags(f, o)
	outputFlags(f, o)
}

func resumeFlags(f *pflag.FlagSet, o *options) {
	o.Flags(f, "provider", "base-url", "model", "concurrency", "config", "expires", "max-time", "max-cost", "max-cost-per-pull", "test-results", "allow-http")
	decisionFlags(f, o)
	f.StringVar(&o.revise, "revise", "", "what another draft should do differently; needs a model")
	f.StringVar(&o.next, "next", "", "owner/repo: go on with the worst draft that waits there, in the store or on GitHub")
	f.BoolVar(&o.noInput, "no-input", false, "never ask")
	traceFlags(f, o)
	outputFlags(f, o)
}

func traceFlags(f *pflag.FlagSet, o *options) {
	f.StringVar(&o.trace, "trace", "", "write what the run did to a file, one JSON object a line")
}

func showFlags(f *pflag.FlagSet, o *options) {
	f.BoolVar(&o.stats, "stats", false, "sum what approvers kept, dropped and changed, over the store or its threads that begin with the argument")
	f.BoolVar(&o.tree, "trace", false, "show how the run came to its findings: calls, tools, time, tokens and cost")
	listFlags(f, o)
}

func listFlags(f *pflag.FlagSet, o *options) {
	storeFlags(f, o)
	o.Flags(f, "instance", "code", "checkpoint-key", "draft-workflow", "decide-workflow", "allow-http")
}

func storeFlags(f *pflag.FlagSet, o *options) {
	f.StringVar(&o.store, "store", "", "folder of parked drafts, or postgres://… (PR_REVIEW_STORE)")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
}

func decisionFlags(f *pflag.FlagSet, o *options) {
	f.BoolVar(&o.approve, "approve", false, "approve: post the review")
	f.BoolVar(&o.abort, "abort", false, "abort: post nothing")
	o.Flags(f, "fail-on", "sarif")
	f.StringArrayVar(&o.commands, "command", nil, `a change of the draft, such as "/drop F2", posted with --approve; may be repeated`)
}

func outputFlags(f *pflag.FlagSet, o *options) {
	storeFlags(f, o)
	f.StringVar(&o.out, "out", "", "write the posted review to a file")
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}
