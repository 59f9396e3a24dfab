package app

import (
	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/configcmd"
	"github.com/org/pr-review-action/internal/settings"
)

// configCommand returns the command for config check and config print.
func (a *app) configCommand() command {
	c := &configcmd.Command{Front: a.Front, Name: a.Name, Typed: map[string]string{}}
	s := settings.Defaults()
	return command{
		name: "config", args: "check | print [FILE | -]",
		help: "check the settings file, or print every setting with where it came from",
		flags: func(f *pflag.FlagSet) {
			s.PrintFlags(f, c.Typed)
			f.BoolVar(&c.Online, "online", false, "check: ask each model for a tiny answer, and GitHub what the "+
				"token may")
			f.BoolVar(&c.JSON, "json", false, "print one JSON object")
		},
		run:  c.Run,
		json: &c.JSON,
	}
}
