package local

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// Options holds the settings and the flags of a command about drafts. A command adds the flags
// that it takes; the others keep their zero values.
type Options struct {
	settings.Settings
	Store     string
	out       string
	Trace     string // file that the run's trace is written to
	JSON      bool
	Quiet     bool
	NoInput   bool
	Resumed   bool     // the command is resume, which prints the outcome last
	Next      bool     // resume the worst draft
	Post      bool     // post a draft on GitHub under the caller's own account
	Push      bool     // push a ticket's change to GitHub under the caller's own account
	repo      string   // where to push, owner/name; empty for the clone's origin
	admit     bool     // review in spite of the admission rules
	untracked bool     // review the work tree's untracked files too
	on        string   // branch or commit to build on
	check     string   // the project's own command; empty for none
	modules   []string // the only ones that may change; empty for all
	approve   bool
	Abort     bool
	lines     []string // commands
	Drop      []string // paths to leave out of a ticket's change
	Revise    string   // feedback
	Typed     string   // thread of a draft on GitHub as typed; empty for any of the pull request
	Stats     bool     // show the sums over drafts
	Propose   bool     // show the settings that approvers' habits suggest
	Since     string   // the first day that counts
	Tree      bool     // show how the run arrived at its findings
	Handover  bool     // show the findings as instructions for a coding agent

	flags *pflag.FlagSet
}

// Verdict returns the verdict in the flags, which may be empty: commands without a verdict
// change the draft that is shown, and decide nothing. It reports a bad command, before
// anything is paid for.
func (o *Options) Verdict() (decision.Verdict, error) {
	d, err := decision.Parse(o.Text())
	switch {
	case err != nil:
		return "", problem.As(problem.Misuse, err, "")
	case o.approve && o.Abort:
		return "", problem.Usage("--approve and --abort contradict each other", "give one of them")
	case o.Revise != "" && (o.approve || o.Abort || len(o.lines) > 0):
		return "", problem.Usage("--revise cannot be combined with another decision",
			"decide the next draft once it is there")
	case len(o.Drop) > 0 && !o.approve:
		return "", problem.Usage("--drop goes with --approve", "pass both: --approve --drop PATH")
	case o.approve:
		return decision.Approve, nil
	case o.Abort:
		return decision.Abort, nil
	case d.Note != "" && len(d.Commands) == 0:
		return "", problem.Usage("--command contains no command: "+d.Note,
			`a command begins with a slash, such as --command "/drop F2"; a note needs --approve or --abort as well`)
	}
	return d.Verdict, nil
}

// Text returns the commands in the flags, one per line.
func (o *Options) Text() string {
	if o.Revise != "" {
		return decision.ReviseCommand(o.Revise)
	}
	lines := slices.Clone(o.lines)
	for _, path := range o.Drop {
		lines = append(lines, "/drop "+path)
	}
	return strings.Join(lines, "\n")
}

// clearDecision clears the decision in the flags, which was about another draft.
func (o *Options) clearDecision() {
	o.approve, o.Abort, o.Revise, o.lines, o.Drop = false, false, "", nil, nil
}

// refuseReviewFlags refuses flags that were given and have no meaning for a ticket's draft.
func (o *Options) refuseReviewFlags() error {
	takes := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Options).ImplementFlags(takes)
	var names []string
	o.flags.Visit(func(f *pflag.Flag) {
		own := takes.Lookup(f.Name)
		if f.Name != "command" && (own == nil || own.Value.Type() != f.Value.Type()) {
			names = append(names, "--"+f.Name)
		}
	})
	if names == nil {
		return nil
	}
	return problem.Usage(strings.Join(names, ", ")+": for a review's draft, and this one is of a ticket",
		"leave it out")
}

func (o *Options) storeFlags(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.Store, "store", "", "`folder` "+wire.Stores+" (PR_REVIEW_STORE)")
	f.BoolVar(&o.JSON, "json", false, "print one JSON object")
}

// ListFlags adds the flags of commands that look at drafts, here or on GitHub.
func (o *Options) ListFlags(f *pflag.FlagSet, command string) {
	o.storeFlags(f)
	o.Flags(f, command)
}

// ProposalFlags adds the flags that decide a change for a ticket, except --approve and --abort.
func (o *Options) ProposalFlags(f *pflag.FlagSet) {
	f.Func("revise", "ask for another draft, with this `text` as feedback; needs a model", func(text string) error {
		if o.Revise = text; text == "" {
			return errors.New("it is empty")
		}
		return nil
	})
	f.StringArrayVar(&o.Drop, "drop", nil, "leave the file at this `path` out of a change for a ticket, with "+
		"--approve; may be repeated")
	f.BoolVar(&o.Push, "push", false, "an approved change for a ticket becomes a branch and a draft pull request on "+
		"GitHub, under your own account")
	f.StringVar(&o.repo, "repo", "", "with --push: `owner/name`, if it is not the clone's origin")
}

// DecisionFlags adds the flags that decide a review.
func (o *Options) DecisionFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.approve, "approve", false, "approve: post the review")
	f.BoolVar(&o.Abort, "abort", false, "abort: post nothing")
	f.StringArrayVar(&o.lines, "command", nil, "`line` that changes the draft, such as \"/drop F2\"; posted "+
		"with --approve; may be repeated")
}

// OutputFlags adds the flags for the output and for the store.
func (o *Options) OutputFlags(f *pflag.FlagSet) {
	o.storeFlags(f)
	f.StringVar(&o.out, "out", "", "write the posted review to a `file`, or - for standard output")
	f.BoolVar(&o.Quiet, "quiet", false, "no progress and no notices")
}

// TraceFlag adds the flag for the file that a run's trace is written to.
func (o *Options) TraceFlag(f *pflag.FlagSet) {
	f.StringVar(&o.Trace, "trace", "", "write what the run did to a `file`, one JSON object a line")
}
