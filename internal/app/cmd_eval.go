package app

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/evalcmd"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/pull"
)

// evalCommands are the commands of package evalcmd.
func evalCommands() []command {
	var all []command
	for _, c := range evalcmd.Commands() {
		all = append(all, command{
			name: c.Name, args: c.Args, help: c.Help,
			run: func(a *app, ctx context.Context, args []string, o *options) error {
				return c.Run(ctx, a.evalHost(o), args, &o.eval)
			},
			flags: func(f *pflag.FlagSet, o *options) {
				mirror(f, &o.settings, c.Shared...)
				c.Flags(f, &o.eval)
			},
		})
	}
	return all
}

// evalHost is what the eval commands borrow.
func (a *app) evalHost(o *options) evalcmd.Host {
	s := o.settings
	return evalcmd.Host{
		Name: a.name, Version: Version(), Stdout: a.Stdout, Stderr: a.Stderr,
		Getenv: a.getenv, Now: a.Now, Linger: lastAnswers,
		Model:       evalcmd.Model{Provider: s.provider, Name: s.model, BaseURL: s.baseURL, Key: s.key},
		Concurrency: s.concurrency, GateFrom: s.gateFrom, ConfigPath: s.config, NoModel: noModelNotice,
		Config: func(otherwise config.Config) (config.Config, error) { return namedConfig(otherwise, o) },
		Complete: func(m evalcmd.Model) evalcmd.Model {
			s := a.modelSettings(s.asking(m))
			return evalcmd.Model{Provider: s.provider, Name: s.model, BaseURL: s.baseURL, Key: s.key}
		},
		Open: func(m evalcmd.Model) (*llm.Client, error) { return a.model(s.asking(m), nil) },
		Reviewer: func(m evalcmd.Model, c ingest.Change) (evalcmd.Reviewer, error) {
			return a.evalReviewer(s.asking(m), c)
		},
		GitHub:  func(of pull.Ref) (*github.Client, error) { return a.github(of, s) },
		Explain: explain, Because: a.because, JSON: printJSON,
		Progress: func(silent bool) evalcmd.Progress { return a.newProgress(&options{quiet: silent}) },
	}
}

// asking are the settings with another model.
func (s settings) asking(m evalcmd.Model) settings {
	s.provider, s.model, s.baseURL, s.key = m.Provider, m.Name, m.BaseURL, m.Key
	return s
}

// evalReviewer is the reviewer of one change, as the review command has it.
func (a *app) evalReviewer(s settings, c ingest.Change) (evalcmd.Reviewer, error) {
	r, err := a.reviewer(s, nil)
	if err != nil {
		return evalcmd.Reviewer{}, err
	}
	r.named(c.Config)
	err = r.prepare(brief{change: c})
	return evalcmd.Reviewer{Reviewer: r.Reviewer, Model: r.model, Why: r.why}, err
}

// because prints an error with what lay behind it, which has lines of its own.
func (a *app) because(what string, cause error) error {
	fmt.Fprintln(a.Stderr, "error: "+guard.Text(what+": "+explain(cause)))
	return reported{cause}
}
