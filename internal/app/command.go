package app

import (
	"context"

	"github.com/spf13/pflag"
)

// command is one of the command line's commands, with options of its own.
type command struct {
	name, args, help string
	flags            func(*pflag.FlagSet) // nil for none
	run              func(context.Context, []string) error
	json             *bool // whether an error is printed as an object as well; nil for never
}
