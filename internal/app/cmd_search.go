package app

import (
	"context"

	"github.com/org/pr-review-action/internal/searchcmd"
	"github.com/org/pr-review-action/internal/settings"
)

func (a *app) searchCommand() command {
	o := &searchcmd.Options{Settings: settings.Defaults()}
	return command{
		name: "search", args: `"<question, name or diff hunk>"`, help: "find the code that answers a question",
		flags: o.Flags,
		run: func(ctx context.Context, args []string) error {
			look := a.Look()
			p := searchcmd.Program{Front: a.Front, Width: look.Width, Color: look.Color, Warn: a.Warn}
			return p.Run(ctx, args, o)
		},
		json: &o.JSON,
	}
}
