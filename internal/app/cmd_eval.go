package app

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/evalcmd"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// evalCommands are the commands of package evalcmd. Their objects are of whole runs,
// so that an error prints none.
func (a *app) evalCommands() []command {
	var all []command
	for _, c := range evalcmd.Commands() {
		o, own := newOptions(), evalcmd.Options{}
		all = append(all, command{
			name: c.Name, args: c.Args, help: c.Help,
			flags: func(f *pflag.FlagSet) {
				o.Flags(f, c.Shared...)
				c.Flags(f, &own)
			},
			run: func(ctx context.Context, args []string) error { return c.Run(ctx, a.evalHost(&o), args, &own) },
		})
	}
	return all
}

// evalHost is what the eval commands borrow.
func (a *app) evalHost(o *options) evalcmd.Host {
	s := o.Settings
	return evalcmd.Host{
		Name: a.name, Version: wire.Version(), Stdout: a.Stdout, Stderr: a.Stderr,
		Getenv: a.Getenv, Now: a.Now, Linger: driver.LastAnswers,
		Model:       evalcmd.Model{Provider: s.Provider, Name: s.Model, BaseURL: s.BaseURL, Key: s.Key},
		Concurrency: s.Concurrency, GateFrom: s.GateFrom, ConfigPath: s.Config, NoModel: noModelNotice,
		Config: func(otherwise config.Config) (config.Config, error) { return namedConfig(otherwise, o) },
		Complete: func(m evalcmd.Model) evalcmd.Model {
			s := asking(s, m).WithModel(a.Getenv)
			return evalcmd.Model{Provider: s.Provider, Name: s.Model, BaseURL: s.BaseURL, Key: s.Key}
		},
		Open: func(m evalcmd.Model) (*llm.Client, error) { return a.ModelClient(asking(s, m), nil) },
		Reviewer: func(ctx context.Context, m evalcmd.Model, c ingest.Change) (evalcmd.Reviewer, error) {
			return a.evalReviewer(ctx, asking(s, m), c)
		},
		GitHub:  func(of pull.Ref) (*github.Client, error) { return a.GitHub(of, s) },
		Explain: driver.Explain, Because: a.because, JSON: driver.PrintJSON,
		Progress: func(silent bool) evalcmd.Progress { return a.newProgress(silent) },
	}
}

// asking are the settings with another model.
func asking(s settings.Settings, m evalcmd.Model) settings.Settings {
	s.Provider, s.Model, s.BaseURL, s.Key = m.Provider, m.Name, m.BaseURL, m.Key
	return s
}

// evalReviewer is the reviewer of one change, as the review command has it.
func (a *app) evalReviewer(ctx context.Context, s settings.Settings, c ingest.Change) (evalcmd.Reviewer, error) {
	r, err := a.NewReviewer(s, nil)
	if err != nil {
		return evalcmd.Reviewer{}, err
	}
	r.Named(c.Config)
	err = r.Prepare(ctx, wire.Brief{Change: c, NoTools: true})
	why := func() error { _, cause := r.Failure(); return cause }
	return evalcmd.Reviewer{Reviewer: r.Reviewer, Model: r.Model, Why: why}, err
}

// because prints an error with what lay behind it, which has lines of its own.
func (a *app) because(what string, cause error) error {
	fmt.Fprintln(a.Stderr, "error: "+guard.Text(what+": "+driver.Explain(cause)))
	return driver.Reported{Err: cause}
}
