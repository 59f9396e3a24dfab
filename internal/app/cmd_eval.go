package app

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/evalcmd"
	"github.com/org/pr-review-action/internal/settings"

	"github.com/org/pr-review-action/internal/local"
)

// evalCommands returns the commands of package evalcmd. Their JSON objects describe whole
// runs, so an error prints none.
func (a *app) evalCommands() []command {
	p := evalcmd.Program{Front: a.Front, Name: a.Name, NoModel: local.NoModelNotice,
		Progress: func(silent bool) evalcmd.Progress { return a.NewProgress(silent) }}
	var all []command
	for _, c := range evalcmd.Commands() {
		o := evalcmd.Options{Settings: settings.Defaults()}
		all = append(all, command{
			name: c.Name, args: c.Args, help: c.Help,
			flags: func(f *pflag.FlagSet) {
				o.Settings.Flags(f, c.Name)
				c.Flags(f, &o)
			},
			run: func(ctx context.Context, args []string) error { return c.Run(ctx, p, args, &o) },
		})
	}
	return all
}
