// Package evalcmd is the front of the evals: the commands that run cases, show
// and compare runs, import cases, and answer public benchmarks. It reads flags
// and files and prints; what is measured is done in eval and the rooms below it.
//
// It opens no client by itself: the program lends it a Host. Start reading at
// Commands, then at cmd_run.go.
package evalcmd

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/review"
)

// Command is one of the eval commands, for the program's table of commands.
type Command struct {
	Name, Args, Help string
	Shared           []string // the program's settings that are flags of it too
	Flags            func(*pflag.FlagSet, *Options)
	Run              func(context.Context, Host, []string, *Options) error
}

// Commands lists the eval commands.
func Commands() []Command {
	reviewer := []string{"provider", "base-url", "model", "concurrency", "config"}
	return []Command{
		{"eval run", "<CASES.jsonl | starter>…", "review changes whose defects are known, and score what is found",
			append(reviewer, "gate-from", "allow-http"), runFlags, run},
		{"eval show", "<case>", "print all that one case was given, answered and scored", nil, showFlags, show},
		{"eval diff", "<DIR> <DIR>", "compare two runs case by case", nil, diffFlags, diff},
		{"eval import", "<owner/repo>", "make cases of merged pull requests and their human comments",
			[]string{"github-token", "allow-http"}, importFlags, importCases},
		{"eval findings", "", "review a diff for a public benchmark and write findings as JSON",
			append(reviewer, "max-cost", "allow-http"), findingsFlags, findings},
	}
}

// Host is what the commands borrow from the program that offers them.
type Host struct {
	Name, Version  string
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	Linger         time.Duration // how long an answer under way is waited for at the end

	Model       Model // as the flags name it
	Concurrency int
	GateFrom    finding.Severity
	ConfigPath  string // that --config names
	NoModel     string // the notice where no model is configured

	Config   func(otherwise config.Config) (config.Config, error) // reads the file that --config names
	Complete func(Model) Model                                    // adds what the environment says
	Open     func(Model) (*llm.Client, error)
	Reviewer func(context.Context, Model, ingest.Change) (Reviewer, error) // as the review command has it
	GitHub   func(pull.Ref) (*github.Client, error)
	Explain  func(error) string
	// Because prints what happened with the cause behind it, and returns what ends the command.
	Because  func(what string, cause error) error
	Progress func(silent bool) Progress
	JSON     func(io.Writer, any) error
}

// Model says whom to ask.
type Model struct{ Provider, Name, BaseURL, Key string }

// offline reports that nobody is asked: rules alone review.
func (m Model) offline() bool { return m.Provider == "offline" }

// Reviewer reviews the files of one change.
type Reviewer struct {
	review.Reviewer
	Model string       // empty for rules
	Why   func() error // what lay behind the first file that failed, or nil
}

// Progress is one line on a terminal, drawn anew each time.
type Progress interface {
	Line(format string, args ...any)
	Stop()
}

// tell prints notices.
func (h Host) tell(o *Options) func(string) {
	return func(s string) {
		if !o.quiet {
			fmt.Fprintln(h.Stderr, s)
		}
	}
}

// warn prints what is odd and no error.
func (h Host) warn(text string) { fmt.Fprintln(h.Stderr, "warning: "+guard.Text(text)) }
