package app

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// options are the flags that commands on drafts share, and the settings.
type options struct {
	settings.Settings
	store     string
	out       string
	trace     string // file that the run's trace is written to
	json      bool
	quiet     bool
	noInput   bool
	resumed   bool   // the command is resume, which ends with the outcome
	post      bool   // a draft on GitHub under the caller's own account
	push      bool   // a ticket's change to GitHub, under the caller's own account
	repo      string // where to, owner/name; the clone's origin where empty
	untracked bool   // of the work tree: what Git does not know is reviewed too
	approve   bool
	abort     bool
	lines     []string // commands
	revise    string   // feedback
	typed     string   // thread of a draft on GitHub, as typed; empty for any of the pull request
}

func newOptions() options { return options{Settings: settings.Defaults()} }

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
	case o.revise != "" && (o.approve || o.abort || len(o.lines) > 0):
		return "", problem.Usage("--revise goes with no other decision", "the next draft is decided when it is there")
	case o.approve:
		return decision.Approve, nil
	case o.abort:
		return decision.Abort, nil
	case d.Note != "" && len(d.Commands) == 0:
		return "", problem.Usage("--command contains no command: "+d.Note,
			`a command begins with a slash, such as --command "/drop F2"; a note needs --approve or --abort beside it`)
	}
	return d.Verdict, nil
}

// text is the commands, one a line.
func (o *options) text() string {
	if o.revise != "" {
		return decision.ReviseCommand(o.revise)
	}
	return strings.Join(o.lines, "\n")
}

// undecided takes the decision back: it was about another draft.
func (o *options) undecided() { o.approve, o.abort, o.revise, o.lines = false, false, "", nil }

func (o *options) storeFlags(f *pflag.FlagSet) {
	f.StringVar(&o.store, "store", "", "`folder` "+wire.Stores+" (PR_REVIEW_STORE)")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
}

// listFlags are those of commands that look at drafts, here or on GitHub.
func (o *options) listFlags(f *pflag.FlagSet, command string) {
	o.storeFlags(f)
	o.Flags(f, command)
}

func (o *options) pushFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.push, "push", false, "an approved change for a ticket becomes a branch and a draft pull request on "+
		"GitHub, under your own account")
	f.StringVar(&o.repo, "repo", "", "with --push: `owner/name`, where it is not the clone's origin")
}

func (o *options) decisionFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.approve, "approve", false, "approve: post the review")
	f.BoolVar(&o.abort, "abort", false, "abort: post nothing")
	f.StringArrayVar(&o.lines, "command", nil, "`line` that changes the draft, such as \"/drop F2\"; posted "+
		"with --approve; may be repeated")
}

func (o *options) outputFlags(f *pflag.FlagSet) {
	o.storeFlags(f)
	f.StringVar(&o.out, "out", "", "write the posted review to a `file`")
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}

func (o *options) traceFlag(f *pflag.FlagSet) {
	f.StringVar(&o.trace, "trace", "", "write what the run did to a `file`, one JSON object a line")
}

// statsOptions are the flags of the sums, which show has too.
type statsOptions struct {
	options
	since   string
	after   time.Time // since then; zero for ever
	propose bool      // print the settings that approvers' habits speak for
}

// implementOptions are the flags of implement, by which a ticket's draft is decided too.
type implementOptions struct {
	options
	base    string // branch or commit that is built on
	check   string // the project's own command
	modules []string
	drop    []string // paths
}

// given is the decision that the flags hold; an empty verdict asks.
func (o *implementOptions) given() (decision.Verdict, error) {
	for _, path := range o.drop {
		o.lines = append(o.lines, "/drop "+path)
	}
	given, err := o.verdict()
	if err == nil && len(o.drop) > 0 && given != decision.Approve {
		err = problem.Usage("--drop goes with --approve", "say both: --approve --drop PATH")
	}
	return given, err
}
